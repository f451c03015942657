"""Sums of attention weights by offset, tile by tile, in plain PyTorch operations: on any device, and the oracle of the Triton kernel."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable

import numpy as np
import torch

from .bins import BANDS, OffsetBins, band_of

FIRST_KEYS = 8        # of a document: their weight is summed key by key, for the sink
REGULAR, APART = 0, 1  # kinds of pairs: a pair is apart if its query or its key is


@dataclasses.dataclass
class Scores:
    """What makes the attention weights of one call of an attention function.

        A = softmax over keys j of cap(scale q_i . k_j) + bias_ij, masked                             (1)

    with cap(s) = soft_cap tanh(s / soft_cap). A sink logit of a head takes part in the softmax like one key more, whose weight is left out.

    Query row i stands where key i + shift stands, so that pair (i, j) has the offset t = j - i - shift.

    Args:
        query: (B, H, Tq, d) after norms and rotary positions
        key: (B, Hk, Tk, d), Hk divides H: query head h reads key head h // (H / Hk)
        causal: whether t <= 0 alone is allowed
        mask: (B or 1, H or 1, Tq, Tk), boolean (True: allowed) or added to the scores; or a function of (b, h, i, j)
        bias: (B or 1, H, Tq, Tk), added to the scores
        window: (before, after): |t| < before for keys before their query, < after behind it; 0: no limit
        sinks: (H) logits
        weights: (B, H, Tq, Tk) in place of (1): finished weights
        log_sums: (B, H, Tq) natural logarithm of the softmax's denominator, where the implementation gave it
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
    log_sums: torch.Tensor | None = None

    def keys_of(self, first: int, end: int, k0: int, k1: int) -> tuple[int, int]:
        """The keys, of k0 .. k1 - 1, that query rows first .. end - 1 may look at as far as `causal` and `window` say."""
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
        """Masked scores, rows in reverse: (n, heads, r1 - r0, ke - kb); what is masked is the least number that there is."""
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
            if self.causal:   # only the last columns hold keys behind some query
                last = max(0, r0 + self.shift + 1 - kb)
                s[..., last:].masked_fill_(t[:, last:] > 0, least)
            if self.window[0]:
                s.masked_fill_(t <= -self.window[0], least)
            if self.window[1]:
                s.masked_fill_(t >= self.window[1], least)
        return s

    def log_weights(self, s: torch.Tensor, heads: slice) -> torch.Tensor:
        """ln A of masked scores."""
        if self.sinks is None:
            return torch.log_softmax(s, -1)
        total = torch.logaddexp(torch.logsumexp(s, -1, keepdim=True), self.sinks[heads].to(s.dtype)[None, :, None, None])
        return (s - total).clamp_(min=torch.finfo(s.dtype).min)

    def _offsets(self, r0: int, r1: int, kb: int, ke: int) -> torch.Tensor:
        device = self.query.device
        rows = torch.arange(r1 - 1, r0 - 1, -1, device=device)[:, None]
        return torch.arange(kb, ke, device=device)[None] - rows - self.shift

    def _mask(self, rows: Any, r0: int, r1: int, kb: int, ke: int, heads: slice = slice(None)) -> tuple[torch.Tensor, torch.Tensor | None]:
        """What the mask allows, and what it adds."""
        if callable(self.mask):
            return self._called(rows, r0, r1, kb, ke), None
        part = self._part(self.mask, rows, heads, r0, r1, kb, ke)
        if part.dtype == torch.bool:
            return part, None
        return part > torch.finfo(part.dtype).min / 2, part

    def _part(self, of: torch.Tensor, rows: Any, heads: slice, r0: int, r1: int, kb: int, ke: int) -> torch.Tensor:
        of = of[rows] if of.shape[0] > 1 else of
        of = of[:, heads] if of.shape[1] > 1 else of
        return of[:, :, r0:r1, kb:ke].flip(2)

    def _called(self, rows: Any, r0: int, r1: int, kb: int, ke: int) -> torch.Tensor:
        device = self.query.device
        b = torch.arange(self.query.shape[0], device=device)[rows]
        h, i, j = torch.zeros(1, dtype=torch.long, device=device), torch.arange(r1 - 1, r0 - 1, -1, device=device), torch.arange(kb, ke, device=device)
        shape = (len(b), 1, len(i), len(j))
        try:   # functions of indices take whole axes at once
            called = self.mask(b[:, None, None, None], h[None, :, None, None], i[None, None, :, None], j[None, None, None, :])
            return called.expand(shape)
        except (RuntimeError, IndexError):
            each = self.mask
            for dims in ((None, None, None, 0), (None, None, 0, None), (None, 0, None, None), (0, None, None, None)):
                each = torch.vmap(each, in_dims=dims, out_dims=0)
            return each(b, h, i, j)


@dataclasses.dataclass
class Span:
    """Documents of one call that lie alike: queries q0 .. q1 - 1 and keys k0 .. k1 - 1 of some rows of the batch.

    Args:
        rows: of the batch, one for each document
        documents: their numbers in the job
        place: position in its document of the key k0
        apart_queries, apart_keys: rows and keys whose pairs are counted apart: special tokens, and the first of a document
        shift: of Scores, where the documents have one of their own
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

    @property
    def index(self) -> Any:
        """The rows of the batch, as cheap to take as there is."""
        first = self.rows[0]
        return slice(first, first + len(self.rows)) if self.rows == list(range(first, first + len(self.rows))) else self.rows

    def position(self, row: int, shift: int) -> int:
        """Position in its document of a query row."""
        return self.place + row + shift - self.k0


@dataclasses.dataclass
class TileSums:
    """What a tile of query rows adds up to, for each of n documents and each head.

    Args:
        weight: (n, 2, H, bins) by kind of pair and offset
        entropy: (n, H) -sum A ln A, in nats
        kept: (n, H) sum of weights: the number of rows, but for what sink logits take
        first_keys: (n, H, FIRST_KEYS) weight on each of the first keys of the document
    """

    weight: torch.Tensor
    entropy: torch.Tensor
    kept: torch.Tensor
    first_keys: torch.Tensor


def padded_for(shape: tuple[int, ...], like: torch.Tensor) -> torch.Tensor:
    """Zeros (..., rows, columns + rows): weights go to the first columns, diagonals() needs the rest."""
    *lead, rows, columns = shape
    return torch.zeros(*lead, rows, columns + rows, dtype=like.dtype, device=like.device)


def diagonals(padded: torch.Tensor) -> torch.Tensor:
    """Sums along diagonals of tiles whose rows are in reverse: (..., rows, columns + rows) -> (..., columns + rows - 1).

    Read with one column less, each row begins one further to the right than the row above: equal offsets stand in one column.
    """
    rows, width = padded.shape[-2:]
    turned = padded.flatten(-2)[..., :rows * (width - 1)].unflatten(-1, (rows, width - 1))
    return turned.sum(-2)


def sum_tile(padded: torch.Tensor, span: Span, r0: int, r1: int, kb: int, ke: int, shift: int, bins: OffsetBins,
             log_weights: torch.Tensor | None = None) -> TileSums:
    """Adds up one tile of weights, `padded` as padded_for() made it. The weights of pairs apart are set to 0 on the way."""
    rows, columns = r1 - r0, ke - kb
    weights = padded[..., :columns]
    wide = torch.float32 if padded.device.type == "mps" else torch.float64
    if log_weights is not None:
        entropy = -torch.linalg.vecdot(weights, log_weights).sum(-1)
    else:
        entropy = torch.special.entr(weights).sum((-2, -1))
    first_keys = weights.new_zeros(*weights.shape[:2], FIRST_KEYS)
    leading = span.place + kb - span.k0   # position in the document of the tile's first key
    if leading < FIRST_KEYS:
        some = min(FIRST_KEYS - leading, columns)
        first_keys[..., leading:leading + some] = weights[..., :some].sum(-2)
    apart = _take_apart(weights, [i for i in span.apart_queries if r0 <= i < r1], [j for j in span.apart_keys if kb <= j < ke], r1, kb)
    index = bins.of(kb - (r1 - 1) - shift, rows + columns - 1, padded.device)
    sums = weights.new_zeros(weights.shape[0], 2, weights.shape[1], bins.count, dtype=wide)
    regular = diagonals(padded)
    sums[:, REGULAR].index_add_(-1, index, regular.to(wide))
    kept = regular.sum(-1)
    if apart is not None:
        sums[:, APART].index_add_(-1, index, apart.to(wide))
        kept = kept + apart.sum(-1)
    return TileSums(sums, entropy.to(wide), kept.to(wide), first_keys.to(wide))


def _take_apart(weights: torch.Tensor, queries: list[int], keys: list[int], r1: int, kb: int) -> torch.Tensor | None:
    """Takes the weights of some rows and columns out of a tile: their sums by offset."""
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


def weight_tiles(scores: Scores, span: Span, r0: int, r1: int, bins: OffsetBins, budget: int) -> TileSums | None:
    """Sums over the query rows r0 .. r1 - 1 of a span; None: they see no key.

    Args:
        budget: bytes that the weights of a tile may take; heads come in as many parts as that asks for
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
        log_weights = None
        if scores.weights is not None:
            given = scores.weights[span.index, heads, r0:r1, kb:ke].flip(2)
            given = given.to(torch.promote_types(given.dtype, torch.float32))
            padded = padded_for(given.shape, given)
            padded[..., :ke - kb] = given
        else:
            s = scores.scores(span.index, heads, r0, r1, kb, ke)
            log_weights = scores.log_weights(s, heads)
            del s
            padded = padded_for(log_weights.shape, log_weights)
            torch.exp(log_weights, out=padded[..., :ke - kb])
        if scores.mask is not None:   # rows that may look nowhere are nobody's
            seen = scores.allowed(span.index, r0, r1, kb, ke).any(-1, keepdim=True)
            padded[..., :ke - kb] *= seen if seen.shape[1] == 1 else seen[:, heads]
        parts.append(sum_tile(padded, span, r0, r1, kb, ke, scores.shift, bins, log_weights))
    if len(parts) == 1:
        return parts[0]
    return TileSums(*(torch.cat([getattr(part, of.name) for part in parts], 2 if of.name == "weight" else 1)
                      for of in dataclasses.fields(TileSums)))


@dataclasses.dataclass
class Counts:
    """Pairs of query rows, for each of n documents (or one for all): by kind, as TileSums without heads.

    Args:
        pairs: (n, 2, bins) how many
        uniform: (n, 2, bins) sum of the weights that they had if every allowed key had the same
        rows: (n) queries that may look somewhere
        uniform_entropy: (n) sum over rows of ln(allowed keys), in nats
    """

    pairs: torch.Tensor
    uniform: torch.Tensor
    rows: torch.Tensor
    uniform_entropy: torch.Tensor


def count_tiles(scores: Scores, span: Span, r0: int, r1: int, bins: OffsetBins) -> Counts | None:
    """Counts the pairs of the query rows r0 .. r1 - 1 of a span; masks that differ by head are counted by their first."""
    kb, ke = scores.keys_of(r0, r1, span.k0, span.k1)
    if ke <= kb:
        return None
    allowed = scores.allowed(span.index, r0, r1, kb, ke)[:, :1].to(torch.float32)
    open_keys = allowed.sum(-1, keepdim=True)
    padded = padded_for((allowed.shape[0], 2, *allowed.shape[2:]), allowed)
    padded[:, :1, :, :ke - kb] = allowed
    padded[:, 1:, :, :ke - kb] = allowed / open_keys.clamp(min=1)
    sums = sum_tile(padded, span, r0, r1, kb, ke, scores.shift, bins, torch.zeros_like(padded[..., :ke - kb]))
    seen = (open_keys > 0).sum((1, 2, 3)).to(sums.weight.dtype)
    logs = torch.log(open_keys.clamp(min=1)).sum((1, 2, 3)).to(sums.weight.dtype)
    return Counts(sums.weight[:, :, 0], sums.weight[:, :, 1], seen, logs)


def sampled_tiles(first: int, end: int, shift: int, rows: int, random: np.random.Generator, cell: int) -> list[tuple[int, int, float, int]]:
    """Query rows sampled by position: (first row, end, rows that each stands for, band), ascending.

    Rows come in cells of `cell` neighbours. Each query band (bins.py) gets its share of `rows`, two cells at least; its cells are cut into
    so many runs of equal length, the strata, and of each run one cell is drawn.
    """
    cells: dict[int, list[tuple[int, int]]] = {}
    row = first
    while row < end:
        stop = min(end, row + cell - (row + shift) % cell)
        cells.setdefault(band_of(row + shift), []).append((row, stop))
        row = stop
    tiles = []
    for band, those in cells.items():
        wanted = max(2, round(rows / cell * len(those) / sum(map(len, cells.values()))))
        for stratum in np.array_split(np.arange(len(those)), min(wanted, len(those))):
            r0, r1 = those[random.choice(stratum)]
            covered = sum(those[s][1] - those[s][0] for s in stratum)
            tiles.append((r0, r1, covered / (r1 - r0), band))
    return tiles


class LayerSums:
    """Sums over documents of one layer, on its device. `block` is the place of a document's block.

    Args:
        blocks, heads, bins: how many
    """

    def __init__(self, blocks: int, heads: int, kv_heads: int, width: int, bins: OffsetBins, device: torch.device) -> None:
        dtype = torch.float32 if device.type == "mps" else torch.float64

        def zeros(*shape: int) -> torch.Tensor:
            return torch.zeros(*shape, dtype=dtype, device=device)

        self.heads, self.kv_heads, self.width, self.device = heads, kv_heads, width, device
        self.weight = zeros(blocks, 2, heads, bins.count)
        self.entropy, self.kept = zeros(blocks, heads), zeros(blocks, heads)
        self.first_keys = zeros(blocks, heads, FIRST_KEYS)
        self.pairs, self.uniform = zeros(blocks, 2, bins.count), zeros(blocks, 2, bins.count)
        self.rows, self.uniform_entropy = zeros(blocks), zeros(blocks)
        self.band_weight = zeros(BANDS, 2, heads, bins.count)
        self.band_pairs = zeros(BANDS, 2, bins.count)
        self.band_entropy, self.band_rows = zeros(BANDS, heads), zeros(BANDS)
        self.band_first_keys = zeros(BANDS, heads, FIRST_KEYS)
        self.variance = zeros(2, heads, bins.count)
        self.query_sum, self.key_sum = zeros(heads, width), zeros(kv_heads, width)
        self.tokens = zeros(2)

    def add(self, sums: TileSums, blocks: torch.Tensor, band: int, factor: float) -> None:
        """Adds a tile of query rows, each of which stands for `factor` rows."""
        for name in ("weight", "entropy", "kept", "first_keys"):
            getattr(self, name).index_add_(0, blocks, getattr(sums, name), alpha=factor)
        self.band_weight[band] += factor * sums.weight.sum(0)
        self.band_entropy[band] += factor * sums.entropy.sum(0)
        self.band_first_keys[band] += factor * sums.first_keys.sum(0)

    def count(self, counts: Counts, blocks: torch.Tensor, band: int, factor: float) -> None:
        """Adds the counts of a tile."""
        for name in ("pairs", "uniform", "rows", "uniform_entropy"):
            added = getattr(counts, name)
            getattr(self, name).index_add_(0, blocks, added.expand(len(blocks), *added.shape[1:]), alpha=factor)
        documents = factor * (len(blocks) if counts.pairs.shape[0] == 1 else 1)
        self.band_pairs[band] += documents * counts.pairs.sum(0)
        self.band_rows[band] += documents * counts.rows.sum(0)

    def add_tokens(self, scores: Scores, span: Span) -> None:
        """Adds queries and keys, as attention takes them."""
        wide = torch.promote_types(scores.query.dtype, torch.float32)
        self.query_sum += scores.query[span.index, :, span.q0:span.q1].sum((0, 2), dtype=wide)
        fresh = max(span.k0, span.q0 + scores.shift) if scores.causal and scores.shift > 0 else span.k0
        self.key_sum += scores.key[span.index, :, fresh:span.k1].sum((0, 2), dtype=wide)
        self.tokens[0] += len(span.rows) * (span.q1 - span.q0)
        self.tokens[1] += len(span.rows) * (span.k1 - fresh)
