"""Stored arrays that are read block by block while a job asks for them: of files that h5py opens, of stores that zarr opens."""

from __future__ import annotations

import threading
from typing import Any, Iterator, Mapping, Sequence

import numpy as np

from .arrays import as_array
from .errors import FormatError, IoError, ShapeError

NUMBERS = ("num_heads", "head_dim", "causal", "score_scale", "window", "turned")


def is_lazy(value: Any) -> bool:
    """Whether it is an array that lies in a file: a dataset of h5py, an array of zarr or of dask."""
    return all(hasattr(type(value), name) for name in ("shape", "dtype", "chunks", "__getitem__"))


def is_group(value: Any) -> bool:
    """Whether it holds arrays by name: a dict, a file of h5py, a group of zarr."""
    return isinstance(value, Mapping) or all(hasattr(type(value), name) for name in ("keys", "attrs", "store", "__getitem__"))


def flat(nested: Any, above: str = "") -> Iterator[tuple[str, Any]]:
    """What a dict of dicts holds, a file of h5py or a group of zarr, by its path: "attentions/layer_0".

    Raises:
        FormatError: its file is closed.
    """
    try:
        for name in list(nested.keys()):
            of = nested[name]
            if is_group(of):
                yield from flat(of, f"{above}{name}/")
            else:
                yield f"{above}{name}" if above else name, of
    except FormatError:
        raise
    except (AttributeError, OSError, RuntimeError, ValueError) as error:
        raise FormatError(f"states: cannot be read: {error}; is its file closed?") from error


class LazyArrays:
    """Arrays by name for C++, which asks for a block whenever it needs one; nothing else of them is in memory.

    Args:
        arrays: of numpy, PyTorch, h5py or zarr, by name
        called: what messages call them together: the path of their file
        files: what they lie in, whose digests go into the provenance; a store of many files has none
    """

    def __init__(self, arrays: Mapping[str, Any], called: str, files: Sequence[str] = ()) -> None:
        self.called, self.files = called, list(files)
        self._arrays = {name: of if is_lazy(of) else as_array(of, f"{called}: '{name}'") for name, of in arrays.items()}
        self.entries = [(name, *_type_and_shape(of, f"{called}: '{name}'")) for name, of in self._arrays.items()]
        self._reading = threading.Lock()   # h5py reads one block at a time in any case

    def block(self, name: str, first: Sequence[int], count: Sequence[int]) -> np.ndarray:
        """Entries first .. first + count - 1 along each axis, row-major, as float32."""
        place = tuple(slice(start, start + many) for start, many in zip(first, count, strict=True))
        return np.ascontiguousarray(self._read(name, place), np.float32).reshape(-1)

    def texts(self, name: str) -> list[str]:
        """The texts of an array, row-major."""
        texts = self._read(name, ())
        if texts.dtype.kind == "S":
            texts = np.char.decode(texts, "utf-8")
        if texts.dtype.kind != "U":
            raise FormatError(f"{self.called}: '{name}' holds {texts.dtype} values; expected texts")
        return [str(text) for text in texts.reshape(-1)]

    def number(self, name: str) -> float | None:
        """A number beside the arrays, which is an array of one entry; None where there is none."""
        of = self._arrays.get(name)
        if of is None or int(np.prod(of.shape)) != 1:
            return None
        number = float(self._read(name, ()).reshape(-1)[0])
        if not np.isfinite(number):
            raise FormatError(f"{self.called}: '{name}' is not one finite number")
        return number

    def _read(self, name: str, place: tuple) -> np.ndarray:
        of = self._arrays[name]
        with self._reading:
            try:
                if hasattr(of, "asstr") and of.dtype.kind == "O":   # texts of h5py
                    return np.asarray(of.asstr()[place], dtype=str)
                read = np.asarray(of[place])
            except Exception as error:   # a closed file, a missing chunk, a filter that is not installed
                raise IoError(f"{self.called}: '{name}': cannot be read: {_line(error)}") from error
        if read.dtype.kind in "OT":   # texts of zarr
            return np.asarray(read.astype(object), dtype=str)
        return as_array(read, f"{self.called}: '{name}'")


def numbers_beside(value: Any) -> dict[str, np.ndarray]:
    """The numbers that a file of h5py or a group of zarr holds as its attributes."""
    attributes = getattr(value, "attrs", {})
    return {name: np.asarray(attributes[name]) for name in NUMBERS if name in attributes}


def _type_and_shape(of: Any, called: str) -> tuple[str, list[int]]:
    """numpy's word for the type of an array's numbers, "string" of texts; and its shape."""
    try:
        dtype, shape = of.dtype, [int(size) for size in of.shape]
    except Exception as error:
        raise FormatError(f"{called}: cannot be read: {_line(error)}; is its file closed?") from error
    if 0 in shape:
        raise ShapeError(f"{called} has shape {tuple(shape)}: there is nothing in it")
    if dtype.kind in "OTUS":
        return "string", shape
    if dtype.kind not in "fiub" and dtype.name != "bfloat16":
        raise FormatError(f"{called}: holds {dtype} values; expected numbers")
    return dtype.name, shape


def _line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
