"""Which documents a call of a model holds: where they lie in the batch, what is padding, what was said of them."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import itertools
import weakref
from typing import Any, Callable, Iterable

import torch

from ..errors import FormatError
from .tiles import Scores, Span


@dataclasses.dataclass
class MaskRecord:
    """What transformers was asked a mask for; it stands for that mask, or for the lack of one of that shape."""

    queries: int
    keys: int
    query_offset: int
    key_offset: int
    padding: torch.Tensor | None
    mask: Any   # a weak reference to it; None: there is none


def mask_record(given: dict[str, Any], mask: Any) -> MaskRecord:
    """Arguments of a mask function of transformers, by name, and what it returned."""
    reference = None if mask is None else weakref.ref(mask)
    padding = given.get("attention_mask")
    return MaskRecord(int(given["q_length"]), int(given["kv_length"]), int(given.get("q_offset", 0)), int(given.get("kv_offset", 0)),
                      padding if isinstance(padding, torch.Tensor) and padding.ndim == 2 else None, reference)


_serials = itertools.count()


class Frame:
    """A model of transformers that is running, and what it was called with; models within models have a frame each."""

    def __init__(self, module: torch.nn.Module, args: tuple, kwargs: dict[str, Any]) -> None:
        self.module, self.serial = module, next(_serials)
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
        self.crossed_padding = _two_axes(given.get("encoder_attention_mask"))
        self.positions = _two_axes(given.get("position_ids"))
        self.past = 0
        cache = given.get("past_key_values")
        if hasattr(cache, "get_seq_length"):
            try:
                self.past = int(cache.get_seq_length())
            except (ValueError, IndexError, NotImplementedError):   # caches without attention
                self.past = 0
        self.spans: dict[Any, list[Span]] = {}
        self.counts: dict[Any, Any] = {}
        self.calls: dict[int, int] = {}


def _two_axes(value: Any) -> torch.Tensor | None:
    return value if isinstance(value, torch.Tensor) and value.ndim == 2 else None


class Documents:
    """Numbers the documents that pass through one model, and takes the digest of their ids."""

    def __init__(self, special: Iterable[int], first: int, sequences: int = 0) -> None:
        self.count = 0
        self.ids: dict[int, list[int]] = {}   # of the first `sequences` documents, by number
        self._sequences = sequences
        self.special = frozenset(special)
        self.first = first          # tokens at the beginning that are counted apart
        self.digest = hashlib.sha256()
        self._own: dict[int, Any] = {}   # digests of single documents, by number
        self._unknown: set[int] = set()  # documents of which some ids were not seen
        self._last: list[list[int]] = []   # numbers by row of the batch, of the call before

    def spans(self, frame: Frame, ids: torch.Tensor | None, scores: Scores, padding: torch.Tensor | None, key_offset: int, past: int,
              again: bool = False) -> list[Span]:
        """Documents of a call of self-attention: padding trimmed, packed sequences apart, such as lie alike together.

        Args:
            key_offset: position in the sequence of the first key
            past: tokens in the cache
            again: the documents of this call have their numbers
        """
        batch, _, queries, _ = scores.query.shape
        keys, shift = scores.key.shape[2], scores.shift
        end = min(keys, shift + queries)
        valid = [(0, end)] * batch
        starts = [0] * batch        # position in the sequence, of its whole past, at which the document begins
        if padding is not None and padding.shape[0] == batch:
            padding = padding.cpu()
            for b in range(batch):
                starts[b], stop = _ends(padding, b, batch, end + key_offset)
                valid[b] = (max(0, starts[b] - key_offset), max(0, stop - key_offset))
        cuts = self._cuts(frame, scores, valid) if past == 0 else [[] for _ in range(batch)]
        continues = len(self._last) == batch and (past > 0 or again)
        numbers: list[list[int]] = []
        found: dict[Any, Span] = {}
        host_ids = None if ids is None else ids.cpu()
        for b in range(batch):
            first, last = valid[b]
            edges = [first, *cuts[b], last]
            numbers.append(list(self._last[b]) if continues else [])
            for number, (k0, k1) in enumerate(zip(edges, edges[1:])):
                q0, q1 = max(0, k0 - shift), min(queries, k1 - shift)
                if q1 <= q0 or k1 <= k0:
                    continue
                if not continues:
                    numbers[b].append(self.count)
                    self.count += 1
                elif number >= len(numbers[b]):
                    continue
                document = numbers[b][number if continues else -1]
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
        self._last = numbers
        return list(found.values())

    def crossed(self, scores: Scores, padding: torch.Tensor | None, own_padding: torch.Tensor | None, past: int) -> list[Span]:
        """Documents of a call of cross-attention: queries of the documents that the decoder read last.

        Args:
            padding: of the keys; own_padding: of the queries, their past included
        """
        batch, _, queries, _ = scores.query.shape
        found: dict[Any, Span] = {}
        for b in range(batch):
            k0, k1 = _ends(padding, b, batch, scores.key.shape[2])
            begin, end = _ends(own_padding, b, batch, past + queries)
            q0, q1 = max(0, begin - past), min(queries, end - past)
            numbers = self._last[b] if b < len(self._last) else []
            if k1 <= k0 or q1 <= q0 or not numbers:
                continue
            key = (q0, q1, k0, k1, begin)
            if key not in found:
                apart = [i for i in range(q0, q1) if i + past - begin < self.first]
                found[key] = Span([], [], q0, q1, k0, k1, 0, apart, list(range(k0, min(k1, k0 + self.first))), k0 + past - begin)
            found[key].rows.append(b)
            found[key].documents.append(numbers[0])
        return list(found.values())

    def whole(self, scores: Scores, again: bool = False) -> list[Span]:
        """Documents of a call of which nothing is known: whole rows of the batch, such as images."""
        batch, _, queries, _ = scores.query.shape
        first = self._last[0][0] if again and self._last else self.count
        self.count = first + batch
        apart = list(range(min(self.first, queries)))
        self._last = [[first + b] for b in range(batch)]
        return [Span(list(range(batch)), list(range(first, first + batch)), 0, queries, 0, scores.key.shape[2], 0, apart, list(apart))]

    @property
    def knows_ids(self) -> bool:
        """Whether the ids of all documents were seen."""
        return 0 < len(self._own) == self.count and not self._unknown

    def digests(self, numbers: Iterable[int]) -> list[int]:
        """The first 52 bits of the SHA-256 of the ids of single documents, which a double holds; 0: ids are not known."""
        known = self._own.keys() - self._unknown
        return [int(self._own[number].hexdigest()[:13], 16) if number in known else 0 for number in numbers]

    def _note(self, ids: torch.Tensor, number: int) -> None:
        ids = ids.to(torch.int64)
        self._own.setdefault(number, hashlib.sha256()).update(ids.numpy().astype("<i8").tobytes())
        if number < self._sequences:
            self.ids.setdefault(number, []).extend(ids.tolist())
        self.digest.update(len(ids).to_bytes(8, "little"))
        self.digest.update(ids.numpy().astype("<i8").tobytes())

    def _cuts(self, frame: Frame, scores: Scores, valid: list[tuple[int, int]]) -> list[list[int]]:
        """Where packed sequences begin, after the first: positions begin anew there, and the mask lets nothing look back."""
        batch, _, queries, _ = scores.query.shape
        positions = frame.positions
        if positions is None or positions.shape[1] != queries or scores.key.shape[2] != queries:
            return [[] for _ in range(batch)]
        restarts = (torch.diff(positions, dim=-1) != 1).cpu()
        cuts: list[list[int]] = []
        for b in range(batch):
            first, last = valid[b]
            row = restarts[b if restarts.shape[0] > 1 else 0]
            those = [i + 1 for i in torch.nonzero(row).flatten().tolist() if first < i + 1 < last]
            cuts.append([i for i in those if not bool(scores.allowed([b], i, i + 1, i - 1, i)[0, 0, 0, 0])])
        return cuts


def _ends(padding: torch.Tensor | None, row: int, batch: int, length: int) -> tuple[int, int]:
    """First token of a row of the batch that is no padding, and one after the last."""
    if padding is None or padding.shape[0] != batch:
        return 0, length
    there = torch.nonzero(padding[row].bool().cpu()).flatten()
    return (int(there[0]), min(length, int(there[-1]) + 1)) if len(there) else (0, 0)
