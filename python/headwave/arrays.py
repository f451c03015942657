"""Converts arrays of numpy, PyTorch and others for headwave's C++ libraries, without a copy where the layout allows it."""

from __future__ import annotations

import json
from typing import Any, Mapping, Sequence

import numpy as np

from .errors import FormatError, NumericError, ShapeError


def as_array(value: Any, name: str) -> np.ndarray:
    """Makes a numpy array from an array, a list, or a tensor on any device. bfloat16 becomes float32.

    Raises:
        ShapeError: a list is ragged; FormatError: `value` cannot be read, or contains neither numbers nor texts.
    """
    if hasattr(value, "detach"):  # a tensor of PyTorch
        try:
            value = value.detach().cpu()
            return (value.float() if str(value.dtype) == "torch.bfloat16" else value).numpy()
        except Exception as error:  # such as a sparse, quantised or meta tensor
            raise FormatError(f"{name}: cannot be read: {_line(error)}; expected a dense tensor of numbers") from error
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ShapeError(f"{name} is a list of lists of different lengths; expected one array") from error
    except Exception as error:  # such as an array of a closed file
        raise FormatError(f"{name}: cannot be read: {_line(error)}") from error
    if array.dtype.name == "bfloat16":
        array = array.astype(np.float32)
    if array.dtype.kind not in "fiubUS":
        raise FormatError(f"{name}: holds {array.dtype} values; expected numbers; convert them by np.asarray(x, dtype='float32')")
    return array


def as_floats(value: Any, name: str, axes: tuple[str, ...]) -> np.ndarray:
    """Makes a float32 or float64 array with the named axes. float16, integers and booleans become float32; longdouble becomes float64.

    Raises:
        ShapeError: the array has another number of axes, or is empty; FormatError: it contains texts, or as as_array().
    """
    array = as_array(value, name)
    if array.dtype.kind not in "fiub":
        raise FormatError(f"{name}: holds {array.dtype} values; expected real numbers")
    if array.ndim != len(axes) or array.size == 0:
        raise ShapeError(f"{name} has shape {array.shape}; expected ({', '.join(axes)}), each at least 1")
    if array.dtype == np.float32 or array.dtype == np.float64:
        return array
    return array.astype(np.float64 if array.dtype.kind == "f" and array.dtype.itemsize > 4 else np.float32)


def doubles(value: Any, name: str, axes: tuple[str, ...]) -> np.ndarray:
    """Makes a contiguous float64 array with the named axes, and checks that every number is finite.

    Raises:
        NumericError: a number is not finite; other errors as as_floats().
    """
    array = laid_out(as_floats(value, name, axes), np.dtype(np.float64))
    if not np.isfinite(array).all():
        raise NumericError(f"{name} holds NaN or infinity; expected finite numbers")
    return array


def ids_place(value: Any) -> tuple[str, str]:
    """Writes token ids as JSON in memory, which the program checks as it checks a file. `value` is one list of ids for each document, or one
    long list. For an encoder-decoder, each document is a dict with the ids of both sequences."""
    def listed(one: Any) -> Any:
        if isinstance(one, Mapping):
            return {name: listed(of) for name, of in one.items()}
        return as_array(one, "ids").tolist()

    return "ids", json.dumps([listed(one) for one in value] if isinstance(value, Sequence) and not isinstance(value, str) else listed(value))


class NamedArrays:
    """Named arrays, from which C++ reads one block at a time.

    Args:
        called: name of the arrays in messages
    """

    def __init__(self, arrays: Mapping[str, Any], called: str) -> None:
        self.called = called
        self._arrays = {name: as_array(of, f"{called}: '{name}'") for name, of in arrays.items()}
        self.entries = [(name, "string" if of.dtype.kind in "US" else of.dtype.name, list(of.shape)) for name, of in self._arrays.items()]
        if empty := [name for name, of in self._arrays.items() if of.size == 0]:
            raise ShapeError(f"{called}: '{empty[0]}' is empty: its shape is {self._arrays[empty[0]].shape}; expected one entry or more")

    def block(self, name: str, first: Sequence[int], count: Sequence[int]) -> np.ndarray:
        """Reads the entries first .. first + count - 1 along each axis, row-major, as float32."""
        place = tuple(slice(start, start + many) for start, many in zip(first, count, strict=True))
        return np.ascontiguousarray(self._arrays[name][place], np.float32).reshape(-1)

    def texts(self, name: str) -> list[str]:
        """Lists the texts of an array, row-major."""
        texts = self._arrays[name]
        if texts.dtype.kind not in "US":
            raise FormatError(f"{self.called}: '{name}' holds {texts.dtype} values; expected strings")
        if texts.dtype.kind == "S":
            texts = np.char.decode(texts, "utf-8")
        return [str(text) for text in texts.reshape(-1)]

    def number(self, name: str) -> float | None:
        """Reads the number in an array of one entry. None if the array does not exist or has more entries."""
        of = self._arrays.get(name)
        if of is None or of.size != 1:
            return None
        number = float(of.reshape(-1)[0])
        if not np.isfinite(number):
            raise FormatError(f"{self.called}: '{name}' is {number}; expected a finite number")
        return number


def laid_out(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Makes an array that is aligned and in C order. The array is copied only if needed."""
    return np.require(array, dtype, ["C_CONTIGUOUS", "ALIGNED"])


def side_by_side(heads: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Reshapes (heads, T, d) to (T, heads * d), without a copy if the heads of a token already lie side by side, as after x.transpose(1, 2).

    Each row of the output is contiguous, and there may be gaps between rows. C++ reads no other layout.
    """
    by_token = heads.astype(dtype, copy=False).transpose(1, 0, 2)
    length, count, width = by_token.shape
    item, row = by_token.itemsize, by_token.strides[0]
    if by_token.flags.aligned and by_token.strides[1:] == (width * item, item) and row >= count * width * item and row % item == 0:
        return np.lib.stride_tricks.as_strided(by_token, (length, count * width), (row, item), writeable=False)
    return laid_out(by_token, dtype).reshape(length, count * width)


def _line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
