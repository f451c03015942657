"""Dealt profiles: what is left of a head's profile when the contents of a document's tokens are dealt to other places (docs/account.md).

With m^Q_i and m^K_j the mean query and key of a place, before rotary positions, and d^Q_i = q_i - m^Q_i, d^K_j = k_j - m^K_j the contents,
attention is computed over

    position:  m^Q_i + d^Q_rho(i),  m^K_j + d^K_pi(j)                                                       (1)
    self:      m^Q_i + d^Q_pi(i),   m^K_j + d^K_pi(j)                                                       (2)
    context:   as (2), with c(j - i) added to the scores                                                    (3)
    c(t) = mean over documents and i of scale d^Q_i . d^K_(i+t), |t| < T/2, t not 0                         (4)

rho and pi random permutations of the document's places; special tokens and the first stay. c after rotary positions, less its median at
min(8, T/8) < |t| < T/2. Documents pass by once, so means and c are those of the documents so far: of even and odd documents apart, queries dealt
with their own half's means and keys with the other's, as the program does. A document is dealt once each half has `least` before it.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
import threading
from typing import Any, Callable

import torch

from ..errors import FormatError, ShapeError
from .bins import OffsetBins
from .tiles import REGULAR, Counts, Scores, Span, diagonals, padded_for

TERMS = ("position", "self", "context")
BYTES = 1 << 30    # that means of all layers may take
DRAWS = 20         # random orders of places


class CannotDeal(FormatError):
    """Contents of this model, or of documents as long as these, cannot be dealt to other places."""


class Rotations:
    """Keeps what transformers' apply_rotary_pos_emb was given last, so that other queries and keys can be turned the same way.

    Args:
        modules: modules that compute attention
    """

    def __init__(self, modules: list[torch.nn.Module]) -> None:
        self._thread = threading.local()
        self._places = {sys.modules[type(module).__module__] for module in modules}
        self._places = {place for place in self._places if hasattr(place, "apply_rotary_pos_emb")}
        self._originals: list[tuple[Any, Callable[..., Any]]] = []

    @property
    def last(self) -> tuple[Any, ...] | None:
        """Function, its arguments, and queries and keys after, as this thread called it last."""
        return getattr(self._thread, "last", None)

    @last.setter
    def last(self, what: tuple[Any, ...] | None) -> None:
        self._thread.last = what

    def misses(self, module: torch.nn.Module) -> bool:
        """Whether a module turns queries and keys by some other function."""
        source = inspect.getsource(type(module))
        if sys.modules[type(module).__module__] not in self._places:
            return bool(re.search("rotary|rope", source, re.IGNORECASE))
        return bool(set(re.findall(r"\bapply_rot\w*", source)) - {"apply_rotary_pos_emb"})

    def begin(self) -> None:
        for place in self._places:
            original = place.apply_rotary_pos_emb
            self._originals.append((place, original))
            place.apply_rotary_pos_emb = self._keeping(original)

    def end(self) -> None:
        for place, original in self._originals:
            place.apply_rotary_pos_emb = original
        self._originals.clear()
        self.last = None

    def _keeping(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def apply(*args: Any, **kwargs: Any) -> Any:
            output = original(*args, **kwargs)
            self._keep(original, args, kwargs, output)
            return output
        return apply

    @torch.compiler.disable
    def _keep(self, *what: Any) -> None:
        self.last = what


@dataclasses.dataclass
class Turning:
    """Queries and keys before rotary positions, and how they are turned."""

    query: torch.Tensor
    key: torch.Tensor
    turned: Callable[[torch.Tensor, torch.Tensor], tuple[torch.Tensor, torch.Tensor]]


def turning(last: tuple[Any, ...] | None, scores: Scores, path: str) -> Turning:
    """Undoes rotary positions by remembering what came before them.

    Raises:
        CannotDeal: something else is done to queries or keys after they were turned
    """
    if last is None:
        return Turning(scores.query, scores.key, lambda query, key: (query, key))
    function, args, kwargs, output = last
    message = f"watch: {path} turns queries and keys in a way that watch cannot undo, as deal=True needs; watch it without deal"
    pairs = isinstance(output, tuple) and len(output) == 2 and len(args) >= 2 and all(isinstance(each, torch.Tensor) for each in args[:2])
    if not pairs or args[0].shape != output[0].shape or args[1].shape != output[1].shape:
        raise CannotDeal(message)
    width = args[0].shape[-1]
    if not (output[0].shape[:-1] == scores.query.shape[:-1] and output[1].shape[:-1] == scores.key.shape[:-1]
            and torch.equal(output[0].to(scores.query.dtype), scores.query[..., :width])
            and torch.equal(output[1].to(scores.key.dtype), scores.key[..., :width])):
        raise CannotDeal(message)

    def turned(query: torch.Tensor, key: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        q, k = function(query[..., :width], key[..., :width], *args[2:], **kwargs)
        return torch.cat([q, query[..., width:]], -1), torch.cat([k, key[..., width:]], -1)

    return Turning(torch.cat([args[0], scores.query[..., width:]], -1), torch.cat([args[1], scores.key[..., width:]], -1), turned)


class Dealing:
    """Means of one layer by place, and sums of dealt attention.

    Attributes:
        weight: (blocks, 3, H, bins) sums of weights by term, the first token neither query nor key
        pairs, uniform: (blocks, bins)
        null_weight, null_pairs, null_uniform: (draws, H, 2 reach + 1), (draws, 2 reach + 1) of the first term with
            places in random order
        dealt: documents
    """

    def __init__(self, blocks: int, scores: Scores, length: int, bins: OffsetBins, least: int, draws: int = 0) -> None:
        device, heads, kv_heads, width = scores.query.device, scores.query.shape[1], scores.key.shape[1], scores.query.shape[3]
        wide = torch.float32 if device.type == "mps" else torch.float64
        self.length, self.least, self.dealt = length, least, 0
        self.counts = [0, 0]
        self._query = torch.zeros(2, heads, length, width, dtype=torch.float32, device=device)
        self._key = torch.zeros(2, kv_heads, length, width, dtype=torch.float32, device=device)
        self._content = torch.zeros(2, heads, 2 * length - 1, dtype=wide, device=device)   # sums of (4) along diagonals
        self._contents = [0, 0]                                                             # documents in them
        self.weight = torch.zeros(blocks, len(TERMS), heads, bins.count, dtype=wide, device=device)
        self.pairs, self.uniform = (torch.zeros(blocks, bins.count, dtype=wide, device=device) for _ in range(2))
        self.reach, self._centre = bins.exact // 2, bins.centre
        self.null_weight = torch.zeros(draws, heads, 2 * self.reach + 1, dtype=wide, device=device)
        self.null_pairs, self.null_uniform = (torch.zeros(draws, 2 * self.reach + 1, dtype=wide, device=device) for _ in range(2))
        self._places: torch.Tensor | None = None   # (draws, T) places in random order, the same for every document

    @staticmethod
    def bytes_of(scores: Scores, length: int) -> int:
        """What the means of a layer take."""
        return 8 * length * scores.query.shape[3] * (scores.query.shape[1] + scores.key.shape[1])

    def add(self, scores: Scores, span: Span, before: Turning, sums_of: Callable[[Scores, Span], torch.Tensor],
            counted: list[tuple[Counts, int, float]], seed: int, blocks: int) -> None:
        """Adds the documents of a span: to the means, and dealt where there are means enough.

        Args:
            sums_of: sums of attention by offset, (2, H, bins) by kind of pair, of one document
            counted: pairs of the documents, by group of query rows
        """
        for place, (row, document) in enumerate(zip(span.rows, span.documents)):
            half = document % 2
            query = before.query[row, :, span.q0:span.q1].float()
            key = before.key[row, :, span.k0:span.k1].float()
            self._query[half] += query
            self._key[half] += key
            self.counts[half] += 1
            if min(self.counts[half] - 1, self.counts[1 - half]) < self.least:
                continue
            mean_query, mean_key = self._query[half] / self.counts[half], self._key[1 - half] / self.counts[1 - half]
            content_query, content_key = query - mean_query, key - mean_key
            one = Span([row], [document], span.q0, span.q1, span.k0, span.k1, span.place, [span.q0], [span.k0])
            stays = torch.zeros(self.length, dtype=torch.bool)
            stays[[j - span.k0 for j in span.apart_keys]] = True
            random = torch.Generator().manual_seed(seed + document)
            rho, pi = (_dealt(stays, random).to(query.device) for _ in range(2))

            def dealt(of_query: torch.Tensor, of_key: torch.Tensor, added: torch.Tensor | None = None) -> Scores:
                q, k = before.query.clone(), before.key.clone()
                q[row, :, span.q0:span.q1] = of_query.to(q.dtype)
                k[row, :, span.k0:span.k1] = of_key.to(k.dtype)
                q, k = before.turned(q, k)
                return dataclasses.replace(scores, query=q, key=k, by_offset=added)

            contents = dealt(content_query, content_key)
            self._content[half] += _mean_products(contents, one)
            self._contents[half] += 1
            order = _level_removed(self._content[half] / self._contents[half], self.length)
            placed_key = mean_key + content_key[:, pi]
            block = document % blocks
            for term, of_query, added in ((0, rho, None), (1, pi, None), (2, pi, order)):
                attention = dealt(mean_query + content_query[:, of_query], placed_key, added)
                self.weight[block, term] += sums_of(attention, one)[REGULAR]
                if term == 0 and len(self.null_weight):
                    ahead = any(bool((counts.pairs[..., self._centre + 1:] > 0).any()) for counts, _, _ in counted)
                    self._add_null(attention, one, stays, seed, causal=not ahead)
            for counts, _, _ in counted:
                at = place if counts.pairs.shape[0] > 1 else 0
                self.pairs[block] += counts.pairs[at, REGULAR]
                self.uniform[block] += counts.uniform[at, REGULAR]
            self.dealt += 1


    def _add_null(self, scores: Scores, span: Span, stays: torch.Tensor, seed: int, causal: bool) -> None:
        """Adds a document's attention by position with places in a random order p.

        The weight of query i on key j counts at t = p(j) - p(i).

        Under a causal mask, which is about the true places, it counts at t = -|p(j) - p(i)|.
        """
        device = scores.query.device
        if self._places is None:
            random = torch.Generator().manual_seed(seed)
            self._places = torch.stack([_dealt(stays, random) for _ in range(len(self.null_weight))]).to(device)
        at = torch.argsort(self._places, 1)   # which token stands at a place
        heads = slice(0, scores.query.shape[1])
        t = torch.arange(-self.reach, self.reach + 1, device=device)
        for r0 in range(span.q0, span.q1, 128):
            r1 = min(span.q1, r0 + 128)
            kb, ke = scores.keys_of(r0, r1, span.k0, span.k1)
            weights = scores.weights_of(scores.scores(span.index, heads, r0, r1, kb, ke), heads)[0][0, :, :, :ke - kb]
            allowed = scores.allowed(span.index, r0, r1, kb, ke)[0, 0]
            share = 1 / allowed.sum(-1, keepdim=True).clamp(min=1)
            i = torch.arange(r1 - 1, r0 - 1, -1, device=device) - span.q0
            for draw, (place, token) in enumerate(zip(self._places, at)):
                other = place[i][:, None] + t
                there = (other >= 1) & (other < self.length) & (i > 0)[:, None]
                column = token[other.clamp(0, self.length - 1)] - (kb - span.k0)
                there &= (column + kb - span.k0 >= 1) & (column >= 0) & (column < ke - kb)
                column = column.clamp(0, ke - kb - 1)
                there &= allowed.gather(1, column)
                found = weights.gather(2, column.expand(len(weights), -1, -1)) * there
                for sums, of in ((self.null_weight, found), (self.null_pairs, there), (self.null_uniform, share * there)):
                    added = of.sum(-2).to(sums.dtype)
                    if causal:   # t > 0 counts at -t
                        added[..., :self.reach] += added[..., self.reach + 1:].flip(-1)
                        added[..., self.reach + 1:] = 0
                    sums[draw] += added


def _dealt(stays: torch.Tensor, random: torch.Generator) -> torch.Tensor:
    """Where the content of each place comes from: the free places in random order, the others from themselves."""
    free = torch.nonzero(~stays).flatten()
    places = torch.arange(len(stays))
    places[free] = free[torch.randperm(len(free), generator=random)]
    return places


def _mean_products(scores: Scores, span: Span) -> torch.Tensor:
    """Mean of scale q_i . k_(i+t) over i at each offset t = -(T-1) .. T-1: (H, 2 T - 1)."""
    (row,), length = span.rows, span.q1 - span.q0
    group = scores.query.shape[1] // scores.key.shape[1]
    sums = torch.zeros(scores.query.shape[1], 2 * length - 1, dtype=torch.float64, device=scores.query.device)
    key = scores.key[row, :, span.k0:span.k1].float().repeat_interleave(group, 0)
    for r0 in range(0, length, 128):
        r1 = min(length, r0 + 128)
        query = scores.query[row, :, span.q0 + r0:span.q0 + r1].flip(1).float() * scores.scale
        padded = padded_for((query.shape[0], r1 - r0, length), query)
        padded[..., :length] = query @ key.transpose(1, 2)
        sums[:, length - r1:2 * length - 1 - r0] += diagonals(padded)
    t = torch.arange(-(length - 1), length, device=sums.device)
    return sums / (length - t.abs())


def _level_removed(content: torch.Tensor, length: int) -> torch.Tensor:
    """Equation (4) from its means: 0 at t = 0 and from T/2 on, less the median of distances where neighbours no longer count."""
    t = torch.arange(-(length - 1), length, device=content.device).abs()
    far = (t > min(8, length / 8)) & (t < length / 2)
    level = content[:, far].quantile(0.5, dim=1, keepdim=True) if far.any() else 0
    return ((content - level) * ((t > 0) & (t < length / 2))).float()


def require_room(scores: Scores, layers: int, length: int) -> None:
    """Raises:
        CannotDeal: means of all layers at every place take more than a gigabyte
    """
    size = Dealing.bytes_of(scores, length) * layers
    if size > BYTES:
        raise CannotDeal(f"watch: mean queries and keys of {layers} layers at {length} places take {size / 2**30:.1f} GiB, and deal=True has 1; give "
                         f"documents of {int(length * BYTES / size)} tokens or fewer")
