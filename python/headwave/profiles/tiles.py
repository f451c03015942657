"""Sums of attention weights by offset, tile by tile, in plain PyTorch operations: for any device, and as the oracle of the Triton kernel."""

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

    with cap(s) = soft_cap tanh(s / soft_cap). A head's sink logit takes part in the softmax like one more key, whose weight is omitted.

    Query row i has the position of key i + shift, so pair (i, j) has the offset t = j - i - shift.

    Args:
        query: (B, H, Tq, d) after norms and rotary positions
        key: (B, Hk, Tk, d), Hk divides H: query head h reads key head h // (H / Hk)
        causal: whether only t <= 0 is allowed
        mask: (B or 1, H or 1, Tq, Tk), boolean (True: allowed) or added to the scores; or a boolean function of (b, h, i, j)
        bias: (B or 1, H, Tq, Tk), added to the scores
        window: (before, after): |t| < before for keys before the query, |t| < after for keys after it; 0: no limit
        sinks: (H) logits
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
        """The same with contiguous keys, for many small matrix products."""
        return self if self.key.is_contiguous() else dataclasses.replace(self, key=self.key.contiguous())

    def keys_of(self, first: int, end: int, k0: int, k1: int) -> tuple[int, int]:
        """The keys within k0 .. k1 - 1 that query rows first .. end - 1 may look at, as far as `causal` and `window` tell."""
        before, after = self.window
        if before:
            k0 = max(k0, first + self.shift - before + 1)
        if after:
            k1 = min(k1, end + self.shift + after - 1)
        if self.causal:
            k1 = min(k1, end + self.shift)
        return k0, max(k0, k1)

    def allowed(self, rows: Any, r0: int, r1: int, kb: int, ke: int) -> torch.Tensor:
        """Which pairs may be looked at: (n or 1, H or 1, r1 - r0, ke - kb), rows in reverse."""
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
        """Masked scores, rows in reverse: (n, heads, r1 - r0, ke - kb). Masked pairs have the lowest number of the dtype."""
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
        """Weights from masked scores, as in padded_for(), and the entropy of each row in nats. The scores are overwritten."""
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
        """Which pairs the mask allows, and what it adds to the scores; None: nothing."""
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
    """Documents of one call at equal places: queries q0 .. q1 - 1 and keys k0 .. k1 - 1 of some rows of the batch.

    Args:
        rows: of the batch, one for each document
        documents: numbers of the documents in the watch
        place: position of key k0 in its document
        apart_queries, apart_keys: query rows and keys whose pairs are counted apart: special and first tokens of a document
        shift: replaces that of Scores; None: it does not
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
        """The rows as an index into the batch: a slice if possible, which copies nothing."""
        first = self.rows[0]
        return slice(first, first + len(self.rows)) if self.rows == list(range(first, first + len(self.rows))) else self.rows

    def position(self, row: int, shift: int) -> int:
        """The position of a query row in its document."""
        return self.place + row + shift - self.k0


@dataclasses.dataclass
class TileSums:
    """Sums over a tile of query rows, for each of n documents and each head.

    Args:
        weight: (n, 2, H, bins) sum of weights by kind of pair and offset
        entropy: (n, H) -sum A ln A, in nats
        kept: (n, H) sum of weights: the number of rows, less what sink logits take
    """

    weight: torch.Tensor
    entropy: torch.Tensor
    kept: torch.Tensor


def padded_for(shape: tuple[int, ...], like: torch.Tensor) -> torch.Tensor:
    """A tensor (..., rows, columns + rows) for weights in its first columns. The rest is 0, as diagonals() needs it."""
    *lead, rows, columns = shape
    padded = torch.empty(*lead, rows, columns + rows, dtype=like.dtype, device=like.device)
    padded[..., columns:] = 0
    return padded


def by_offset(padded: torch.Tensor) -> torch.Tensor:
    """A view of a tile by row and offset: (..., rows, columns + rows) -> (..., rows, columns + rows - 1), 0 at offsets that a row lacks.

    Rows are in reverse. Read with one column less, each row begins one column further to the right than the row above, so that equal offsets
    share a column.
    """
    rows, width = padded.shape[-2:]
    return padded.flatten(-2)[..., :rows * (width - 1)].unflatten(-1, (rows, width - 1))


def diagonals(padded: torch.Tensor) -> torch.Tensor:
    """Sums along the diagonals of tiles with rows in reverse: (..., rows, columns + rows) -> (..., columns + rows - 1)."""
    return by_offset(padded).sum(-2)


def sum_tile(padded: torch.Tensor, span: Span, r0: int, r1: int, kb: int, ke: int, shift: int, bins: OffsetBins,
             entropy: torch.Tensor) -> TileSums:
    """Sums one tile of weights, which are those of tile_weights(). Sets the weights of pairs apart to 0."""
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
    """Removes the weights of some rows and columns from a tile, and returns their sums by offset; None: no such rows or columns."""
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
    """The weights of a tile, rows in reverse, as in padded_for(), and the entropy of each row in nats.

    Args:
        scored: called with the masked scores before softmax, and the heads
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
    """Sums over the query rows r0 .. r1 - 1 of a span; None: they may look at no key.

    Args:
        budget: bytes for the weights of a tile; heads are divided into as many parts as that needs
        see: called with each part before it is summed: the output of tile_weights(), r0, r1, kb, ke, and its heads
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
    """Counts of the pairs of query rows, for each of n documents or once for all; as TileSums without heads.

    Args:
        pairs: (n, 2, bins) number of pairs, by kind and offset
        rows: (n) number of rows that may look at some key
    """

    pairs: torch.Tensor
    rows: torch.Tensor


def count_tiles(scores: Scores, span: Span, r0: int, r1: int, bins: OffsetBins) -> Counts | None:
    """Counts the pairs of query rows r0 .. r1 - 1 of a span. If the mask differs between heads, that of the first head counts."""
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
    """count_tiles() without a mask, where the keys of each row are an interval. No tile is made."""
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
    """Query rows sampled by position: (first row, end, number of rows that each row stands for), ascending.

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
    """Sums over documents of one layer, on its device, apart for each block of documents.

    Args:
        blocks, heads: number of them
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
        """Adds sums or counts of query rows, each of which stands for `factor` rows. `blocks` has the block of each document."""
        for field in dataclasses.fields(sums):
            added = getattr(sums, field.name)
            getattr(self, field.name).index_add_(0, blocks, added.expand(len(blocks), *added.shape[1:]), alpha=factor)
