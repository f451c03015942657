"""Computes the sums of tiles.py by Triton kernels, for GPUs. Each program goes over the keys of one block of query rows of one head.

A tile has R query rows and C keys. Tile n has the keys m + n C .. m + (n + 1) C - 1, where m is the key at the position of its first row. Row r
and column c have the offset t = key - query = n C + c - r. There are two passes over tiles:

far     goes over all tiles. It sums the denominators of the softmax, and each row over each offset bin far from the query. A far bin is so
        wide that no tile contains two edges between bins. Exponentials are relative to a reference, the largest score of the near tiles and
        of the first tiles. If a far score exceeds the reference by more than 88, tiles.py computes the sums instead.
near    goes over the tiles next to the query, with known denominators. It sums along diagonals: rotating row r of a square tile by r columns,
        c = r + u mod C, puts equal offsets into one column u.
"""

from __future__ import annotations

import math
from typing import Any, Iterator

import torch
import triton
import triton.language as tl

from .bins import FIRST_BAND, OffsetBins, row_tiles
from .tiles import APART, REGULAR, Scores, Span, TileSums, weight_tiles

SQUARE = 64                      # rows and columns of a near tile
ROWS, COLUMNS = 128, 64          # of a far tile
WARPS, STAGES = 4, 3
FIRST_KEYS = 8                   # most first keys of a document that may be apart
OUTPUT_BYTES = 128 << 20         # of one launch; heads are divided into as many launches as that needs
_END = 1 << 28                   # larger than any offset


@triton.jit
def _floor_div(a, b):
    return tl.where(a >= 0, a // b, -((-a + b - 1) // b))


@triton.jit
def _keys_at(keys, j, stride_t, stride_d, BD: tl.constexpr):
    return keys + j[None, :].to(tl.int64) * stride_t + tl.arange(0, BD)[:, None] * stride_d


@triton.jit
def _load(at, D: tl.constexpr, BD: tl.constexpr):
    if D == BD:
        return tl.load(at)
    return tl.load(at, mask=tl.arange(0, BD)[:, None] < D, other=0.0)


@triton.jit
def _checked(q, keys, stride_t, stride_d, mask, mask_t, mask_j, n, m, rows, k0, k1, scale, cap, before, after,
             R: tl.constexpr, C: tl.constexpr, D: tl.constexpr, BD: tl.constexpr, CAUSAL: tl.constexpr, WINDOW: tl.constexpr,
             MASKED: tl.constexpr, CAPPED: tl.constexpr, PRECISION: tl.constexpr):
    """Computes the scores of a tile, where forbidden pairs get -1e38. Gives the scores, the tile's offsets and its keys."""
    c = tl.arange(0, C)
    j = m + n * C + c
    ok = (j >= k0) & (j < k1)
    k = tl.load(_keys_at(keys, j, stride_t, stride_d, BD), mask=(tl.arange(0, BD)[:, None] < D) & ok[None, :], other=0.0)
    s = tl.dot(q, k, input_precision=PRECISION) * scale
    if CAPPED:
        s = cap * (1.0 - 2.0 / (1.0 + tl.exp(2.0 * s / cap)))
    t = n * C + c[None, :] - tl.arange(0, R)[:, None]
    allowed = ok[None, :] & (rows[:, None] >= 0)
    if CAUSAL:
        allowed = allowed & (t <= 0)
    if WINDOW:
        allowed = allowed & (t > -before) & (t < after)
    if MASKED > 0:
        at = mask + rows[:, None].to(tl.int64) * mask_t + j[None, :].to(tl.int64) * mask_j
        if MASKED == 1:
            allowed = allowed & (tl.load(at, mask=allowed, other=0) != 0)
        else:
            added = tl.load(at, mask=allowed, other=-1e38).to(tl.float32)
            allowed = allowed & (added > -5000.0)   # tiles.MASKED
            s = s + tl.where(allowed, added, 0.0)
    return tl.where(allowed, s, -1e38), t, j


@triton.jit
def _far(Q, K, SINKS, MASK, STARTS, ENDS, BATCH, TABLE, BINS, FACTORS, LOGS, STATS,
         q_b, q_h, q_t, q_d, k_b, k_h, k_t, k_d, m_b, m_h, m_t, m_j, l_b, l_h,
         head, heads, group, shift, k0, k1, first, apart, scale, cap, before, after, n_before, n_bins, near_first, near_last,
         R: tl.constexpr, C: tl.constexpr, D: tl.constexpr, BD: tl.constexpr, CAUSAL: tl.constexpr, WINDOW: tl.constexpr, MASKED: tl.constexpr,
         CAPPED: tl.constexpr, SINK: tl.constexpr, PRECISION: tl.constexpr):
    """The far pass: denominators, entropies, and the sum of each row over each far bin, relative to the row's reference."""
    LOG2E: tl.constexpr = 1.4426950408889634
    block = tl.num_programs(0) - 1 - tl.program_id(0)
    h = head + tl.program_id(1)
    document = tl.program_id(2)
    b = tl.load(BATCH + document).to(tl.int64)
    r0, end = tl.load(STARTS + block), tl.load(ENDS + block)
    r, d = tl.arange(0, R), tl.arange(0, BD)
    rows = tl.where(r0 + r < end, r0 + r, -1)
    q = tl.load(Q + b * q_b + h * q_h + rows[:, None].to(tl.int64) * q_t + d[None, :] * q_d, mask=(rows[:, None] >= 0) & (d[None, :] < D), other=0.0)
    keys = K + b * k_b + (h // group).to(tl.int64) * k_h
    mask = MASK + b * m_b + h * m_h
    row_at = document.to(tl.int64) * l_b + h * l_h + rows
    m = r0 + shift
    lo, hi = _floor_div(k0 - m, C), _floor_div(k1 - 1 - m, C)
    if CAUSAL:
        hi = tl.minimum(hi, (R - 1) // C)
    if WINDOW:
        lo, hi = tl.maximum(lo, -((before + C) // C) - 1), tl.minimum(hi, (after + R) // C + 1)
    total, scored = tl.zeros([R], tl.float32), tl.zeros([R], tl.float32)
    reference = tl.full([R], -1e38, tl.float32)
    for n in range(lo, tl.minimum(tl.minimum(lo + 2, near_first), hi + 1)):   # the first tiles only raise the reference
        s, t, j = _checked(q, keys, k_t, k_d, mask, m_t, m_j, n, m, rows, k0, k1, scale, cap, before, after,
                           R, C, D, BD, CAUSAL, WINDOW, MASKED, CAPPED, PRECISION)
        reference = tl.maximum(reference, tl.max(s, 1))
    for n in range(tl.maximum(lo, near_first), tl.minimum(hi, near_last) + 1):
        s, t, j = _checked(q, keys, k_t, k_d, mask, m_t, m_j, n, m, rows, k0, k1, scale, cap, before, after,
                           R, C, D, BD, CAUSAL, WINDOW, MASKED, CAPPED, PRECISION)
        higher = tl.maximum(reference, tl.max(s, 1))
        less = tl.exp2((reference - higher) * LOG2E)
        p = tl.where(s > -1e37, tl.exp2((s - higher[:, None]) * LOG2E), 0.0)
        total, scored = total * less + tl.sum(p, 1), scored * less + tl.sum(p * s, 1)
        reference = higher
    reference = tl.where(reference > -1e37, reference, 0.0)   # rows that saw no key so far
    fast, reference2 = scale * LOG2E, reference * LOG2E
    out = ((document.to(tl.int64) * heads + h - head) * tl.num_programs(0) + block) * n_bins
    carry = tl.zeros([R], tl.float32)
    for row in range(0, n_bins):
        pure, pure_end = tl.load(TABLE + row * 4), tl.load(TABLE + row * 4 + 1)
        mixed_end, edge = tl.load(TABLE + row * 4 + 2), tl.load(TABLE + row * 4 + 3)
        x0, x4 = tl.maximum(pure, lo), tl.minimum(mixed_end, hi + 1)
        x1 = tl.maximum(x0, tl.minimum(lo + 2, x4))        # the first two tiles may begin before k0, or hold first keys
        x3 = tl.maximum(x1, tl.minimum(hi, x4))            # the last tile may end after k1
        if WINDOW or MASKED > 0 or CAPPED:
            x1 = tl.maximum(x0, x4)
            x3 = x1
        x2 = tl.minimum(tl.maximum(x1, pure_end), x3)
        if row == n_before:
            carry = tl.zeros([R], tl.float32)
        here = carry
        carry = tl.zeros([R], tl.float32)
        for n in range(x0, x1):
            s, t, j = _checked(q, keys, k_t, k_d, mask, m_t, m_j, n, m, rows, k0, k1, scale, cap, before, after,
                               R, C, D, BD, CAUSAL, WINDOW, MASKED, CAPPED, PRECISION)
            p = tl.where(s > -1e37, tl.exp2((s - reference[:, None]) * LOG2E), 0.0)
            total += tl.sum(p, 1)
            scored += tl.sum(p * s, 1)
            p = tl.where(((j - first >= 0) & (j - first < apart))[None, :], 0.0, p)
            below = tl.sum(tl.where(t < edge, p, 0.0), 1)
            here += below
            carry += tl.sum(p, 1) - below
        some, raw = tl.zeros([R], tl.float32), tl.zeros([R], tl.float32)
        at = _keys_at(keys, m + x1 * C + tl.arange(0, C), k_t, k_d, BD)
        for n in range(x1, x2):                            # most tiles: nothing to check, one bin
            s = tl.dot(q, _load(at, D, BD), input_precision=PRECISION)
            at += C * k_t
            p = tl.exp2(s * fast - reference2[:, None])
            some += tl.sum(p, 1)
            raw += tl.sum(p * s, 1)
        here += some
        total += some
        for n in range(x2, x3):
            s = tl.dot(q, _load(at, D, BD), input_precision=PRECISION)
            at += C * k_t
            p = tl.exp2(s * fast - reference2[:, None])
            t = n * C + tl.arange(0, C)[None, :] - r[:, None]
            both = tl.sum(p, 1)
            below = tl.sum(tl.where(t < edge, p, 0.0), 1)
            raw += tl.sum(p * s, 1)
            total += both
            here += below
            carry += both - below
        scored += raw * scale
        for n in range(x3, x4):
            s, t, j = _checked(q, keys, k_t, k_d, mask, m_t, m_j, n, m, rows, k0, k1, scale, cap, before, after,
                               R, C, D, BD, CAUSAL, WINDOW, MASKED, CAPPED, PRECISION)
            p = tl.where(s > -1e37, tl.exp2((s - reference[:, None]) * LOG2E), 0.0)
            total += tl.sum(p, 1)
            scored += tl.sum(p * s, 1)
            p = tl.where(((j - first >= 0) & (j - first < apart))[None, :], 0.0, p)
            below = tl.sum(tl.where(t < edge, p, 0.0), 1)
            here += below
            carry += tl.sum(p, 1) - below
        tl.store(BINS + (out + row) * R + r, here)
    whole = total
    if SINK:
        whole += tl.exp2((tl.load(SINKS + h).to(tl.float32) - reference) * LOG2E)
    seen = (total > 0) & (rows >= 0)
    logs = tl.where(seen, reference + tl.log(whole), float("inf"))
    factor = tl.where(seen, 1.0 / whole, 0.0)
    tl.store(LOGS + row_at, logs, mask=rows >= 0)
    at = out // n_bins
    tl.store(FACTORS + at * R + r, factor)
    tl.store(STATS + at * 2, tl.sum(tl.where(seen, (logs * total - scored) * factor, 0.0), 0))
    tl.store(STATS + at * 2 + 1, tl.sum(tl.where(seen, total * factor, 0.0), 0))


@triton.jit
def _near(Q, K, LOGS, MASK, STARTS, ENDS, BATCH, NEAR, ROWS_APART,
          q_b, q_h, q_t, q_d, k_b, k_h, k_t, k_d, m_b, m_h, m_t, m_j, l_b, l_h,
          head, heads, queries, group, shift, k0, k1, first, apart, scale, cap, before, after, near_first, near_last, count,
          C: tl.constexpr, D: tl.constexpr, BD: tl.constexpr, CAUSAL: tl.constexpr,
          WINDOW: tl.constexpr, MASKED: tl.constexpr, CAPPED: tl.constexpr, PRECISION: tl.constexpr):
    """The near pass: sums along the diagonals of near tiles, and each row's weight on each key that is counted apart."""
    LOG2E: tl.constexpr = 1.4426950408889634
    block = tl.program_id(0)
    h = head + tl.program_id(1)
    document = tl.program_id(2)
    b = tl.load(BATCH + document).to(tl.int64)
    r0, end = tl.load(STARTS + block), tl.load(ENDS + block)
    r, u, d = tl.arange(0, C), tl.arange(0, C), tl.arange(0, BD)
    rows = tl.where(r0 + r < end, r0 + r, -1)
    q = tl.load(Q + b * q_b + h * q_h + rows[:, None].to(tl.int64) * q_t + d[None, :] * q_d, mask=(rows[:, None] >= 0) & (d[None, :] < D), other=0.0)
    logs = tl.load(LOGS + document.to(tl.int64) * l_b + h * l_h + rows, mask=rows >= 0, other=float("inf"))
    keys = K + b * k_b + (h // group).to(tl.int64) * k_h
    mask = MASK + b * m_b + h * m_h
    at = (document.to(tl.int64) * heads + h - head) * tl.num_programs(0) + block
    rows_apart = ROWS_APART + ((document.to(tl.int64) * heads + h - head) * queries + rows[:, None]) * apart
    m = r0 + shift
    lo, hi = _floor_div(k0 - m, C), _floor_div(k1 - 1 - m, C)
    if CAUSAL:
        hi = tl.minimum(hi, 0)
    if WINDOW:
        lo, hi = tl.maximum(lo, -((before + C) // C) - 1), tl.minimum(hi, (after + C) // C + 1)
    carry = tl.zeros([C], tl.float32)
    turned = (r[:, None] + u[None, :]) % C
    ahead = (r[:, None] + u[None, :]) < C
    out = NEAR + at * count * C + u
    begin, last = tl.maximum(lo, near_first), tl.minimum(hi, near_last)
    firsts_end = tl.minimum(tl.minimum(lo + 2, begin), hi + 1)    # tiles of the first keys, if they are not near
    for step in range(lo, firsts_end + tl.maximum(last + 1 - begin, 0)):
        n = tl.where(step < firsts_end, step, step - firsts_end + begin)
        s, t, j = _checked(q, keys, k_t, k_d, mask, m_t, m_j, n, m, rows, k0, k1, scale, cap, before, after,
                           C, C, D, BD, CAUSAL, WINDOW, MASKED, CAPPED, PRECISION)
        p = tl.where(s > -1e37, tl.exp2((s - logs[:, None]) * LOG2E), 0.0)
        c = (j - first)[None, :]
        tl.store(rows_apart + c, p, mask=(rows[:, None] >= 0) & (c >= 0) & (c < apart))
        if step >= firsts_end:
            g = tl.gather(tl.where((c >= 0) & (c < apart), 0.0, p), turned, 1)
            tl.store(out + (n - near_first) * C, carry + tl.sum(tl.where(ahead, 0.0, g), 0))
            carry = tl.sum(tl.where(ahead, g, 0.0), 0)
    if last >= begin:
        tl.store(out + (last + 1 - near_first) * C, carry)


def far_table(bins: OffsetBins, rows: int, columns: int) -> tuple[list[list[int]], list[int], int, tuple[int, int], tuple[int, int]]:
    """Finds the tiles (of `rows` by `columns`) that lie within one far bin, and the tiles that contain an edge between two bins.

    Returns:
        for each far bin, by offset: first tile within the bin, end of these tiles, end of the tiles with the edge after the bin, that edge;
        the number of each far bin (-1: none); number of far bins before the query; first and last near offset; first and last tile with near
        offsets only
    """
    def begin(edge: int) -> int:    # first tile with offsets >= edge only
        return -((-(edge + rows - 1)) // columns)

    def end(edge: int) -> int:      # one after the last tile with offsets < edge only
        return (edge - columns) // columns + 1

    starts, stops = [int(t) for t in bins.first], [int(t) + 1 for t in bins.last]
    near = bins.count - 2           # the last near bin
    while near > bins.centre and all(begin(a) <= end(z) for a, z in ((starts[near], stops[near]), (1 - stops[near], 1 - starts[near]))):
        near -= 1
    mirrored = bins.count - 1 - near    # far bins on each side, and the first near bin
    before = [[-_END if b == 0 else begin(starts[b]), end(stops[b]), begin(stops[b]), stops[b]] for b in range(mirrored)]
    edge = starts[near + 1]
    after = [[begin(edge), end(edge), begin(edge), edge]]    # tiles with the edge between near and far: offsets below it are near
    after[0][0] = end(edge)
    after += [[begin(starts[b]), _END if b == bins.count - 1 else end(stops[b]), _END if b == bins.count - 1 else begin(stops[b]),
               _END if b == bins.count - 1 else stops[b]] for b in range(near + 1, bins.count)]
    of = [*range(mirrored), -1, *range(near + 1, bins.count)]
    return before + after, of, mirrored, (starts[mirrored], starts[near + 1] - 1), (begin(starts[mirrored]), end(edge) - 1)


class Kernel:
    """Sums spans by the kernels.

    Args:
        always: True: use the kernels on any device, by Triton's interpreter if the device is no GPU; False: only on GPUs
    """

    def __init__(self, always: bool = False) -> None:
        self._always = always
        self._tables: dict[Any, Any] = {}

    def takes(self, scores: Scores, span: Span) -> bool:
        """Whether the kernels can sum these documents. Otherwise tiles.py sums them."""
        firsts = list(range(span.k0, span.k0 + len(span.apart_keys)))
        return ((scores.query.is_cuda or self._always) and scores.weights is None and scores.bias is None and not callable(scores.mask)
                and scores.query.shape[3] <= 256 and scores.query.dtype in (torch.float32, torch.float16, torch.bfloat16)
                and span.apart_keys == firsts and len(firsts) <= FIRST_KEYS)

    def sums(self, scores: Scores, span: Span, bins: OffsetBins, cells: list[tuple[int, int, float]] | None) -> Iterator[tuple[TileSums, float]]:
        """Computes sums of a span, or of sampled cells of its rows, each with the number of rows that a row stands for."""
        groups = []
        for r0, r1, factor in cells if cells is not None else [(span.q0, span.q1, 1.0)]:
            # Without a causal mask tiles.py sums the rows apart, since all of their pairs are apart.
            apart = [] if scores.causal else [i for i in span.apart_queries if r0 <= i < r1]
            after = max(apart, default=r0 - 1) + 1
            if apart and (added := weight_tiles(scores, span, r0, after, bins, OUTPUT_BYTES)) is not None:
                yield added, factor
            if after < r1:
                groups.append((after, r1, factor))
        if groups and (sums := self._launch(scores, span, bins, groups)) is not None:
            yield sums, 1.0
            return
        for r0, r1, factor in groups:
            for rows in row_tiles(r0, r1, FIRST_BAND):
                if (added := weight_tiles(scores, span, *rows, bins, OUTPUT_BYTES)) is not None:
                    yield added, factor

    def _launch(self, scores: Scores, span: Span, bins: OffsetBins, groups: list[tuple[int, int, float]]) -> TileSums | None:
        """Computes sums over groups of rows of a span. None if scores exceed the reference by too much."""
        device, (_, heads, queries, width), n = scores.query.device, scores.query.shape, len(span.rows)
        far_bins, keep, table, n_before, (low, high), near_tiles = self._table(bins, device)
        batch = torch.tensor(span.rows, dtype=torch.int32, device=device)
        mask = scores.mask
        m_strides = [0, 0, 0, 0]
        if mask is not None:
            mask = mask.view(torch.uint8) if mask.dtype == torch.bool else mask
            m_strides = [mask.stride(a) if mask.shape[a] > 1 or a > 1 else 0 for a in range(4)]
        shared = dict(D=width, BD=max(16, triton.next_power_of_2(width)), CAUSAL=scores.causal, WINDOW=any(scores.window),
                      MASKED=0 if mask is None else 1 if mask.dtype == torch.uint8 else 2, CAPPED=bool(scores.soft_cap),
                      PRECISION="tf32x3" if scores.query.dtype == torch.float32 else "tf32")
        group, cap = heads // scores.key.shape[1], float(scores.soft_cap or 1)
        held = scores.query if mask is None else mask
        start = span.k0 - span.place                # key at which the document begins
        apart = len(span.apart_keys) + span.place   # number of keys from there that are apart
        strides = (*scores.query.stride(), *scores.key.stride(), *m_strides)
        numbers = (scores.shift, span.k0, span.k1, start, apart, scores.scale, cap, *(w if w else _END for w in scores.window))
        logs = torch.full((n, heads, queries), math.inf, dtype=torch.float32, device=device)
        weight = torch.zeros(n, 2, heads, bins.count, dtype=torch.float64, device=device)
        stats = torch.zeros(n, heads, 2, dtype=torch.float64, device=device)

        # The far walk.
        starts, ends, stands_for = _blocks(groups, ROWS, device)
        blocks = len(starts)
        sinks = scores.query if scores.sinks is None else scores.sinks
        some = max(1, min(heads, OUTPUT_BYTES // (4 * n * blocks * len(keep) * ROWS)))

        for head in range(0, heads, some):
            count = min(some, heads - head)
            part = slice(head, head + count)
            rows = torch.empty(n, count, blocks, len(keep), ROWS, dtype=torch.float32, device=device)
            factors = torch.empty(n, count, blocks, ROWS, dtype=torch.float32, device=device)
            sums = torch.empty(n, count, blocks, 2, dtype=torch.float32, device=device)
            _far[(blocks, count, n)](scores.query, scores.key, sinks, held, starts, ends, batch, table, rows, factors, logs, sums, *strides,
                                     *logs.stride()[:2], head, count, group, *numbers, n_before, len(keep), *near_tiles, R=ROWS, C=COLUMNS,
                                     SINK=scores.sinks is not None, num_warps=WARPS, num_stages=STAGES if width <= 128 else 2, **shared)
            far = torch.einsum("nhbkr,nhbr->nhbk", rows, factors)
            weight[:, REGULAR, part].index_add_(-1, far_bins, torch.einsum("nhbk,b->nhk", far.double(), stands_for)[..., keep])
            stats[:, part] = torch.einsum("nhbs,b->nhs", sums.double(), stands_for)
        if not (torch.isfinite(weight).all() & torch.isfinite(stats).all()):
            return None

        # The near walk.
        starts, ends, stands_for = _blocks(groups, SQUARE, device)
        blocks = len(starts)
        tile_first, tile_last = low // SQUARE, high // SQUARE + 1
        tiles = tile_last - tile_first + 2
        some = max(1, min(heads, OUTPUT_BYTES // (4 * n * (blocks * tiles * SQUARE + queries * apart))))
        offset = low - (tile_first - 1) * SQUARE
        inside = slice(offset, offset + high - low + 1)
        near_bins = bins.of(low, high - low + 1, device)
        rows = torch.cat([torch.arange(r0, r1, device=device) for r0, r1, _ in groups])
        row_factor = torch.cat([torch.full((r1 - r0,), factor, dtype=torch.float64, device=device) for r0, r1, factor in groups])
        first_row, last_row = groups[0][0], groups[-1][1] - 1
        for head in range(0, heads, some):
            count = min(some, heads - head)
            part = slice(head, head + count)
            near = torch.zeros(n, count, blocks, tiles * SQUARE, dtype=torch.float32, device=device)
            rows_apart = torch.zeros(n, count, queries, max(apart, 1), dtype=torch.float32, device=device)
            _near[(blocks, count, n)](scores.query, scores.key, logs, held, starts, ends, batch, near, rows_apart, *strides,
                                      *logs.stride()[:2], head, count, queries, group, *numbers, tile_first, tile_last, tiles,
                                      C=SQUARE, num_warps=4, num_stages=2, **shared)
            weight[:, REGULAR, part].index_add_(-1, near_bins, torch.einsum("nhbt,b->nht", near.double(), stands_for)[..., inside])
            for j in span.apart_keys:
                of_rows = bins.of(j - last_row - scores.shift, last_row - first_row + 1, device)[last_row - rows]
                weight[:, APART, part].index_add_(-1, of_rows, rows_apart[..., rows, j - start].double() * row_factor)
        return TileSums(weight, stats[..., 0], stats[..., 1])

    def _table(self, bins: OffsetBins, device: torch.device) -> tuple[Any, ...]:
        at = (id(bins), device, ROWS, COLUMNS)
        if at not in self._tables:
            table, of, n_before, near, near_tiles = far_table(bins, ROWS, COLUMNS)
            keep = torch.tensor([b >= 0 for b in of], device=device)
            self._tables[at] = (torch.tensor([b for b in of if b >= 0], device=device), keep, torch.tensor(table, dtype=torch.int32, device=device),
                                n_before, near, near_tiles)
        return self._tables[at]


def _blocks(groups: list[tuple[int, int, float]], rows: int, device: torch.device) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Makes blocks of at most `rows` query rows: their first rows, their ends, and the number of rows that each row stands for."""
    starts, ends, factors = zip(*((r, min(r + rows, r1), factor) for r0, r1, factor in groups for r in range(r0, r1, rows)))
    return *(torch.tensor(of, dtype=torch.int32, device=device) for of in (starts, ends)), torch.tensor(factors, dtype=torch.float64, device=device)
