"""What comes after a run: results compared and exported, heads re-aimed, checkpoints followed, and what a change costs a model."""

from __future__ import annotations

import os
import pathlib
import time
import warnings
from typing import Any, Callable, Mapping, Sequence, Unpack

import numpy as np

from . import _core
from .arguments import names, path, real, whole, whole_or_none
from .errors import FormatError, IoError
from .given import ModelInput, Progress, Text
from .hub import model_folder
from .inputs import Input, given_input
from .jobs import listener, plain_options, told
from .result import Result, open_result


_KINDS = ("self", "causal", "cross")


def compare(first: Result | Text, second: Result | Text, *, level: float = 0.05, draws: int = 999, block: int = 0, seed: int = 1,
            threads: int = 0) -> Result:
    """Which heads differ between two results, and whether by more than other documents would.

    Example:
        >>> changes = headwave.compare(result, shuffled)
        >>> print(changes)                                     # the heads that changed
        >>> changes["comparison"].changed.sel(layer=0, head=2)

    Args:
        first, second: Results, result files, or folders of runs
        level: chance that any head is called changed where none is
        draws: assignments of blocks of documents that the test draws
        block: documents in a row that form a block, since neighbours are alike; 0: as many as the level allows

    Returns:
        A Result with the groups `comparison` (measure, layer, head) and `change` (layer, head), as `headwave compare --out`
        writes it (docs/compare-json.md says what measures are).

    Raises:
        ShapeError: the two cannot be compared: other heads, lengths of documents or kinds of attention; NumericError: too few
        documents for this level.
    """
    (one, first_called), (other, second_called) = _opened(first, "compare", "first"), _opened(second, "compare", "second")
    called = (first_called, second_called)
    return Result(_core.compare(one._found, other._found, called, real(level, "level", 1e-6, 0.5),
                                whole(draws, "draws", 1, 10**6), whole(block, "block", 0, 10**6),
                                whole(seed, "seed", 0, 2**63 - 1), whole(threads, "threads", 0, 1024)))


def re_aim(model: Any, tokenizer: Any = None, *, text: Text | None = None, ids: Any = None, random_tokens: int | None = None,
           heads: Sequence[str] = (), most_heads: int = 8, furthest: int = 4, reach: int = 64, level: float = 0.01,
           seed: int = 1, threads: int = 0, progress: Progress = False, **given: Unpack[ModelInput]) -> Result:
    """Moves the keys of heads by u tokens, in the weights of the running model, and measures where they look then.

    A head that reads positions alone moves by -u. `headwave re-aim` does the same.

    Example:
        >>> moved = headwave.re_aim("minilm", pathlib.Path("text.txt"), documents=10, length=256, heads=["L0H2"])
        >>> moved["re_aiming"].offset.sel(re_aimed_head="L0H2")      # for every shift

    Args:
        model, tokenizer, text, ids, random_tokens: as of run()
        heads: "L0H2", ...; none: those with the clearest measured offsets, at most `most_heads`
        furthest: shifts u = -furthest .. furthest, in tokens
        reach: offsets are searched up to this, in tokens
        level: chance that a head without a preference is given an offset
        given: documents, length, special_tokens, encoding, map, layers, weights, allow_unknown, as of run()

    Returns:
        A Result with the group `re_aiming` (re_aimed_head, shift).

    Raises:
        ShapeError: the model has no position table, is an encoder-decoder, or a head is not there.
    """
    progress = listener(progress)
    over = given_input("re_aim", model, tokenizer, {"text": text, "ids": ids, "random_tokens": random_tokens}, seed=seed,
                       threads=threads, **given)
    chosen = names(heads, "heads")
    command = f"headwave.re_aim({over.called!r}, {over.kind}=..., heads={chosen}, furthest={furthest})"
    opened = over.opened()
    return Result(told(progress, lambda look: _core.re_aim(
        opened, chosen, whole(most_heads, "most_heads", 1, 100000), whole(furthest, "furthest", 1, 64),
        whole(reach, "reach", 1, 4096), real(level, "level", 1e-12, 0.5), over.seed, over.threads, command, look)))


def loss(model: Any, tokenizer: Any = None, *, text: Text | None = None, target: Text | None = None, ids: Any = None,
         interventions: Sequence[str] = (), masked_share: float = 0.15, seed: int = 1, threads: int = 0,
         progress: Progress = False, **given: Unpack[ModelInput]) -> dict[str, Any]:
    """How well a model predicts a text, and how much worse with interventions, as `headwave loss --json` does.

    Example:
        >>> headwave.loss("gpt2", pathlib.Path("text.txt"), documents=20, length=128, interventions=["without-heads=L5H1"])

    Args:
        model, tokenizer, text, target, ids: as of run()
        interventions: what is changed, as of run(); the model is measured with and without it
        masked_share: of a masked model, the share of a document's ordinary tokens that are masked
        seed: of the choice of masked tokens
        given: documents, length, special_tokens, encoding, map, layers, weights, allow_unknown, as of run()

    Returns:
        {"model": {"tokens", "loss", "perplexity"}}, losses in nats per token; with interventions also "interventions",
        "changed" (as "model"), "change" (of the loss) and "change_standard_error" (over documents; None of one document).

    Raises:
        ShapeError: the model predicts no words; headwave.Error: what the input is not.
    """
    progress = listener(progress)
    changes, masked_share = names(interventions, "interventions"), real(masked_share, "masked_share", 0, 1)

    def opened(changed: Sequence[str]) -> Any:
        return given_input("loss", model, tokenizer, {"text": text, "ids": ids}, target=target, interventions=changed,
                           seed=seed, threads=threads, **given).opened()

    plain, changed = opened([]), opened(changes) if changes else None
    return told(progress, lambda look: _core.loss(plain, changed, masked_share, whole(seed, "seed", 0, 2**63 - 1),
                                                  whole(threads, "threads", 0, 1024), look))


def sweep(models: Sequence[str | os.PathLike], tokenizer: Any = None, *, text: Any = None, target: Any = None, ids: Any = None,
          features: Any = None, random_tokens: int | None = None, out: str | os.PathLike | None = None, resume: bool = False,
          force: bool = False, progress: Progress = False, documents: int | None = None, length: int | None = None,
          special_tokens: bool = True, encoding: str = "", map: str | os.PathLike | None = None, interventions: Sequence[str] = (),
          shuffles: int = 1, layers: str = "", weights: str = "auto", allow_unknown: bool = False, seed: int = 1, threads: int = 0,
          **options: Any) -> Result | dict[str, Result]:
    """Follows every head over the checkpoints of a training run: since when it looks where it looks. `headwave sweep` does the same.

    Example:
        >>> steps = sorted(pathlib.Path("run").glob("step-*"))
        >>> training = headwave.sweep(steps, pathlib.Path("text.txt"), documents=20, length=128, out="training")
        >>> training["checkpoints"].offset_since.sel(layer=0, head=2)

    Args:
        models: model directories, one for each checkpoint, in the order of the numbers that end their names; in the order given
            where a name ends in none
        tokenizer, text, target, ids, features, random_tokens: as of run(); the same for every checkpoint
        out: a folder as the program writes it: results.h5, and the result of each checkpoint in checkpoints/NAME; None: in memory alone
        resume: take the checkpoints that `out` holds already from there
        force: replace results in `out`
        documents, length, special_tokens, encoding, map, interventions, shuffles, layers, weights, allow_unknown, seed, threads: as of run()
        options: of a job, as of run(); without `only` and `everything` the account of heads, their types, and where weights aim them

    Returns:
        A Result with an axis `checkpoint` (docs/result-file.md); of an encoder-decoder a dict of them: "self", "causal", "cross".

    Raises:
        ShapeError: two checkpoints have one name, or are of different models; FormatError: a result in `out` is of another run; IoError: a
        result is there, and neither `resume` nor `force` is given.
    """
    progress = listener(progress)
    if isinstance(models, (str, os.PathLike)) or not isinstance(models, Sequence):
        raise FormatError(f"sweep: models is of type {type(models).__name__}; expected a list of model directories")
    if not models:
        raise FormatError("sweep: models is empty; expected a model directory for each checkpoint")
    if resume and (force or out is None):
        raise FormatError("sweep: resume goes on with what out holds; give out, and no force")
    sources = {"text": text, "ids": ids, "features": features, "random_tokens": random_tokens}

    def of(model: str) -> Input:
        return given_input("sweep", model, tokenizer, sources, target=target, documents=documents, length=length,
                           special_tokens=special_tokens, encoding=encoding, map=map, interventions=interventions, shuffles=shuffles,
                           layers=layers, weights=weights, allow_unknown=allow_unknown, seed=seed, threads=threads)

    inputs = [of(model_folder(model)) for model in models]
    if any(over.in_memory for over in inputs):
        raise FormatError("sweep: models are directories; save those of PyTorch with save_pretrained()")
    job = plain_options(options | {"seed": seed, "threads": threads})
    if not job.get("only") and not job.get("everything"):
        job["only"] = _core.swept_analyses()
    order = _core.checkpoints([pathlib.Path(over.model) for over in inputs], [over.place for over in inputs])
    folder = pathlib.Path(path(out, "out")) if out is not None else None
    if folder is not None and resume:
        _require_no_others(folder, [name for name, _ in order])
    elif folder is not None and not force:
        _require_empty([folder, *(folder / "checkpoints" / name for name, _ in order)])
    command = f"headwave.sweep([{len(models)} checkpoints], {inputs[0].kind}=..., out={None if folder is None else str(folder)!r})"
    started = time.time()

    def follow(look: Callable[[str], Any] | None) -> dict[str, Result]:
        by_kind: dict[str, list[Any]] = {}
        for place, (name, number) in enumerate(order):
            own = folder / "checkpoints" / name if folder is not None else None
            if look is not None:
                look(f"{name} ({place + 1} of {len(order)})")
            for kind, found in _of_checkpoint(inputs[number], job, own, resume, command, look).items():
                by_kind.setdefault(kind, []).append(found)
        said = {name: of for name, of in inputs[0].as_options().items() if name != "model"}
        said["models"] = [os.path.abspath(over.model) for over in inputs]
        return {kind: Result(_core.swept([name for name, _ in order], found, said, job, command, int(started), time.time() - started))
                for kind, found in by_kind.items()}

    joined = told(progress, follow)
    if folder is not None:
        _save(joined, folder)
    return next(iter(joined.values())) if len(joined) == 1 else joined


def export(result: Any, csv: str | os.PathLike, *, only: Sequence[str] = (), max_rows: int | None = None,
           force: bool = False) -> dict[str, pathlib.Path]:
    """Writes the numbers of a result as CSV: a row for each head, and a table for each group of arrays that share axes. `headwave export` does
    the same.

    Example:
        >>> tables = headwave.export(result, "tables", only=["measured_offset"])
        >>> pandas.read_csv(tables["measured_offset.pairs.layer.head"])

    Args:
        result: a Result, a result file, or the folder of a run
        csv: the folder for the tables, which is made if it is not there
        only: groups; none: all
        max_rows: rows of a table at most, longer ones are left out; None: 50,000, and any number of tables that `only` names
        force: replace tables that are there

    Returns:
        The paths of the tables by their names, of `heads` where no groups are named, and of `all-columns`, which says what columns are.

    Raises:
        FormatError: the result lacks a group, or a table that `only` names has more rows than `max_rows`; IoError: a table is there.
    """
    found, called = _opened(result, "export", "result")
    groups, most = names(only, "only"), whole_or_none(max_rows, "max_rows", 1)
    folder = pathlib.Path(path(csv, "csv"))
    written, long_ones = _core.export_tables(found._found, folder, groups, most or (None if groups else 50_000), bool(force), called)
    if long_ones:
        warnings.warn(f"export: left out, with more than max_rows={most or 50_000}: {', '.join(long_ones)}; only=[...] names those to write, "
                      "or give more rows", stacklevel=2)
    return {name: folder / f"{name}.csv" for name in ["all-columns", *written]}


def _opened(given: Any, function: str, name: str) -> tuple[Result, str]:
    """A Result and what it is called."""
    found = open_result(given) if isinstance(given, (str, os.PathLike)) else given
    if not isinstance(found, Result):
        raise FormatError(f"{function}: {name} is of type {type(found).__name__}; expected a Result, its file, or its folder")
    return found, name if found is given else os.fspath(given)


def _of_checkpoint(over: Input, job: Mapping[str, Any], own: pathlib.Path | None, resume: bool, command: str,
                   look: Callable[[str], Any] | None) -> dict[str, Any]:
    """The results of a checkpoint by kind of attention: of its folder if it is there, and is to be gone on with; else run, and saved."""
    opened = over.opened()
    there = _results_in(own) if own is not None and resume else {}
    for kind, result in there.items():
        _core.require_same_run(str(own), result, opened, job)
    kinds = _core.kinds(opened)
    if set(there) >= set(kinds):
        return {kind: there[kind] for kind in kinds}
    found = dict(_core.run(opened, job, over.as_options(), command, look))
    if own is not None:
        _save({kind: Result(one) for kind, one in found.items()}, own)
    return found


def _files(folder: pathlib.Path, kinds: Sequence[str]) -> dict[str, pathlib.Path]:
    """results.h5, or one in a folder for each kind of attention where there are several."""
    return {kind: folder / ("" if len(kinds) == 1 else kind) / "results.h5" for kind in kinds}


def _results_in(folder: pathlib.Path) -> dict[str, Any]:
    several = {kind: _core.open_result(str(file)) for kind, file in _files(folder, _KINDS).items() if file.exists()}
    if several or not (folder / "results.h5").exists():
        return several
    alone = _core.open_result(str(folder / "results.h5"))
    return {"self": alone, "causal": alone}   # its one kind, whichever it is


def _require_no_others(folder: pathlib.Path, checkpoints: Sequence[str]) -> None:
    """Refuses a sweep of more checkpoints, whose place one of fewer would take."""
    for there in _results_in(folder).values():
        swept = Result(there)
        if "checkpoints/step" not in swept:
            raise FormatError(f"{folder}: holds a result that is no sweep; choose another out")
        axis = swept["checkpoints/step"].coords["checkpoint"]
        if lost := next((name for name in map(str, np.asarray(axis)) if name not in checkpoints), None):
            raise IoError(f"{folder}: has {len(axis)} checkpoints, and {lost} is not one of those given; give all of them, force=True in place "
                          "of resume, or another out")


def _require_empty(folders: Sequence[pathlib.Path]) -> None:
    for folder in folders:
        if there := next((file for file in [folder / "results.h5", *_files(folder, _KINDS).values()] if file.exists()), None):
            raise IoError(f"{there}: is there already; go on with that sweep with resume=True, or begin anew with force=True")


def _save(results: Mapping[str, Result], folder: pathlib.Path) -> None:
    for kind, file in _files(folder, list(results)).items():
        file.parent.mkdir(parents=True, exist_ok=True)
        results[kind].save(file, overwrite=True)
