"""Sums as the program computes them: traces and their null (analysis/attention/offset_trace.h), and scores of heads (head_scores.py).

Each document has three traces with a null: of all pairs, of pairs without special tokens, and of pairs without special and first tokens.
A fourth trace, of pairs without the first token, serves the account and has no null. A trace is

    tr_t = sum_i A[i, i+t]                                                                      (1)

The null has the moments of (1) for a head that ignores where a key is. The moments come from the weights that each key gets from
all queries, or under a causal mask from the weights that each query gives, minus uniform attention.
"""

from __future__ import annotations

import functools

import numpy as np
import torch

from .. import _core
from ..errors import FormatError
from .head_scores import DocumentScores, HeadScores
from .tiles import APART, REGULAR, Scores, Span

PAIRS = 3                 # kinds of pairs: all, without special tokens, without special and first tokens
WITHOUT_FIRST = 3         # one more kind, for the account, without null


class Traces:
    """Sums of one layer's attention along diagonals, over documents.

    Args:
        exact: largest |t| of traces, in tokens; the largest |t| of the null is half of it
        length: number of tokens of the first document; documents are compared at pairs of its token positions
        causal: whether keys after their query are forbidden
        special: whether special tokens are known
        sinks: whether heads have learned sinks, so that the weights of a query may sum to less than 1
    """

    def __init__(self, scores: Scores, exact: int, length: int, causal: bool, special: bool, sinks: bool) -> None:
        device, heads = scores.query.device, scores.query.shape[1]
        self.exact, self.reach, self.causal, self.length = exact, exact // 2, causal, length
        offsets, near = 2 * exact + 1, 2 * self.reach + 1

        def zeros(*shape: int) -> torch.Tensor:
            return torch.zeros(*shape, dtype=torch.float64, device=device)

        self.trace, self.trace_mean = zeros(PAIRS, heads, offsets), zeros(PAIRS, heads, offsets)
        self.trace_count, self.trace_documents = zeros(PAIRS, offsets), zeros(PAIRS, offsets)
        self.null_weight, self.null_variance, self.null_deviation, self.null_third, self.null_root = (zeros(PAIRS, heads, near) for _ in range(5))
        self.null_documents = zeros(PAIRS, near)
        pairs = place_pairs(length, causal)
        self._group_count = int(pairs[2].max(initial=-1)) + 1
        self.query, self.key, self.groups = (torch.from_numpy(of).to(device) for of in pairs)
        self.place_sum, self.place_documents = zeros(heads, len(self.query)), zeros(len(self.query))
        self.place_squares = zeros(heads)
        self.scores = HeadScores(heads, causal, special, sinks, device)
        self.by_document: list[np.ndarray] = []   # (heads, near) of all pairs; NaN: no pair
        self.lengths: list[int] = []              # tokens of each document
        self.numbers: list[int] = []              # of each document

    def add(self, of: "TracedDocuments", span: Span) -> None:
        """Adds documents after their last tile."""
        self.numbers += span.documents
        self.scores.add(of.scores, span.documents)
        self._add_traces(of, span.q1 - span.q0)
        self._add_null(of)
        self._add_places(of)

    def _add_traces(self, of: "TracedDocuments", length: int) -> None:
        # Pairs at each offset, whatever a window allows.
        counts = torch.stack([of.along(kind).sum(0) for kind in range(PAIRS)])
        self.trace += of.trace[:, :PAIRS].sum(0)
        self.trace_mean += (of.trace[:, :PAIRS] / counts.clamp(min=1)[:, None]).sum(0)
        self.trace_count += len(of.trace) * counts
        self.trace_documents += len(of.trace) * (counts > 0)
        near = slice(self.exact - self.reach, self.exact + self.reach + 1)
        own = torch.where(counts[0, near] > 0, of.trace[:, 0, :, near], torch.nan).float().cpu().numpy()
        self.by_document.extend(own)
        self.lengths.extend([length] * len(own))

    def _add_null(self, of: "TracedDocuments") -> None:
        near = slice(self.exact - self.reach, self.exact + self.reach + 1)
        for kind in range(PAIRS):
            if of.keep[kind].sum() < 3:
                continue
            along = of.along(kind)[:, near]
            number = along.sum(0)
            there, pairs = (number > 0).double(), number.clamp(min=1)
            mean, variance, third = (there * (moment @ along) / pairs ** power for power, moment in enumerate(of.moments(kind), 1))
            self.null_weight[kind] += mean.sum(0)
            self.null_variance[kind] += variance.sum(0)
            self.null_deviation[kind] += variance.sqrt().sum(0)
            self.null_third[kind] += third.sum(0)
            self.null_root[kind] += (third.sign() * third.abs() ** (1 / 3)).sum(0)
            self.null_documents[kind] += len(of.trace) * there

    def _add_places(self, of: "TracedDocuments") -> None:
        """Adds the weights at pairs of token positions, minus the mean of their group, in units of their root mean square."""
        x, there = of.places, ~of.places.isnan()
        groups = torch.zeros(*x.shape[:2], self._group_count, dtype=x.dtype, device=x.device)
        index = self.groups.expand_as(x)
        count = groups.scatter_add(2, index, there.to(x.dtype))
        total = groups.scatter_add(2, index, x.nan_to_num())
        there &= count.gather(2, index) >= 2
        z = torch.where(there, x - (total / count.clamp(min=1)).gather(2, index), 0)
        squares = z.square().sum(2, keepdim=True)
        z = z * torch.where(squares > 0, (there.sum(2, keepdim=True) / squares.clamp(min=torch.finfo(x.dtype).tiny)).sqrt(), 1)
        self.place_sum += z.sum(0)
        self.place_squares += z.square().sum((0, 2))
        self.place_documents += there[:, 0].sum(0)


class TracedDocuments:
    """Traces of whole documents of a span in one layer, which are summed tile by tile. Traces.add() adds them after the last tile.

    Args:
        budget: memory for powers of weights, in bytes

    Attributes:
        keep: (4, T) tokens that count, by kind of pairs
        trace: (n, 4, H, 2 exact + 1) traces (1), by kind of pairs
        places: (n, H, pairs) weights at pairs of token positions; NaN: no such pair
        scores: scores of the heads (head_scores.py)
    """

    def __init__(self, sums: Traces, scores: Scores, span: Span, budget: int) -> None:
        self._sums, self._scores, self._span, self._budget = sums, scores, span, budget
        device, n, heads, length = scores.query.device, len(span.rows), scores.query.shape[1], span.q1 - span.q0
        special = [j - span.k0 for j in span.special]
        self.keep = torch.ones(PAIRS + 1, length, dtype=torch.bool, device=device)
        self.keep[1:3, special] = False
        self.keep[2:, :1] = False
        self._apart = sorted({0, *special})
        # For each kind of pairs, the first kind that keeps the same tokens.
        self._same = [next(k for k in range(PAIRS + 1) if torch.equal(self.keep[k], own)) for own in self.keep]
        self.trace = torch.zeros(n, PAIRS + 1, heads, 2 * sums.exact + 1, dtype=torch.float64, device=device)
        self.places = torch.full((n, heads, len(sums.query)), torch.nan, dtype=torch.float64, device=device)
        self.scores = DocumentScores(sums.scores, span.ids, special, n, length)
        self._along: dict[int, torch.Tensor] = {}
        # Sums of powers of weights, for each key, or under a causal mask for each query; and number of keys that a query may look at.
        self._power = torch.zeros(3, n, PAIRS, heads, length, dtype=torch.float64, device=device)
        self._open = torch.zeros(n, length, dtype=torch.float64, device=device)

    def see(self, padded: torch.Tensor, entropy: torch.Tensor, r0: int, r1: int, kb: int, ke: int, heads: slice) -> None:
        """Adds a tile of some heads' weights from tile_weights() to all sums except those by offset, which add_offsets() adds."""
        scores, span, causal = self._scores, self._span, self._sums.causal
        allowed, weights = scores.allowed(span.index, r0, r1, kb, ke)[:, :1], padded[..., :ke - kb]
        i = torch.arange(r1 - 1, r0 - 1, -1, device=weights.device) - span.q0
        j = torch.arange(kb, ke, device=weights.device) - span.k0
        opened = allowed[:, 0].sum(-1).double()
        self._open[:, i] = opened.expand(len(self._open), -1)
        self.scores.see(padded, entropy, allowed, opened, i, j, heads)
        self._add_apart(weights, r0 - span.q0, kb - span.k0, heads)
        some = max(1, self._budget // (8 * weights[:, 0].numel()))
        for first in range(0, weights.shape[1], some):
            part = weights[:, first:first + some]
            self._add_power(part, allowed, opened, i, j, slice(heads.start + first, heads.start + first + part.shape[1]))
        query, key = self._sums.query, self._sums.key
        pairs = torch.nonzero((query >= r0 - span.q0) & (query < r1 - span.q0) & (key >= kb - span.k0) & (key < ke - span.k0)).flatten()
        pairs = pairs[self.keep[2, query[pairs]] & self.keep[2, key[pairs]]]
        row, column = r1 - span.q0 - 1 - query[pairs], key[pairs] - (kb - span.k0)
        at = (row * padded.shape[-1] + column).expand(*weights.shape[:2], -1)
        value = padded.flatten(2).gather(2, at).double() * (opened[:, None, row] if causal else 1)
        self.places[:, heads].scatter_(2, pairs.expand_as(at), value.masked_fill(~allowed[:, :, row, column], torch.nan))

    @property
    def without_first(self) -> torch.Tensor:
        """Gives the traces of pairs without the first token as query or key: (n, H, 2 exact + 1)."""
        return self.trace[:, WITHOUT_FIRST]

    def add_offsets(self, weight: torch.Tensor) -> None:
        """Adds the sums of all heads by offset, TileSums.weight."""
        exact, centre = self._sums.exact, weight.shape[-1] // 2
        near = weight[..., centre - exact:centre + exact + 1]
        self.trace += near[:, REGULAR, None]
        self.trace[:, 0] += near[:, APART]

    def _add_apart(self, weights: torch.Tensor, i0: int, j0: int, heads: slice) -> None:
        """Adds the pairs that belong to some kinds of pairs only: pairs with special tokens but without the first token, and pairs with a first
        token that is not special."""
        rows, columns = weights.shape[-2:]
        ordinary = self.keep[2, i0:i0 + rows].flip(0)
        for token in self._apart:
            kind = WITHOUT_FIRST if token else 1
            if not self.keep[kind, token]:
                continue
            if i0 <= token < i0 + rows:
                self._add_line(kind, weights[..., i0 + rows - 1 - token, :] * self.keep[kind, j0:j0 + columns], j0 - token, heads)
            if j0 <= token < j0 + columns:
                self._add_line(kind, weights[..., token - j0] * ordinary, token - (i0 + rows - 1), heads)

    def _add_line(self, kind: int, values: torch.Tensor, first: int, heads: slice) -> None:
        """Adds values at consecutive offsets, from `first` on."""
        exact = self._sums.exact
        low, high = max(first, -exact), min(first + values.shape[-1] - 1, exact)
        if low <= high:
            self.trace[:, kind, heads, low + exact:high + exact + 1] += values[..., low - first:high - first + 1]

    def _add_power(self, weights: torch.Tensor, allowed: torch.Tensor, opened: torch.Tensor, i: torch.Tensor,
                   j: torch.Tensor, heads: slice) -> None:
        """Adds powers of weights between different tokens: of the weights on each key, or if causal of a query's weights minus a uniform share."""
        if self._sums.causal:
            values = (weights.double() - 1 / opened.clamp(min=1)[:, None, :, None]).mul_(allowed & (j < i[:, None]))
            axis, partners, first = -1, j, int(i[-1])
        else:
            values = weights.to(torch.float64, copy=True)
            rows = torch.nonzero((i >= j[0]) & (i <= j[-1])).flatten()
            values[..., rows, i[rows] - j[0]] = 0
            axis, partners, first = -2, i, int(j[0])
        # Partners that only some kinds of pairs keep are added separately.
        keep = self.keep[:PAIRS, partners]
        apart = torch.nonzero(~keep.all(0)).flatten()
        few = values.index_select(axis, apart).movedim(axis, -1)
        values.index_fill_(axis, apart, 0)
        power, few_power = values, few
        for n in range(3):
            if n == 1:
                power, few_power = values * values, few * few
            elif n == 2:
                power.mul_(values), few_power.mul_(few)
            if n > 0 or not self._sums.causal:
                added = torch.einsum("nhop,kp->nkho", few_power, keep[:, apart].double()) + power.sum(axis)[:, None]
                self._power[n, :, :, heads, first:first + added.shape[-1]] += added.flip(-1) if self._sums.causal else added

    def along(self, kind: int) -> torch.Tensor:
        """Marks by 1 each key, or under a causal mask each query, that belongs to a pair with offset t: (T, 2 exact + 1). Others are 0."""
        if self._same[kind] in self._along:
            return self._along[self._same[kind]]
        length = self.keep.shape[1]
        t = torch.arange(-self._sums.exact, self._sums.exact + 1, device=self.keep.device)
        own = torch.arange(length, device=self.keep.device)[:, None]
        partner = own + t if self._sums.causal else own - t
        there = (partner >= 0) & (partner < length) & ((t <= 0) | (not self._sums.causal))
        self._along[kind] = (there & self.keep[kind][:, None] & self.keep[kind][partner.clamp(0, length - 1)]).double()
        return self._along[kind]

    def moments(self, kind: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Gives mean, variance and third central moment, (n, H, T), of the weights that each key gets, or under a causal mask each query gives."""
        first, second, third = self._power[:, :, kind]
        if self._sums.causal:
            others = (self._open - 1).clamp(min=1)[:, None]
            return (1 / self._open.clamp(min=1))[:, None].expand_as(second), second / others, third / others
        givers = float(self.keep[kind].sum()) - 1
        mean, second, third = first / givers, second / givers, third / givers
        variance = (second - mean.square()).clamp(min=0) * (givers / (givers - 1))
        third = third - 3 * mean * second + 2 * mean ** 3
        # Offsets are not exchangeable where a mask forbids pairs.
        hidden = (self._open < self.keep.shape[1]).any(1)[:, None, None]
        return tuple(of.masked_fill(hidden, torch.nan) for of in (mean, variance, third))


def require_whole(scores: Scores, span: Span, first: int, rows: int | None, path: str, option: str) -> None:
    """Refuses a call that holds only a part of a document, or other rows than all.

    Args:
        option: argument of watch that needs whole documents, for the message

    Raises:
        FormatError: only part of a document is seen, or the tokens counted apart are not those of the program
    """
    why = None
    if scores.shift != 0 or span.place != 0 or (span.q0, span.q1) != (span.k0, span.k1):
        why = "sees a document in parts; call the model without a cache"
    elif span.q1 - span.q0 < 2:
        why = "sees a document of one token, which has no pair; omit the document"
    elif first != 1:
        why = f"is watched with first={first}; expected first=1, since the program counts one first token apart"
    elif rows is not None:
        why = f"is watched with rows={rows}, but the null needs every query; omit rows"
    if why:
        raise FormatError(f"watch: {option}: {path} {why}")


@functools.lru_cache(maxsize=8)
def place_pairs(length: int, causal: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gives the pairs of token positions at which the program compares documents: queries, keys, and the group of each pair."""
    return tuple(np.array(of, np.int64) for of in _core.place_pairs(length, causal))
