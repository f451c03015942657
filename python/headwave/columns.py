"""Token ids in columns: of Arrow and Parquet files, of tables of pyarrow, of `datasets`, of pandas and polars."""

from __future__ import annotations

import itertools
import os
import pathlib
from typing import Any, Iterable, Iterator, Sequence

from .arguments import missing
from .errors import FormatError, IoError

_NAMES = ("input_ids", "ids")
_MASK = "attention_mask"
_ARROW = (".arrow", ".feather", ".parquet")
USUAL_DOCUMENTS = 100


def listed_column(value: Any, documents: int | None) -> Any:
    """The ids of a column as lists; what is no column, nor a table or a file with one, as it is.

    Documents beyond those that are run are not read. In a table, tokens that its column attention_mask hides are padding, and left out.

    Args:
        value: a path, an array or a table of pyarrow, a Dataset of `datasets` or a column of one, a Series of pandas or polars
        documents: how many are run; None: up to 100

    Raises:
        FormatError: there is no such column, or pyarrow or `datasets` is missing; IoError: the file cannot be read.
    """
    most = documents or USUAL_DOCUMENTS
    if isinstance(value, (str, os.PathLike)):
        return _of_path(pathlib.Path(os.fsdecode(value)), most, value)
    if _is_table(value):
        return _of_rows(_rows_of_table(value), _columns(value), most)
    if hasattr(value, "to_pylist") and hasattr(value, "type"):   # an Array or ChunkedArray of pyarrow
        return (value[:most] if _holds_lists(value.type) else value).to_pylist()
    if hasattr(value, "to_list") and hasattr(value, "name"):   # a Series of pandas or polars
        many = len(value) and hasattr(value.head(1).to_list()[0], "__len__")
        return [_plain(one) for one in (value.head(most) if many else value).to_list()]
    if type(value).__module__.startswith("datasets."):   # a Column of datasets
        return [_plain(one) for one in (value[:most] if len(value) and hasattr(value[0], "__len__") else value)]
    return value


def _of_path(place: pathlib.Path, most: int, given: Any) -> Any:
    if place.is_dir() and any((place / name).exists() for name in ("dataset_info.json", "dataset_dict.json")):
        try:
            import datasets
        except ImportError as missing_one:
            raise FormatError(f"{place}: a folder of `datasets`, which the library of that name reads ({missing_one}); pip install "
                              "datasets") from missing_one
        return listed_column(datasets.load_from_disk(str(place)), most)
    if place.suffix.lower() not in _ARROW:
        return given
    try:
        import pyarrow
    except ImportError as missing_one:
        raise FormatError(f"{place}: an Arrow or Parquet table, which pyarrow reads ({missing_one}); pip install pyarrow") from missing_one
    try:
        with pyarrow.memory_map(str(place)) as file:
            columns, batches = _batches(pyarrow, file, place)
            return _of_rows((row for batch in batches for row in _rows_of_table(batch)), columns, most)
    except FileNotFoundError as error:
        raise IoError(f"{place}: there is no such file") from error
    except (OSError, pyarrow.ArrowInvalid) as error:
        raise IoError(f"{place}: cannot be read as a table of Arrow or Parquet: {str(error).partition(chr(10))[0]}") from error


def _batches(pyarrow: Any, file: Any, place: pathlib.Path) -> tuple[list[str], Iterable[Any]]:
    """Names of columns, and the table in pieces, each read when its turn comes."""
    if place.suffix.lower() == ".parquet":
        from pyarrow import parquet

        table = parquet.ParquetFile(file)
        columns = [name for name in table.schema_arrow.names if name in (*_NAMES, _MASK)] or table.schema_arrow.names
        return columns, table.iter_batches(batch_size=1024, columns=columns)
    try:
        opened = pyarrow.ipc.open_file(file)
        return opened.schema.names, (opened.get_batch(i) for i in range(opened.num_record_batches))
    except pyarrow.ArrowInvalid:   # a stream, as datasets writes it
        file.seek(0)
        opened = pyarrow.ipc.open_stream(file)
        return opened.schema.names, opened


def _is_table(value: Any) -> bool:
    return hasattr(value, "column_names") and any(hasattr(value, name) for name in ("to_pylist", "features", "values"))


def _columns(table: Any) -> list[str]:
    names = table.column_names
    if isinstance(names, dict):
        raise FormatError(f"ids: a dict of datasets; give one of them: ids=datasets['{next(iter(names))}']")
    return list(names or [])


def _rows_of_table(table: Any) -> Iterator[Any]:
    """Rows as dicts, read as they are asked for."""
    if not hasattr(table, "to_pylist"):   # of datasets
        yield from table
        return
    wanted = [name for name in table.schema.names if name in (*_NAMES, _MASK)] or table.schema.names
    columns = [table.column(name) for name in wanted]
    for row in range(table.num_rows):
        yield {name: column[row].as_py() for name, column in zip(wanted, columns, strict=True)}


def _of_rows(rows: Iterator[Any], columns: Sequence[str], most: int) -> list[Any]:
    """Ids of the first rows; where a row is a single id, all of them, which are cut."""
    name = next((name for name in _NAMES if name in columns), columns[0] if len(columns) == 1 else None)
    if name is None:
        raise FormatError(f"ids: {missing('input_ids', columns)}; give the column of ids: table.column('NAME'), dataset['NAME']")
    first = next(rows, None)
    if first is None:
        return []
    rows = itertools.chain([first], rows)
    if not hasattr(first[name], "__len__"):
        return [row[name] for row in rows]
    return [_kept(_plain(row[name]), row.get(_MASK)) for row in itertools.islice(rows, most)]


def _kept(ids: Any, mask: Any) -> Any:
    return ids if mask is None else [one for one, seen in zip(ids, _plain(mask), strict=True) if seen]


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value


def _holds_lists(arrow_type: Any) -> bool:
    return hasattr(arrow_type, "value_type") and "list" in str(arrow_type)
