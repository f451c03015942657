"""What comes after a run: results compared and exported."""

from __future__ import annotations

import os
import pathlib
import warnings
from typing import Any, Sequence

from . import _core
from .arguments import names, path, real, whole, whole_or_none
from .errors import FormatError
from .given import Text
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
        writes it (docs/compare.md says what measures are).

    Raises:
        ShapeError: the two cannot be compared: other heads, lengths of documents or kinds of attention; NumericError: too few
        documents for this level.
    """
    (one, first_called), (other, second_called) = _opened(first, "compare", "first"), _opened(second, "compare", "second")
    called = (first_called, second_called)
    return Result(_core.compare(one._found, other._found, called, real(level, "level", 1e-6, 0.5),
                                whole(draws, "draws", 1, 10**6), whole(block, "block", 0, 10**6),
                                whole(seed, "seed", 0, 2**63 - 1), whole(threads, "threads", 0, 1024)))


def export(result: Any, csv: str | os.PathLike, *, only: Sequence[str] = (), max_rows: int | None = None,
           force: bool = False) -> dict[str, pathlib.Path]:
    """Writes the numbers of a result as CSV, a table for each group of arrays that share axes. `headwave export` does the same.

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
        The paths of the tables by their names, and of `all-columns`, which says what their columns are.

    Raises:
        FormatError: the result lacks a group, or a table that `only` names has more rows than `max_rows`; IoError: a table is there.
    """
    found, called = _opened(result, "export", "result")
    groups, most = names(only, "only"), whole_or_none(max_rows, "max_rows", 1)
    folder = pathlib.Path(path(csv, "csv"))
    written, long_ones = _core.export_tables(found._found, folder, groups, most or (None if groups else 50_000), bool(force), called)
    if long_ones:
        warnings.warn(f"export: omitted, with more than max_rows={most or 50_000}: {', '.join(long_ones)}; only=[...] names those to write, "
                      "or give more rows", stacklevel=3)
    return {name: folder / f"{name}.csv" for name in ["all-columns", *written]}


def _opened(given: Any, function: str, name: str) -> tuple[Result, str]:
    """A Result and what it is called."""
    found = open_result(given) if isinstance(given, (str, os.PathLike)) else given
    if not isinstance(found, Result):
        raise FormatError(f"{function}: {name} is of type {type(found).__name__}; expected a Result, its file, or its folder")
    return found, name if found is given else os.fspath(given)
