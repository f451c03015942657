"""Compares the results of runs."""

from __future__ import annotations

import os
from typing import Any

from . import _core
from .arguments import Text, real, whole
from .errors import FormatError
from .result import Result, open_result


def compare(first: Result | Text, second: Result | Text, *, level: float = 0.05, draws: int = 999, block: int = 0, seed: int = 1,
            threads: int = 0) -> Result:
    """Compares two results head by head, and tests whether heads differ by more than a change of documents would explain.

    Example:
        >>> changes = headwave.compare(result, shuffled)
        >>> print(changes)                                     # the heads that changed
        >>> changes["comparison"].changed.sel(layer=0, head=2)

    Args:
        first, second: Results, result files, or folders of runs
        level: largest probability that any head is called changed although none is
        draws: number of random assignments of document blocks in the test
        block: number of consecutive documents that form a block, since neighbours are alike; 0: as many as the level allows

    Returns:
        A Result with the groups `comparison` (measure, layer, head) and `change` (layer, head), the same as that of
        `headwave compare --out`. docs/compare.md explains the measures.

    Raises:
        ShapeError: the results have different heads, document lengths or kinds of attention
        NumericError: there are too few documents for this level
    """
    one, other = _opened(first, "first"), _opened(second, "second")
    called = tuple(os.fspath(of) if isinstance(of, (str, os.PathLike)) else name for of, name in ((first, "first"), (second, "second")))
    return Result(_core.compare(one._found, other._found, called, real(level, "level", 1e-6, 0.5),
                                whole(draws, "draws", 1, 10**6), whole(block, "block", 0, 10**6),
                                whole(seed, "seed", 0, 2**63 - 1), whole(threads, "threads", 0, 1024)))


def _opened(given: Any, name: str) -> Result:
    found = open_result(given) if isinstance(given, (str, os.PathLike)) else given
    if not isinstance(found, Result):
        raise FormatError(f"compare: {name} is of type {type(found).__name__}; expected a Result, its file, or its folder")
    return found
