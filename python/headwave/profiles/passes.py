"""Finds the documents in a call of a model: their places in the batch, their padding, and what is known of them."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import threading
import weakref
from typing import Any, Iterable

import numpy as np
import torch

from ..errors import FormatError
from .bins import row_tiles
from .tiles import Scores, Span

CACHES = ("cache", "past_key_values")   # the two names of caches in arguments and outputs of models
FINISHED = "call the model once on the finished text"


class Miscounted(FormatError):
    """The sums would contain tokens that are not text or that were counted before. The call itself is valid, but the sums are not."""


@dataclasses.dataclass
class MaskRecord:
    """The arguments for which transformers made a mask, or decided that none is needed."""

    queries: int
    keys: int
    query_offset: int
    key_offset: int
    padding: torch.Tensor | None
    mask: Any   # weak reference; None: no mask was made


def mask_record(given: dict[str, Any], mask: Any) -> MaskRecord:
    """Records a call of a mask function of transformers. `given` are the call's arguments by name, and `mask` is its output."""
    reference = None if mask is None else weakref.ref(mask)
    padding = given.get("attention_mask")
    return MaskRecord(int(given["q_length"]), int(given["kv_length"]), int(given.get("q_offset", 0)), int(given.get("kv_offset", 0)),
                      padding if isinstance(padding, torch.Tensor) and padding.ndim == 2 else None, reference)


class Frame:
    """A running model of transformers and the arguments of its call. A model within a model has its own frame."""

    def __init__(self, module: torch.nn.Module, args: tuple, kwargs: dict[str, Any]) -> None:
        self.module = module
        try:
            given = dict(inspect.signature(module.forward).bind_partial(*args, **kwargs).arguments)
            for extra in ("kwargs", "model_kwargs"):
                given.update(given.pop(extra, None) or {})
        except (TypeError, ValueError):
            given = dict(kwargs)
        self.ids = _two_axes(given.get("input_ids"))
        embeds = given.get("inputs_embeds")
        self.shape = None if self.ids is None else tuple(self.ids.shape)
        if self.shape is None and isinstance(embeds, torch.Tensor) and embeds.ndim == 3:
            self.shape = tuple(embeds.shape[:2])
        self.padding = _two_axes(given.get("attention_mask"))
        self.masks, self.crossed_masks = (len(getattr(given.get(name), "shape", ())) == 4 for name in ("attention_mask", "encoder_attention_mask"))
        self.crossed_padding = _two_axes(given.get("encoder_attention_mask"))
        self.positions = _two_axes(given.get("position_ids"))
        self.uses_cache = given.get("use_cache")
        self.cache = cache_of(*(given.get(name) for name in CACHES))
        self.past = length_of(self.cache)
        self.spans: dict[Any, list[Span]] = {}
        self.counts: dict[Any, Any] = {}
        self.calls: dict[int, int] = {}
        self.seen: set[Any] = set()                   # layers that computed attention
        self.documents: Documents | None = None
        self.numbers: list[list[int]] | None = None   # of the documents in each row of the batch
        self.read = 0                                 # tokens of a row, its past included
        self.last: list[int] = []                     # last id of each row; empty: unknown
        self.ended: set[int] = set()                  # rows that generate() continues after their end

    def end(self, output: Any) -> None:
        """Remembers what the cache contains now, so that the next call can continue its documents."""
        if self.documents is None or self.numbers is None:
            return
        cache = self.cache
        if cache is None:
            cache = cache_of(*(output if isinstance(output, tuple) else (getattr(output, name, None) for name in CACHES)))
        if cache is not None:
            self.documents.caches[cache] = Cached(self.numbers, self.read, self.padding, self.last, self.ended)


@dataclasses.dataclass
class Cached:
    """The documents in a cache. `numbers`, `last` and `ended` are those of the Frame that filled the cache.

    Args:
        read: number of tokens in the cache
        text: (B, tokens) True for tokens that are text; None: all tokens are text
    """

    numbers: list[list[int]]
    read: int
    text: torch.Tensor | None
    last: list[int]
    ended: set[int]


def cache_of(*values: Any) -> Any:
    """Finds the first value that is a cache of transformers; for an encoder-decoder its self-attention cache. None if no value is a cache."""
    caches = (getattr(value, "self_attention_cache", value) for value in values)
    return next((cache for cache in caches if hasattr(cache, "get_seq_length")), None)


def length_of(cache: Any) -> int:
    """Gives the number of tokens in a cache."""
    try:
        return 0 if cache is None else int(cache.get_seq_length())
    except (ValueError, IndexError, NotImplementedError):   # caches without attention
        return 0


def _ids_of(config: Any, name: str) -> frozenset[int]:
    """Gives the ids that a generation_config has under a name, where it may have one id or a list."""
    ids = getattr(config, name, None)
    return frozenset(ids if isinstance(ids, (list, tuple)) else () if ids is None else (int(ids),))


def _two_axes(value: Any) -> torch.Tensor | None:
    return value if isinstance(value, torch.Tensor) and value.ndim == 2 else None


class Documents:
    """Numbers the documents that pass through one model, and computes digests of their ids."""

    def __init__(self, special: Iterable[int], first: int, generation: Any = None) -> None:
        self.count = 0
        self.special = frozenset(special)
        self.first = first          # number of first tokens that are counted apart
        self.ends, self.pads = (_ids_of(generation, f"{name}_token_id") for name in ("eos", "pad"))
        self.caches: Any = weakref.WeakKeyDictionary()   # cache -> Cached
        self.across = ""            # where tokens look back across a restart of position_ids; empty: nowhere
        self._own: dict[int, Any] = {}   # SHA-256 of each document's ids, by number
        self._unknown: set[int] = set()  # documents with ids that were not seen
        self._before = threading.local()   # per thread: ids of the last call, and how many calls in a row added one token each

    def spans(self, frame: Frame, ids: torch.Tensor | None, scores: Scores, padding: torch.Tensor | None, key_offset: int, past: int) -> list[Span]:
        """Finds the documents of a call of self-attention, without padding. Packed sequences are separate, and documents at equal places in
        their rows share a Span.

        Args:
            key_offset: position of the first key in the sequence
            past: number of tokens in the cache

        Raises:
            Miscounted: tokens that were counted before are not text, or tokens of this call were counted before
        """
        batch, _, queries, _ = scores.query.shape
        keys, shift = scores.key.shape[2], scores.shift
        end = min(keys, shift + queries)
        valid = [(0, end)] * batch
        starts = [0] * batch        # position at which the document begins, counted with its past
        if padding is not None and padding.shape[0] == batch:
            padding = padding.cpu()
            for b in range(batch):
                starts[b], stop = _ends(padding, b, batch, end + key_offset)
                valid[b] = (max(0, starts[b] - key_offset), max(0, stop - key_offset))
        cuts = self._cuts(frame, scores, valid) if past == 0 else [[] for _ in range(batch)]
        before, again = frame.numbers, frame.numbers is not None   # `again`: an earlier layer of this call numbered the documents
        host_ids = None if ids is None else ids.cpu()
        if not again and past > 0 and (cached := self.cached(frame)) is not None:
            if past < cached.read:
                raise rejected(cached.read, past)
            if len(cached.numbers) != batch:
                raise Miscounted(f"watch: the cache held {len(cached.numbers)} documents and now holds {batch}, so watch cannot tell which are "
                                 f"continued; {FINISHED}")
            before = cached.numbers
            if queries == 1 and host_ids is not None and cached.last:
                frame.ended = {b for b, (last, now) in enumerate(zip(cached.last, host_ids[:, 0].tolist()))
                               if (b in cached.ended or last in self.ends) and now in self.ends | self.pads}
        elif not again and past == 0:
            self._require_new(frame, host_ids)
        numbers: list[list[int]] = []
        found: dict[Any, Span] = {}
        for b in range(batch):
            first, last = valid[b] if b not in frame.ended else (0, 0)
            edges = [first, *cuts[b], last]
            numbers.append(list(before[b]) if before is not None else [])
            for number, (k0, k1) in enumerate(zip(edges, edges[1:])):
                q0, q1 = max(0, k0 - shift), min(queries, k1 - shift)
                if q1 <= q0 or k1 <= k0:
                    continue
                if number >= len(numbers[b]):
                    if again:
                        continue
                    numbers[b].append(self.count)
                    self.count += 1
                document = numbers[b][number]
                place = k0 + key_offset - starts[b] if number == 0 else 0
                own = None if host_ids is None else host_ids[b]
                if own is not None and not again:
                    self._note(own[q0:q1], document)
                elif own is None and not again:
                    self._unknown.add(document)
                apart = [j for j in range(k0, min(k1, k0 + self.first - place))] if place < self.first else []
                marked = own is not None and bool(self.special) and shift == 0 and keys == queries
                special = [k0 + i for i, token in enumerate(own[k0:k1].tolist()) if token in self.special] if marked else []
                apart = sorted({*apart, *special})
                key = (q0, q1, k0, k1, place, tuple(apart), tuple(special))
                if key not in found:
                    found[key] = Span([], [], q0, q1, k0, k1, place, [j - shift for j in apart if q0 <= j - shift < q1], apart, special=special)
                found[key].rows.append(b)
                found[key].documents.append(document)
                if own is not None:
                    found[key].ids.append(own[k0:k1])
        frame.documents, frame.numbers, frame.read = self, numbers, past + queries
        frame.last = [] if host_ids is None else host_ids[:, -1].tolist()
        return list(found.values())

    def crossed(self, frame: Frame, scores: Scores, padding: torch.Tensor | None, own_padding: torch.Tensor | None, past: int) -> list[Span]:
        """Finds the documents of a call of cross-attention. The queries belong to the documents that the decoder reads.

        Args:
            padding: padding of the keys; own_padding: padding of the queries and their past
        """
        batch, _, queries, _ = scores.query.shape
        found: dict[Any, Span] = {}
        for b in range(batch):
            k0, k1 = _ends(padding, b, batch, scores.key.shape[2])
            begin, end = _ends(own_padding, b, batch, past + queries)
            q0, q1 = max(0, begin - past), min(queries, end - past)
            numbers = frame.numbers[b] if frame.numbers is not None and b < len(frame.numbers) else []
            if k1 <= k0 or q1 <= q0 or not numbers or b in frame.ended:
                continue
            key = (q0, q1, k0, k1, begin)
            if key not in found:
                apart = [i for i in range(q0, q1) if i + past - begin < self.first]
                found[key] = Span([], [], q0, q1, k0, k1, 0, apart, list(range(k0, min(k1, k0 + self.first))), k0 + past - begin)
            found[key].rows.append(b)
            found[key].documents.append(numbers[0])
        return list(found.values())

    def whole(self, frame: Frame, scores: Scores) -> list[Span]:
        """Takes whole rows of the batch as documents. This serves calls about which nothing is known, such as images."""
        batch, _, queries, _ = scores.query.shape
        if frame.numbers is None:
            frame.numbers = [[self.count + b] for b in range(batch)]
            self.count += batch
        first = frame.numbers[0][0]
        apart = list(range(min(self.first, queries)))
        return [Span(list(range(batch)), list(range(first, first + batch)), 0, queries, 0, scores.key.shape[2], 0, apart, list(apart))]

    def digests(self) -> np.ndarray:
        """Gives the first 52 bits of the SHA-256 of every document's ids, which a double represents exactly; 0 for unknown ids."""
        known = self._own.keys() - self._unknown
        return np.array([float(int(self._own[number].hexdigest()[:13], 16)) if number in known else 0 for number in range(self.count)])

    def _note(self, ids: torch.Tensor, number: int) -> None:
        ids = ids.to(torch.int64)
        self._own.setdefault(number, hashlib.sha256()).update(ids.numpy().astype("<i8").tobytes())

    def cached(self, frame: Frame) -> Cached | None:
        """Gives the contents of a call's cache. None if the cache was not filled under this watch."""
        return None if frame.cache is None else self.caches.get(frame.cache)

    def _require_new(self, frame: Frame, ids: torch.Tensor | None) -> None:
        """Refuses a call without a cache that reads the tokens of the previous call and one more, as generate(use_cache=False) does."""
        rows = None if ids is None else [tuple(row) for row in ids.tolist()]
        last, times = getattr(self._before, "call", (None, 0))
        grown = bool(rows and last) and len(rows) == len(last) and {row[:-1] for row in rows} <= set(last)
        self._before.call = rows, times + 1 if grown else 0
        if grown and (times or frame.uses_cache is False):
            raise Miscounted("watch: calls without a cache read the same text again, each with one token more, as generate(use_cache=False) does, so "
                             f"every prefix counts as a document; use a cache, or {FINISHED}")

    def _cuts(self, frame: Frame, scores: Scores, valid: list[tuple[int, int]]) -> list[list[int]]:
        """Finds where packed sequences begin, except the first. position_ids restart there, and the mask lets no token attend across."""
        batch, _, queries, _ = scores.query.shape
        positions = frame.positions
        if positions is None or positions.shape[1] != queries or scores.shift != 0:
            return [[] for _ in range(batch)]
        restarts = (torch.diff(positions, dim=-1) != 1).cpu()
        cuts: list[list[int]] = []
        for b in range(batch):
            first, last = valid[b]
            row = restarts[b if restarts.shape[0] > 1 else 0]
            those = [i + 1 for i in torch.nonzero(row).flatten().tolist() if first < i + 1 < last]
            cuts.append([i for i in those if not bool(scores.allowed([b], i, i + 1, i - 1, i)[0, 0, 0, 0])])
            across = [i for i in those if i not in cuts[b] and int(positions[b if positions.shape[0] > 1 else 0, i]) == 0]
            if across and not self.across:
                self.across = f"token {across[0]} of row {b} of the batch"
        return cuts


def _ends(padding: torch.Tensor | None, row: int, batch: int, length: int) -> tuple[int, int]:
    """Finds the first token of a row of the batch that is not padding, and the end of such tokens (one after the last)."""
    if padding is None or padding.shape[0] != batch:
        return 0, length
    there = torch.nonzero(padding[row, :length].bool().cpu()).flatten()
    if not len(there):
        return 0, 0
    first, end = int(there[0]), int(there[-1]) + 1
    if end - first > len(there):
        raise Miscounted(f"watch: row {row} of the batch has padding between its tokens: only {len(there)} of the {end - first} from the "
                         "first to the last are text; expected padding before or after the text")
    return first, end


def rejected(counted: int, left: int) -> Miscounted:
    """Makes the error that counted tokens were removed from the cache."""
    return Miscounted(f"watch: {counted} tokens of a cache were counted, and then it was cut to {left}, as assisted decoding does with candidates that "
                      f"the model rejects, so the sums hold tokens that the text does not contain; {FINISHED}")


def text_of(scores: Scores, cached: torch.Tensor | None) -> torch.Tensor:
    """Finds from a mask with four axes which tokens are text: booleans (B, tokens), where tokens in the cache come first.

    A token is padding if no other query may attend to it, and if the token may not attend to itself, or only to itself while other tokens
    attend to more. At the end of a row, two or more tokens are padding if no other query may attend to them, and the first two of them may
    attend to the token before both. In a text the second of the two would also attend to the first.

    Args:
        cached: True for tokens in the cache that are text; None: all tokens are text
    """
    batch, _, queries, _ = scores.query.shape
    end = scores.shift + queries
    looked_at, looks, itself, one_back, two_back = (torch.zeros(batch, queries, dtype=torch.bool, device=scores.query.device) for _ in range(5))
    for r0, r1 in row_tiles(0, queries, max(1, (1 << 24) // (batch * end))):
        allowed = scores.allowed(slice(0, batch), r0, r1, 0, end).any(1).flip(1)
        allowed = allowed.expand(batch, -1, -1).clone()
        own = allowed.diagonal(scores.shift + r0, 1, 2)
        itself[:, r0:r1] = own
        own.zero_()
        looks[:, r0:r1] = allowed.any(2)
        looked_at |= allowed[..., scores.shift:].any(1)
        t = torch.arange(end, device=allowed.device) - torch.arange(scores.shift + r0, scores.shift + r1, device=allowed.device)[:, None]
        one_back[:, r0:r1], two_back[:, r0:r1] = ((allowed & (t == -back)).any(2) for back in (1, 2))
    alone = ~looked_at & ~looks
    padding = ~looked_at & ~itself | alone & ~alone.all(1, keepdim=True)
    last = (looked_at.flip(1).cumsum(1) == 0).flip(1) & ~padding   # no query may look at these tokens or at later ones
    first = last & ~torch.nn.functional.pad(last, (1, -1))
    second = last & torch.nn.functional.pad(first, (1, -1))
    padding |= last & ((first & one_back).any(1) & (second & two_back).any(1))[:, None]
    before = torch.ones(batch, scores.shift, dtype=torch.bool, device=padding.device)
    if cached is not None and cached.shape[0] == batch and cached.shape[1] >= scores.shift:
        before = cached[:, :scores.shift].to(before)
    return torch.cat([before, ~padding], 1)
