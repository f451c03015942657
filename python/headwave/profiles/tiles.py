"""Sums attention weights by offset, tile by tile, in plain PyTorch operations. They run on any device and serve as the Triton kernel's oracle."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable

import numpy as np
import torch

from .bins import OffsetBins, band_of

MASKED = -5000.0      # a pair is masked if the mask adds this or less to its score. Masks add -1e4 or less, which bfloat16 rounds to -9984
REGULAR, APART = 0, 1  # kinds of pairs: a pair is apart if its query or its key is counted apart


@dataclasses.dataclass
class Scores:
    """The inputs from which one call of an attention function computes its weights.

        A = softmax over keys j of cap(scale q_i . k_j) + bias_ij, masked                             (1)

    with cap(s) = soft_cap tanh(s / soft_cap). A head's sink logit takes part in the softmax like one more key, but this key's weight is omitted.

    Query row i has the position of key i + shift, so pair (i, j) has the offset t = j - i - shift.

    Args:
        query: (B, H, Tq, d) after norms and rotary positions
        key: (B, Hk, Tk, d), Hk divides H: query head h reads key head h // (H / Hk)
        causal: whether only t <= 0 is allowed
        mask: (B or 1, H or 1, Tq, Tk), boolean (True: allowed) or numbers added to the scores; or a boolean function of (b, h, i, j)
        bias: (B or 1, H, Tq, Tk) numbers added to the scores
        window: (before, after): |t| < before for keys before the query, |t| < after for keys after the query; 0: no limit
        sinks: (H) sink logits
        weights: (B, H, Tq, Tk) finished weights, used instead of (1)
    """

    query: torch.Tensor
    key: torch.Tensor
    scale: float
    shift: int = 0
    causal: bool = False
    mask: torch.Tensor | Callable[..., torch.Tensor] | None = None
    bias: torch.Tensor | None = None
    window: tuple[int, int] = (0, 0)
    soft_cap: float | None = None
    sinks: torch.Tensor | None = None
    weights: torch.Tensor | None = None

    def contiguous(self) -> "Scores":
        """Copies these Scores with contiguous keys, for many small matrix products."""
        return self if self.key.is_contiguous() else dataclasses.replace(self, key=self.key.contiguous())

    def keys_of(self, first: int, end: int, k0: int, k1: int) -> tuple[int, int]:
        """Gives the keys within k0 .. k1 - 1 that query rows first .. end - 1 may attend to by `causal` and `window`, without the mask."""
        before, after = self.window
        if before:
            k0 = max(k0, first + self.shift - before + 1)
        if after:
            k1 = min(k1, end + self.shift + after - 1)
        if self.causal:
            k1 = min(k1, end + self.shift)
        return k0, max(k0, k1)

    def allowed(self, rows: Any, r0: int, r1: int, kb: int, ke: int) -> torch.Tensor:
        """Marks the allowed pairs: booleans (n or 1, H or 1, r1 - r0, ke - kb), with rows in reverse."""
        t = self._offsets(r0, r1, kb, ke)
        allowed = torch.ones_like(t, dtype=torch.bool)
        if self.causal:
            allowed &= t <= 0
        before, after = self.window
        if before:
            allowed &= t > -before
        if after:
            allowed &= t < after
        allowed = allowed[None, None]
        if self.mask is not None:
            allowed = allowed & self._mask(rows, r0, r1, kb, ke)[0]
        return allowed

    def scores(self, rows: Any, heads: slice, r0: int, r1: int, kb: int, ke: int) -> torch.Tensor:
        """Computes masked scores (n, heads, r1 - r0, ke - kb), with rows in reverse. Masked pairs get the lowest number of the dtype."""
        group = self.query.shape[1] // self.key.shape[1]
        wide = torch.promote_types(self.query.dtype, torch.float32)
        q = self.query[rows, heads, r0:r1].flip(2).to(wide) * self.scale
        k = self.key[rows, heads.start // group:heads.stop // group, kb:ke].to(wide)
        n, h, count, d = q.shape
        s = torch.matmul(q.reshape(n, h // group, group * count, d), k.transpose(2, 3)).view(n, h, count, ke - kb)
        if self.soft_cap:
            s = s.div_(self.soft_cap).tanh_().mul_(self.soft_cap)
        if self.bias is not None:
            s += self._part(self.bias, rows, heads, r0, r1, kb, ke)
        least = torch.finfo(wide).min
        if self.mask is not None:
            allowed, added = self._mask(rows, r0, r1, kb, ke, heads)
            s = s.masked_fill_(~allowed, least) if added is None else (s + added).masked_fill_(~allowed, least)
        if self.causal or any(self.window):
            t = self._offsets(r0, r1, kb, ke)
            if self.causal:   # only the last columns hold keys after some query
                last = max(0, r0 + self.shift + 1 - kb)
                s[..., last:].masked_fill_(t[:, last:] > 0, least)
            if self.window[0]:
                s.masked_fill_(t <= -self.window[0], least)
            if self.window[1]:
                s.masked_fill_(t >= self.window[1], least)
        return s

    def weights_of(self, s: torch.Tensor, heads: slice) -> tuple[torch.Tensor, torch.Tensor]:
        """Computes weights from masked scores, as in padded_for(), and the entropy of each row in nats. The scores are overwritten."""
        top = s.amax(-1, keepdim=True)
        padded = padded_for(s.shape, s)
        e = torch.exp(s.sub_(top), out=padded[..., :s.shape[-1]])
        some = e.sum(-1, keepdim=True)
        whole = some if self.sinks is None else some + torch.exp(self.sinks[heads].to(s.dtype)[None, :, None, None] - top)
        entropy = (torch.log(whole) * some - s.mul_(e).sum(-1, keepdim=True)) / whole
        e.div_(whole)
        return padded, entropy[..., 0]

    def _offsets(self, r0: int, r1: int, kb: int, ke: int) -> torch.Tensor:
        device = self.query.device
        rows = torch.arange(r1 - 1, r0 - 1, -1, device=device)[:, None]
        return torch.arange(kb, ke, device=device)[None] - rows - self.shift

    def _mask(self, rows: Any, r0: int, r1: int, kb: int, ke: int, heads: slice = slice(None)) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Gives the pairs that the mask allows, and the numbers that it adds to the scores, or None if it adds nothing."""
        if callable(self.mask):
            return self._called(rows, r0, r1, kb, ke), None
        part = self._part(self.mask, rows, heads, r0, r1, kb, ke)
        if part.dtype == torch.bool:
            return part, None
        return part > MASKED, part

    def _part(self, of: torch.Tensor, rows: Any, heads: slice, r0: int, r1: int, kb: int, ke: int) -> torch.Tensor:
        of = of[rows] if of.shape[0] > 1 else of
        of = of[:, heads] if of.shape[1] > 1 else of
        return of[:, :, r0:r1, kb:ke].flip(2)

    def _called(self, rows: Any, r0: int, r1: int, kb: int, ke: int) -> torch.Tensor:
        device = self.query.device
        b = torch.arange(self.query.shape[0], device=device)[rows]
        h, i = torch.zeros(1, dtype=torch.long, device=device), torch.arange(r1 - 1, r0 - 1, -1, device=device)
        j = torch.arange(kb, ke, device=device)
        shape = (len(b), 1, len(i), len(j))
        try:   # most functions take whole axes at once
            called = self.mask(b[:, None, None, None], h[None, :, None, None], i[None, None, :, None], j[None, None, None, :])
            return called.expand(shape)
        except (RuntimeError, IndexError):
            each = self.mask
            for dims in ((None, None, None, 0), (None, None, 0, None), (None, 0, None, None), (0, None, None, None)):
                each = torch.vmap(each, in_dims=dims, out_dims=0)
            return each(b, h, i, j)


@dataclasses.dataclass
class Span:
    """Documents of one call at equal places in their rows of the batch: queries q0 .. q1 - 1 and keys k0 .. k1 - 1.

    Args:
        rows: rows of the batch, one for each document
        documents: numbers of these documents in the watch
        place: position of key k0 in its document
        apart_queries, apart_keys: queries and keys whose pairs are counted apart, which are a document's special and first tokens
        shift: value to use instead of Scores.shift; None: Scores.shift is used
        special: keys that are special tokens
        ids: (k1 - k0) token ids of each document; empty: unknown
    """

    rows: list[int]
    documents: list[int]
    q0: int
    q1: int
    k0: int
    k1: int
    place: int = 0
    apart_queries: list[int] = dataclasses.field(default_factory=list)
    apart_keys: list[int] = dataclasses.field(default_factory=list)
    shift: int | None = None
    special: list[int] = dataclasses.field(default_factory=list)
    ids: list[torch.Tensor] = dataclasses.field(default_factory=list)

    @property
    def index(self) -> Any:
        """The rows as an index into the batch. If possible it is a slice, since indexing by a slice copies nothing."""
        first = self.rows[0]
        return slice(first, first + len(self.rows)) if self.rows == list(range(first, first + len(self.rows))) else self.rows

    def position(self, row: int, shift: int) -> int:
        """Gives the position of a query row in its document."""
        return self.place + row + shift - self.k0


@dataclasses.dataclass
class TileSums:
    """Sums over the query rows of a tile, for each of n documents and each head.

    Args:
        weight: (n, 2, H, bins) sum of weights by kind of pair (regular, apart) and offset
        entropy: (n, H) -sum A ln A, in nats
        kept: (n, H) sum of weights, which is the number of rows minus the weights of sink logits
    """

    weight: torch.Tensor
    entropy: torch.Tensor
    kept: torch.Tensor


def padded_for(shape: tuple[int, ...], like: torch.Tensor) -> torch.Tensor:
    """Makes a tensor (..., rows, columns + rows) whose first columns are for weights. The others are 0, as diagonals() needs."""
    *lead, rows, columns = shape
    padded = torch.empty(*lead, rows, columns + rows, dtype=like.dtype, device=like.device)
    padded[..., columns:] = 0
    return padded


def by_offset(padded: torch.Tensor) -> torch.Tensor:
    """Views a tile by row and offset: (..., rows, columns + rows) -> (..., rows, columns + rows - 1). Offsets that a row lacks are 0.

    Rows are in reverse order. If the memory is read with rows that are one column shorter, each row begins one column further to the right
    than the row above, so that equal offsets share a column.
    """
    rows, width = padded.shape[-2:]
    return padded.flatten(-2)[..., :rows * (width - 1)].unflatten(-1, (rows, width - 1))


def diagonals(padded: torch.Tensor) -> torch.Tensor:
    """Sums along the diagonals of tiles whose rows are in reverse: (..., rows, columns + rows) -> (..., columns + rows - 1)."""
    return by_offset(padded).sum(-2)


def sum_tile(padded: torch.Tensor, span: Span, r0: int, r1: int, kb: int, ke: int, shift: int, bins: OffsetBins,
             entropy: torch.Tensor) -> TileSums:
    """Sums one tile of weights from tile_weights(). Sets the weights of pairs that are counted apart to 0."""
    rows, columns = r1 - r0, ke - kb
    weights = padded[..., :columns]
    apart = _take_apart(weights, [i for i in span.apart_queries if r0 <= i < r1], [j for j in span.apart_keys if kb <= j < ke], r1, kb)
    index = bins.of(kb - (r1 - 1) - shift, rows + columns - 1, padded.device)
    sums = weights.new_zeros(weights.shape[0], 2, weights.shape[1], bins.count, dtype=torch.float64)
    regular = diagonals(padded)
    sums[:, REGULAR].index_add_(-1, index, regular.double())
    kept = regular.sum(-1)
    if apart is not None:
        sums[:, APART].index_add_(-1, index, apart.double())
        kept = kept + apart.sum(-1)
    return TileSums(sums, entropy.sum(-1).double(), kept.double())


def _take_apart(weights: torch.Tensor, queries: list[int], keys: list[int], r1: int, kb: int) -> torch.Tensor | None:
    """Removes the weights of some rows and columns from a tile, and returns their sums by offset. None if the tile has no such rows or columns."""
    if not queries and not keys:
        return None
    rows, columns = weights.shape[-2:]
    sums = weights.new_zeros(*weights.shape[:-2], rows + columns - 1)
    for i in queries:
        at = r1 - 1 - i
        sums[..., at:at + columns] += weights[..., at, :]
        weights[..., at, :] = 0
    for j in keys:
        at = j - kb
        sums[..., at:at + rows] += weights[..., at]
        weights[..., at] = 0
    return sums


def tile_weights(scores: Scores, span: Span, heads: slice, r0: int, r1: int, kb: int, ke: int,
                 scored: Callable[..., None] | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    """Computes the weights of a tile as in padded_for(), with rows in reverse, and the entropy of each row in nats.

    Args:
        scored: function that is called with the masked scores before softmax, and with their heads
    """
    made = scores.scores(span.index, heads, r0, r1, kb, ke) if scores.weights is None or scored is not None else None
    if scored is not None:
        scored(made, heads)
    if scores.weights is not None:
        given = scores.weights[span.index, heads, r0:r1, kb:ke].flip(2)
        given = given.to(torch.promote_types(given.dtype, torch.float32))
        padded = padded_for(given.shape, given)
        padded[..., :ke - kb] = given
        entropy = torch.special.entr(given).sum(-1)
    else:
        padded, entropy = scores.weights_of(made, heads)
    if scores.mask is not None:   # rows that may look at no key do not count
        seen = scores.allowed(span.index, r0, r1, kb, ke).any(-1, keepdim=True)
        seen = seen if seen.shape[1] == 1 else seen[:, heads]
        padded[..., :ke - kb].masked_fill_(~seen, 0)
        entropy = entropy * seen[..., 0]
    return padded, entropy


def weight_tiles(scores: Scores, span: Span, r0: int, r1: int, bins: OffsetBins, budget: int,
                 see: Callable[..., None] | None = None, scored: Callable[..., None] | None = None) -> TileSums | None:
    """Sums over the query rows r0 .. r1 - 1 of a span. None if these queries may attend to no key.

    Args:
        budget: largest size of a tile's weights in bytes; heads are divided into as many parts as needed
        see: function that is called with each part before it is summed: the output of tile_weights(), r0, r1, kb, ke, and the heads
        scored: for tile_weights()
    """
    kb, ke = scores.keys_of(r0, r1, span.k0, span.k1)
    if ke <= kb:
        return None
    total = scores.query.shape[1]
    group = total // scores.key.shape[1]
    size = len(span.rows) * (r1 - r0) * (ke - kb + r1 - r0) * 4 * group
    some = group * max(1, min(total // group, budget // size))
    parts = []
    for first in range(0, total, some):
        heads = slice(first, min(total, first + some))
        padded, entropy = tile_weights(scores, span, heads, r0, r1, kb, ke, scored)
        if see is not None:
            see(padded, entropy, r0, r1, kb, ke, heads)
        parts.append(sum_tile(padded, span, r0, r1, kb, ke, scores.shift, bins, entropy))
    if len(parts) == 1:
        return parts[0]
    return TileSums(*(torch.cat([getattr(part, of.name) for part in parts], 2 if of.name == "weight" else 1)
                      for of in dataclasses.fields(TileSums)))


@dataclasses.dataclass
class Counts:
    """Counts of the query-key pairs of query rows, for each of n documents or once for all. The layout is that of TileSums without heads.

    Args:
        pairs: (n, 2, bins) number of pairs, by kind and offset
        rows: (n) number of query rows that may attend to at least one key
    """

    pairs: torch.Tensor
    rows: torch.Tensor


def count_tiles(scores: Scores, span: Span, r0: int, r1: int, bins: OffsetBins) -> Counts | None:
    """Counts the pairs of query rows r0 .. r1 - 1 of a span. If the mask differs between heads, the first head's mask is used."""
    kb, ke = scores.keys_of(r0, r1, span.k0, span.k1)
    if ke <= kb:
        return None
    allowed = scores.allowed(span.index, r0, r1, kb, ke)[:, :1].to(torch.float32)
    padded = padded_for(tuple(allowed.shape), allowed)
    padded[..., :ke - kb] = allowed
    seen = allowed.any(-1).sum((1, 2))
    sums = sum_tile(padded, span, r0, r1, kb, ke, scores.shift, bins, padded[..., 0])
    return Counts(sums.weight[:, :, 0], seen.to(sums.weight.dtype))


def count_rows(scores: Scores, span: Span, r0: int, r1: int, bins: OffsetBins) -> Counts | None:
    """Does the same as count_tiles() for a call without a mask, where the allowed keys of each row are an interval. No tile is made."""
    first, end = scores.keys_of(r0, r1, span.k0, span.k1)
    if end <= first:
        return None
    shift, (before, after) = scores.shift, scores.window
    i = np.arange(r0, r1)
    low = np.maximum(span.k0, i + shift - before + 1) if before else np.full(len(i), span.k0)
    high = np.minimum(span.k1, i + shift + 1) if scores.causal else np.full(len(i), span.k1)
    high = np.minimum(high, i + shift + after) if after else high
    pairs = np.zeros((2, bins.count))
    t = np.arange(first - (r1 - 1) - shift, end - r0 - shift)   # how many rows have a key at each offset
    a, z = np.clip(span.k0 - shift - t, r0, r1) - r0, np.clip(span.k1 - shift - t, r0, r1) - r0
    allowed = (z > a) & ((t <= 0) | (not scores.causal)) & ((t > -before) | (before == 0)) & ((t < after) | (after == 0))
    pairs[REGULAR] = np.bincount(bins.of(int(t[0]), len(t), torch.device("cpu")).numpy(), np.where(allowed, z - a, 0), bins.count)
    apart = [np.arange(low[q - r0], high[q - r0]) - q - shift for q in span.apart_queries if r0 <= q < r1]
    others = np.setdiff1d(i, span.apart_queries)
    for j in span.apart_keys:
        rows = others[(low[others - r0] <= j) & (j < high[others - r0])]
        apart.append(j - rows - shift)
    for offsets in apart:
        there = np.bincount(bins.of_each(offsets), minlength=bins.count)
        pairs[REGULAR] -= there
        pairs[APART] += there
    return Counts(*(torch.from_numpy(np.asarray(of, np.float64))[None].to(scores.query.device) for of in (pairs, (high > low).sum())))


def sampled_tiles(first: int, end: int, shift: int, rows: int, random: np.random.Generator, cell: int) -> list[tuple[int, int, float]]:
    """Samples query rows by position. Gives (first row, end, number of rows that each row stands for), ascending.

    Rows are sampled in cells of `cell` neighbours. Each query band (bins.py) gets its share of `rows`, but at least two cells. To draw k cells,
    the cells of a band are divided into k runs of equal length, the strata, and one cell is drawn from each run.
    """
    cells: dict[int, list[tuple[int, int]]] = {}
    row = first
    while row < end:
        stop = min(end, row + cell - (row + shift) % cell)
        cells.setdefault(band_of(row + shift), []).append((row, stop))
        row = stop
    tiles = []
    for those in cells.values():
        wanted = max(2, round(rows / cell * len(those) / sum(map(len, cells.values()))))
        for stratum in np.array_split(np.arange(len(those)), min(wanted, len(those))):
            r0, r1 = those[random.choice(stratum)]
            covered = sum(those[s][1] - those[s][0] for s in stratum)
            tiles.append((r0, r1, covered / (r1 - r0)))
    return tiles


class LayerSums:
    """Sums over documents of one layer, on the layer's device, separately for each block of documents.

    Args:
        blocks, heads: number of blocks and of heads
    """

    def __init__(self, blocks: int, heads: int, bins: OffsetBins, device: torch.device) -> None:
        def zeros(*shape: int) -> torch.Tensor:
            return torch.zeros(*shape, dtype=torch.float64, device=device)

        self.device = device
        self.weight = zeros(blocks, 2, heads, bins.count)
        self.entropy, self.kept = zeros(blocks, heads), zeros(blocks, heads)
        self.pairs, self.rows = zeros(blocks, 2, bins.count), zeros(blocks)

    @property
    def finite(self) -> bool:
        """Whether no sum is NaN or infinite."""
        return all(bool(torch.isfinite(of).all()) for of in vars(self).values() if isinstance(of, torch.Tensor))

    def add(self, sums: TileSums | Counts, blocks: torch.Tensor, factor: float) -> None:
        """Adds sums or counts of query rows, where each row stands for `factor` rows. `blocks` gives the block of each document."""
        for field in dataclasses.fields(sums):
            added = getattr(sums, field.name)
            getattr(self, field.name).index_add_(0, blocks, added.expand(len(blocks), *added.shape[1:]), alpha=factor)
