"""Jobs: run() and account() measure every head over documents, and atlas() predicts where heads look from a checkpoint."""

from __future__ import annotations

import sys
import warnings
from typing import Any, Callable, Mapping

import numpy as np

from . import _core
from .arguments import Progress, Text, names, path, real, text as as_text, whole, with_options
from .errors import FormatError
from .hub import model_folder
from .inputs import OPTIONS, given_input
from .result import Result


def run(model: Any = None, tokenizer: Any = None, *, text: Text | None = None, ids: Any = None, states: Any = None, profiles: Any = None,
        random_tokens: int | None = None, progress: Progress = False, **options: Any) -> Result | Any:
    """Measures where every head of a model looks, and why, over documents. The numbers equal those of `headwave run` to the bit.

    Example:
        >>> result = headwave.run("sentence-transformers/all-MiniLM-L6-v2", pathlib.Path("text.txt"), documents=20, length=128)
        >>> print(result)
        >>> result["measured_offset"].weight.sel(layer=0, head=2)

    By default, run() does the analyses that say where heads look and why. `everything=True` does all analyses, and `only=[...]` does those named.

    Args:
        model: a Hugging Face model directory; the name of a model on the hub that is in the local cache, since nothing is downloaded;
            or a model of transformers, which runs on its own device with its own weights. None for `profiles`, and for `states`
            that contain attention, queries and keys, or hidden states with the weights of their projections
        tokenizer: a tokenizer of transformers for `text`. A model of transformers needs a tokenizer here; a model directory has its own.
            A str or a pathlib.Path in place of the tokenizer is the text
        text: a text as str, or a file as pathlib.Path; the text is cut into documents
        target: for an encoder-decoder: the texts that its decoder reads, one line for each line of `text`; str or pathlib.Path
        ids: token ids: one list for each document, an array (documents, T), one long list that is cut into documents, or a file
        states: hidden states, queries and keys, or attention: a file, an array, a dict of arrays with the names in docs/inputs.md, or
            a tuple with the attention of each layer (docs/python.md)
        profiles: sums from headwave.watch(model, null=True), as its result() or as a file saved from it (docs/profiles.md)
        random_tokens: number of random tokens; every document contains a sequence of so many tokens three times, one after another
        documents: number of documents; None: all stored documents of `states`; of other sources all documents, but at most 100
        length: tokens of each document that is cut from a text or a long list; None: 512, or fewer if the model cannot read as many
        special_tokens: whether every document begins and ends with the tokenizer's opening and closing token
        map: a file that describes the model's tensors (docs/model-map.md)
        interventions: changes of the model or the text, such as "words-only" or "without-heads=L2H3" (docs/commands.md, --intervene)
        shuffles: number of random word orders of every document, for "shuffled-words"
        heads, layer, dataset, axes, apply_norm, any_states: describe `states`, as the options --head-count, --layer and so on do
        layers: a range of first layers, such as "0-7"; only these layers are read and computed
        weights: "memory": keeps the model's weights in memory; "layers": reads each layer when it is needed, for a model larger than
            memory; "auto": "layers" if all weights would take more than half of the free memory. Results
            are identical, but "layers" gives none of head_effect and head_writes
        allow_unknown: accept a text even if 90 % or more of its tokens are unknown to the model
        progress: True: shows a line on standard error; or a function that is called with each line of progress
        options: options of the analyses (docs/commands.md, Analysis): only=["measured_offset"], everything=True, reach=64, seed=1, ...

    Returns:
        A Result; for an encoder-decoder a dict of Results: "self", "causal", "cross". If the program does not know the family of
        a PyTorch model, headwave.watch sums its attention instead, and analyses that need weights or single documents are omitted,
        with a warning. `Result.computed_by` says which of the two computed the attention: "program" or "watch".

    Raises:
        headwave.Error: the input or an option is invalid
        KeyboardInterrupt: Ctrl-C was pressed; it comes within a second and leaves no file
    """
    progress = listener(progress)
    sources = {"text": text, "ids": ids, "states": states, "profiles": profiles, "random_tokens": random_tokens}
    over = given_input(model, tokenizer, sources, {name: options[name] for name in OPTIONS if name in options})
    job = {name: of for name, of in sorted(options.items()) if name in _core.job_options or name not in OPTIONS}
    called, kind = type(over.model).__name__ if over.in_memory else over.model, over.kind
    if why := over.why_watched():
        _core.require_options_of_sums(plain_options(job))
        warnings.warn(f"run: {why}; headwave.watch measures it instead, and analyses that need weights or single documents are omitted "
                      "(docs/profiles.md)", stacklevel=3)
        reach, seen, only = whole(job.get("reach", 64), "reach", 1, 2048), over, set(names(job.get("only", ()), "only"))
        deal = not only or bool(only & {"head_account", "offset_agreement", "attention_bits"}) or bool(job.get("everything"))
        over = told(progress, lambda look: seen.watched(reach, deal, look))
    shown = [f"{name}={'...' if name == 'target' else repr(options[name])}" for name, (usual, _) in OPTIONS.items()
             if name in options and name not in job and repr(options[name]) != repr(usual)]
    shown += [f"{name}={of!r}" for name, of in job.items()]
    command = f"headwave.run({', '.join([*([repr(called)] if called else []), kind + '=...', *shown])})"
    opened = over.opened()
    found = told(progress, lambda look: _core.run(opened, plain_options(job), command, look))
    _warn_of_documents(found[0][1].provenance)
    results = _results(found)
    if over.kind == "profiles":
        every = list(results.values()) if isinstance(results, dict) else [results]
        if left_out := every[0].provenance.get("left_out_stacks"):
            warnings.warn(f"run: the profiles also hold layers that a run omits: {left_out}", stacklevel=3)
        if nothing := [name for name in names(job.get("only", ()), "only") if not any(name in one for one in every)]:
            why = every[0].provenance.get("undefined_account", "") if "head_account" in nothing else ""
            why = why or "sums over documents do not suffice for it (docs/profiles.md)"
            warnings.warn(f"run: no result of {', '.join(nothing)}: {why}", stacklevel=3)
    return results


def _warn_of_documents(provenance: Mapping[str, Any]) -> None:
    for name, of in (("unknown_share", "text"), ("target_unknown_share", "target")):
        if provenance.get(name, 0) >= 0.2:
            warnings.warn(f"{of}: {100 * provenance[name]:.0f} % of its tokens are unknown, since the model's vocabulary cannot spell them", stacklevel=4)
    if count := provenance.get("unk_strings"):
        warnings.warn(f"text: contains the string <unk> {count} times, which this tokenizer does not read as one token; <unk> stands for rare words "
                      "in tokenised editions of a text, such as WikiText: use the raw text", stacklevel=4)
    if shortest := provenance.get("named_length"):
        warnings.warn(f"run: documents of up to {provenance['length']} tokens are longer than the model was made for: {provenance['named_lengths']}; "
                      f"give length={shortest} or less, or shorter documents", stacklevel=4)


def account(model: Any = None, tokenizer: Any = None, **given: Any) -> Result | Any:
    """Computes the account of every head: the parts of all its attention, and the parts of its profile over offsets.

    Example:
        >>> result = headwave.account("minilm", pathlib.Path("text.txt"), documents=20, length=256)
        >>> result["attention_bits"].part.sel(layer=0, head=2)       # bits of sink, position, word and match
        >>> result["head_account"].part.sel(layer=0, head=2)         # parts of the profile: position, own token, context

    Arguments and results are those of run(), except that `only` cannot be given. The analyses are attention_bits, head_account and
    offset_agreement, which compares the offset that head_account predicts with the measured offset (docs/account.md).
    """
    if "only" in given:
        raise FormatError("account: only does not apply, since its analyses are attention_bits, head_account and offset_agreement; choose "
                          "others by run(only=...)")
    return run(model, tokenizer, only=["attention_bits", "head_account", "offset_agreement"], **given)


run.__signature__ = account.__signature__ = with_options(run, {**{name: usual for name, (usual, _) in OPTIONS.items()}, **_core.job_options})


def atlas(model: Text, *, map: Text | None = None, length: int = 0, rows: int = 0, reach: int = 64,
          draws: int = 20, level: float = 0.05, passes: int = 4, seed: int = 1, threads: int = 0,
          layers: str = "", weights: str = "auto", progress: Progress = False) -> Result | Any:
    """Predicts where every head looks from a checkpoint without a text: from the weights alone, and from documents of random words.

    Example:
        >>> result = headwave.atlas("minilm")
        >>> result["word_atlas"].predicted_offset.sel(layer=0, head=2)

    Args:
        model: a Hugging Face model directory, or a name on the hub that is in the local cache
        length: number of first positions that are used, and number of tokens in a document of random words; 0: all rows that are read,
            and the same number of tokens but at most 512
        reach: largest |offset| in the search, in tokens
        rows: number of first rows of the position table that are read; 0: those that look trained
        draws: number of random rotations that form the null of the prediction from weights
        level: accepted share of false offsets among these predictions
        passes: number of documents of random words that pass through the model; words are drawn with p ~ 1 / rank by id; 0: weights only
        map, layers, weights, progress: as in run()

    Returns:
        A Result; for an encoder-decoder a dict of Results, "self" and "causal".

    Raises:
        headwave.Error: the model cannot be read, or a number is out of its range.
    """
    progress = listener(progress)
    folder = model_folder(model)
    place = _core.ModelPlace(folder, path(map, "map") if map else "", as_text(layers, "layers"), as_text(weights, "weights"))
    length, rows, reach = whole(length, "length", 0, 2**20), whole(rows, "rows", 0, 2**20), whole(reach, "reach", 1, 2**20)
    draws, passes = whole(draws, "draws", 3, 100000), whole(passes, "passes", 0, 100000)
    level, seed, threads = real(level, "level", 0, 1), whole(seed, "seed", 0, 2**63 - 1), whole(threads, "threads", 0, 1024)
    command = f"headwave.atlas({folder!r}, length={length}, reach={reach}, passes={passes}, seed={seed})"
    return _results(told(progress, lambda look: _core.atlas(
        place, length, rows, reach, draws, level, passes, seed, threads, command, look)))


def listener(progress: Progress) -> Progress:
    if not isinstance(progress, bool) and progress is not None and not callable(progress):
        raise FormatError(f"progress is of type {type(progress).__name__}; expected True, False, or a function that takes a line of text")
    return progress


def told(progress: Progress, work: Callable[[Any], Any]) -> Any:
    """Does work, and reports its progress to a function, or on a line of standard error that is cleared at the end."""
    if progress is not True:
        return work(progress or None)
    last = ""

    def line(text: str) -> None:
        nonlocal last
        if text != last:
            sys.stderr.write("\r\x1b[K" + text)
            sys.stderr.flush()
        last = text

    try:
        return work(line)
    finally:
        if last:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _results(found: list[tuple[str, Any]]) -> Result | dict[str, Result]:
    if len(found) == 1:
        return Result(found[0][1])
    return {kind: Result(result) for kind, result in found}


def plain_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Converts options for C++: a single name becomes a list, and numpy's numbers become Python's numbers."""
    plain = {}
    for name, value in options.items():
        if name == "only":
            value = names(value, name)
        elif isinstance(value, np.generic):
            value = value.item()
        plain[name] = list(value) if isinstance(value, tuple) else value
    return plain
