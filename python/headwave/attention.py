"""Computes attention of arrays, the delay between queries and keys, and the spectrum of a position table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

import numpy as np

from . import _core
from .arguments import real, whole
from .arrays import as_array, as_floats, doubles, laid_out, side_by_side
from .errors import FormatError, NumericError, ShapeError
from .result import Group, Result


@dataclass(frozen=True)
class Tile:
    """The part of attention that a probe sees at a time: some queries, with all heads and keys."""

    first_row: int  #: position of the query in row 0
    weights: np.ndarray  #: (heads, rows, keys) attention weights after the softmax
    scores: np.ndarray | None  #: (heads, rows, keys) scaled scores before mask and softmax; None unless `scores=True`


def attend(q: Any, k: Any, v: Any = None, *, mask: Any = None, window: int = 0, scale: float | None = None,
           probe: Callable[[Tile], Any] | None = None, scores: bool = False) -> np.ndarray | None:
    """Computes attention, softmax(scale q k^T + mask) v, tile by tile. No (heads, T, T) array is stored.

    Example:
        >>> out = headwave.attend(q, k, v, mask="causal", probe=lambda tile: print(tile.first_row, tile.weights.max()))

    If one array is float64, everything is computed in float64, otherwise in float32. Arrays may be from numpy, PyTorch or other libraries.

    Args:
        q: queries (heads, n', d), or (n', d) for one head
        k: keys (kv_heads, n, d), or (n, d) for one head; every key head serves the same number of query heads
        v: values (kv_heads, n, d_value), or (n, d_value) for one head; None: nothing is returned, and only the probe sees attention weights
        mask: None; "causal": only keys j <= i; or an array (n', n). Booleans are True where a query may attend to a key. Numbers
            are added to the scores
        window: only keys with |i - j| < window; 0: no limit
        scale: factor of the scores; None: 1 / sqrt(d)
        probe: function that is called with every Tile, in the order of rows
        scores: whether tiles contain scores

    Returns:
        (heads, n', d_value), or (n', d_value) for one head; None without `v`.

    Raises:
        ShapeError: shapes disagree; NumericError: a number is not finite, or so large that scores or output are not finite.
    """
    single = as_array(q, "q").ndim == 2
    axes = ("T", "d") if single else ("heads", "T", "d")
    given = [as_floats(q, "q", axes), as_floats(k, "k", axes)]
    if v is not None:
        given.append(as_floats(v, "v", axes))
    dtype = np.dtype(np.float64 if any(a.dtype == np.float64 for a in given) else np.float32)
    by_head = [a[np.newaxis] if single else a for a in given]
    if v is not None and by_head[2].shape[0] != by_head[1].shape[0]:
        raise ShapeError(f"attend: values have {by_head[2].shape[0]} heads, but keys have {by_head[1].shape[0]}; expected equal numbers")
    if probe is not None and not callable(probe):
        raise FormatError(f"probe is of type {type(probe).__name__}; expected a function that takes a Tile")
    window = whole(window, "window")
    scale = by_head[0].shape[2] ** -0.5 if scale is None else real(scale, "scale")
    causal, additive = _mask(mask, (by_head[0].shape[1], by_head[1].shape[1]), dtype)
    rows = [side_by_side(a, dtype) for a in by_head]
    hand_on = None if probe is None else lambda row, weights, raw: probe(Tile(row, weights, raw))
    out = _core.attend(rows[0], rows[1], rows[2] if v is not None else None, additive, hand_on, by_head[0].shape[0],
                       by_head[1].shape[0], scale, causal, window, bool(scores))
    if out is None:
        return None
    heads = by_head[0].shape[0]
    return out if single else out.reshape(out.shape[0], heads, -1).transpose(1, 0, 2)


def _mask(mask: Any, shape: tuple[int, int], dtype: np.dtype) -> tuple[bool, np.ndarray | None]:
    if mask is None:
        return False, None
    if isinstance(mask, str):
        if mask != "causal":
            raise ShapeError(f"mask is '{mask}'; expected 'causal', or an array of shape {shape}, (queries, keys)")
        return True, None
    array = as_array(mask, "mask")
    if array.shape != shape:
        raise ShapeError(f"mask has shape {array.shape}, expected {shape}, (queries, keys)")
    if array.dtype == bool:
        return False, laid_out(np.where(array, 0, -np.inf), dtype)
    if array.dtype.kind not in "fiu":
        raise FormatError(f"mask holds {array.dtype} values; expected booleans or numbers")
    with np.errstate(over="ignore"):  # numbers below the range of float32 become -infinity, which forbids
        array = laid_out(array, dtype)
    if np.isnan(array).any() or np.isposinf(array).any():
        raise NumericError("mask holds NaN or +infinity; expected numbers to add to the scores, -infinity where a key is forbidden")
    return False, array


def delay(q: Any, k: Any, *, reach: int = 64) -> Group:
    """Finds the delay between queries and keys that best explains their phases at all frequencies, to fractions of a token.

    Example:
        >>> headwave.delay(q, k, reach=16).offset.values

    Args:
        q: queries (heads, T, d) or (T, d)
        k: keys, in the shape of `q`
        reach: largest |delay| in the search, in tokens

    Returns:
        The group `delay`. Each array has one number for each head: `offset`, `coherence`, `runner_up`, `runner_up_share`, `at_edge`.

    Raises:
        ShapeError: shapes differ; NumericError: a number is not finite.
    """
    single = as_array(q, "q").ndim == 2
    axes = ("T", "d") if single else ("heads", "T", "d")
    query, key = doubles(q, "q", axes), doubles(k, "k", axes)
    if query.shape != key.shape:
        raise ShapeError(f"delay: q has shape {query.shape}, but k has shape {key.shape}; expected the same shape")
    reach = whole(reach, "reach", 1)
    if single:
        query, key = query[np.newaxis], key[np.newaxis]
    return Result(_core.delay(query, key, reach))["delay"]


def spectrum(positions: Any, words: Any = None, *, demean: bool = False, detrend: bool = False,
             hann: bool = False) -> Group:
    """Computes the spectrum of a position table: mean and quartiles of the amplitudes of its columns, peaks, and energy.

    Example:
        >>> found = headwave.spectrum(model.embeddings.position_embeddings.weight)
        >>> list(found)

    Args:
        positions: (T, d_model) rows of the table for positions 0 .. T-1
        words: (T, d_model) token embeddings of a text, for comparison; None: no comparison
        demean, detrend: first subtract each column's mean (demean), or its least-squares line (detrend)
        hann: use a Hann window instead of the rectangular window of the published method

    Returns:
        The group `position_spectrum`, as in a result.

    Raises:
        ShapeError: `words` is not as long as `positions`; NumericError: a number is not finite.
    """
    axes = ("T", "d_model")
    table = doubles(positions, "positions", axes)
    beside = None if words is None else doubles(words, "words", axes)
    return Result(_core.spectrum(table, beside, bool(demean), bool(detrend), bool(hann)))["position_spectrum"]
