"""What comes after a run: two results compared, heads re-aimed, and what a change costs a model."""

from __future__ import annotations

import os
from typing import Any, Sequence, Unpack

from . import _core
from .arguments import names, real, whole
from .errors import FormatError
from .given import ModelInput, Progress, Text
from .inputs import given_input
from .jobs import listener, told
from .result import Result, open_result


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
    (one, first_called), (other, second_called) = _compared(first, "first"), _compared(second, "second")
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


def _compared(given: Any, name: str) -> tuple[Result, str]:
    """A Result and what it is called."""
    found = open_result(given) if isinstance(given, (str, os.PathLike)) else given
    if not isinstance(found, Result):
        raise FormatError(f"compare: {name} is of type {type(found).__name__}; expected a Result, its file, or its folder")
    return found, name if found is given else os.fspath(given)
