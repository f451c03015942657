"""Sums for the program's head types (analysis/attention/head_types.h). A head's score is a mean over a document's queries."""

from __future__ import annotations

import numpy as np
import torch

from .tiles import by_offset

SCORES = ("previous", "next", "duplicate", "duplicate_baseline", "induction", "induction_baseline", "entropy", "entropy_share", "sink_first",
          "sink_weight", "special_weight", "learned_sink")
REACH = 8   # largest |t| at which a query's largest weight is recorded, in tokens


class HeadScores:
    """Sums of one layer's scores over documents.

    Attributes:
        head_score, head_score_documents: (scores, heads) sum of the scores of documents, and number of documents with a defined score
        argmax_share: (heads, 2 REACH + 1) sum over documents of the share of queries whose largest weight is at each offset
        argmax_documents: (heads) number of documents in argmax_share
        sink_position: (heads) key with the largest mean weight in document 0; -1: unknown
    """

    def __init__(self, heads: int, causal: bool, special: bool, sinks: bool, device: torch.device) -> None:
        self.causal, self.special, self.sinks = causal, special, sinks

        def zeros(*shape: int) -> torch.Tensor:
            return torch.zeros(*shape, dtype=torch.float64, device=device)

        self.head_score, self.head_score_documents = zeros(len(SCORES), heads), zeros(len(SCORES), heads)
        self.argmax_share, self.argmax_documents = zeros(heads, 2 * REACH + 1), zeros(heads)
        self.sink_position = torch.full((heads,), -1, device=device)

    def add(self, of: "DocumentScores", numbers: list[int]) -> None:
        """Adds documents. `numbers` are the numbers of these documents."""
        scores = of.sum / of.count                      # 0 / 0 is NaN: undefined
        live = torch.where(of.live > 0, of.live, torch.nan)
        # Keys that less than a quarter of the queries may look at have no mean.
        length = of.columns.shape[-1]
        queries = torch.arange(length, 0, -1, device=live.device) if self.causal else torch.full((length,), length, device=live.device)
        alpha = (of.columns / queries)[..., 4 * queries >= length]
        top = alpha.amax(-1)
        scores[:, SCORES.index("sink_first")] = torch.where(of.live > 0, alpha[..., 0], torch.nan)
        scores[:, SCORES.index("sink_weight")] = torch.where(of.live > 0, top, torch.nan)
        if self.special and of.knows_ids:
            scores[:, SCORES.index("special_weight")] = of.columns[..., of.special].sum(-1) / live
        self.head_score += scores.masked_fill(scores.isnan(), 0).sum(0)
        self.head_score_documents += (~scores.isnan()).sum(0)
        self.argmax_share += (of.argmax / of.live.clamp(min=1)[..., None]).sum(0)
        self.argmax_documents += (of.live > 0).sum(0)
        if 0 in numbers:
            n = numbers.index(0)
            places = torch.arange(alpha.shape[-1], device=live.device)
            first = torch.where(alpha[n] == top[n, :, None], places, length).amin(-1)
            self.sink_position = torch.where(of.live[n] > 0, first, -1)


class DocumentScores:
    """Scores of n documents of T tokens in one layer, which are summed tile by tile.

    Args:
        ids: token ids of each document; empty: unknown
        special: token positions of special tokens

    Attributes:
        sum, count: (n, scores, heads) sum over queries, and number of queries
        argmax: (n, heads, 2 REACH + 1) number of queries whose largest weight is at each offset
        live: (n, heads) number of queries with any weight
        columns: (n, heads, T) sum of the weights on each key
        knows_ids: whether ids, and with them special tokens, are known
    """

    def __init__(self, sums: HeadScores, ids: list[torch.Tensor], special: list[int], n: int, length: int) -> None:
        heads, device = sums.head_score.shape[1], sums.head_score.device
        self._sums, self._length, self.special = sums, length, special
        self.sum = torch.zeros(n, len(SCORES), heads, dtype=torch.float64, device=device)
        self.count = torch.zeros_like(self.sum)
        self.argmax = torch.zeros(n, heads, 2 * REACH + 1, dtype=torch.float64, device=device)
        self.live = torch.zeros(n, heads, dtype=torch.float64, device=device)
        self.columns = torch.zeros(n, heads, length, dtype=torch.float64, device=device)
        self.knows_ids = bool(ids)
        self._ids = torch.stack(ids).to(device) if ids else None
        if self._ids is not None:
            first = [np.unique(one.numpy(), return_index=True, return_inverse=True)[1:] for one in ids]
            self._first = torch.from_numpy(np.stack([index[inverse] for index, inverse in first])).to(device)   # first place of each token's id

    def see(self, padded: torch.Tensor, entropy: torch.Tensor, allowed: torch.Tensor, opened: torch.Tensor, i: torch.Tensor, j: torch.Tensor,
            heads: slice) -> None:
        """Adds a tile of query rows of some heads.

        Args:
            padded: (n, heads, rows, keys + rows) weights as in padded_for(), 0 where `allowed` (n or 1, 1, rows, keys) is False
            entropy: (n, heads, rows) entropy of each row's weights, in nats
            opened: (n or 1, rows) number of keys that each row may attend to
            i, j: positions in the document of the tile's query rows, in reverse, and of its keys
        """
        weights = padded[..., :len(j)]
        top = weights.amax(-1)
        live = top > 0
        self.live[:, heads] += live.sum(-1)
        self.columns[:, heads, int(j[0]):int(j[-1]) + 1] += weights.sum(-2).double()
        entropy, given = entropy.double(), None
        if self._sums.sinks:
            given = weights.sum(-1).double()
            self._add("learned_sink", heads, 1 - given, live)
            entropy = (entropy / given + given.log()).masked_fill(~live, 0)
        entropy = entropy.clamp(min=0)
        several = (opened > 1)[:, None]
        self._add("entropy", heads, entropy, live)
        self._add("entropy_share", heads, entropy / opened[:, None].clamp(min=2).log(), live & several)
        self._add_offsets(padded, top, live, i, j, heads)
        if self._ids is not None:
            self._add_copies(padded, allowed[:, 0], opened, live, given, i, j, heads)

    def _add(self, name: str, heads: slice, values: torch.Tensor, there: torch.Tensor) -> None:
        score = SCORES.index(name)
        self.sum[:, score, heads] += (values * there).sum(-1)
        self.count[:, score, heads] += there.sum(-1)

    def _add_offsets(self, padded: torch.Tensor, top: torch.Tensor, live: torch.Tensor, i: torch.Tensor, j: torch.Tensor, heads: slice) -> None:
        """Adds the weights on neighbours, and the offset of each row's largest weight. Ties go to the nearest key, then to the left one."""
        first = int(j[0] - i[0])   # offset of the tile's first diagonal
        low, high = max(first, -REACH), min(first + len(i) + len(j) - 2, REACH)
        t = torch.arange(low, high + 1, device=top.device)
        near = by_offset(padded)[..., low - first:high - first + 1]
        for name, offset in (("previous", -1), ("next", 1)):
            if low <= offset <= high:
                self.sum[:, SCORES.index(name), heads] += near[..., offset - low].sum(-1).double()
        rank = 2 * t.abs() - (t < 0).long()
        largest = (near == top[..., None]) & live[..., None]
        chosen = torch.where(largest, rank, 2 * REACH + 1)
        self.argmax[:, heads, low + REACH:high + REACH + 1] += (largest & (chosen == chosen.amin(-1, keepdim=True))).sum(-2)
        self.count[:, SCORES.index("previous"), heads] += live[..., i > 0].sum(-1)
        if not self._sums.causal:
            self.count[:, SCORES.index("next"), heads] += live[..., i + 1 < self._length].sum(-1)

    def _add_copies(self, padded: torch.Tensor, allowed: torch.Tensor, opened: torch.Tensor, live: torch.Tensor, given: torch.Tensor | None,
                    i: torch.Tensor, j: torch.Tensor, heads: slice) -> None:
        """Adds the weights on earlier copies of the query's token, and on the tokens after them."""
        own, first = self._ids[:, i, None], self._first[:, i]
        copies = padded.new_zeros(len(own), 2, *padded.shape[-2:])
        kinds = ("duplicate", j, first < i), ("induction", j - 1, first < i - 1)
        for place, (name, keys, has) in zip(copies.unbind(1), kinds):
            same = (own == self._ids[:, None, keys.clamp(min=0)]) & (keys >= 0) & (j < i[:, None])
            place[..., :len(j)] = same
            baseline = ((same & allowed).sum(-1) / opened.clamp(min=1))[:, None]
            there = live & has[:, None]
            self.count[:, SCORES.index(name), heads] += there.sum(-1)
            self._add(f"{name}_baseline", heads, baseline if given is None else baseline * given, there)
        sums = torch.bmm(copies.flatten(2), padded.flatten(2).mT).double()
        for place, (name, _, _) in enumerate(kinds):
            self.sum[:, SCORES.index(name), heads] += sums[:, place]
