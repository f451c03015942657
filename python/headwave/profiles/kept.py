"""Queries and keys that watch keeps for the account (docs/account.md). The program deals them to find why heads look where they look."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import torch

from .. import _core
from .rotary import CannotDeal, Turns, Unturned, turns_of
from .tiles import Scores, Span, tile_weights

PARTS = 16   # parts of the documents, account_groups in each half (analysis/why/account_documents.h); intervals omit one at a time
LEAST = 8    # fewest documents for which an account gives a verdict
ATTENDED = 2**24        # most numbers in `attended`, over all layers: attended_documents() of analysis/why/attention_words.h
LEAST_TEXT_KEYS = 4     # keys of text that a query must see: analysis/why/attended_rows.h


@dataclasses.dataclass
class Attending:
    """How a layer computes weights from queries and keys.

    Args:
        window: only pairs with |t| < window are allowed; 0: no limit
        bias: (H, 2 T - 1) numbers that are added to the scores at t = -(T-1) .. T-1; None: nothing is added
        sinks: (H) sink logits; None: no sinks
    """

    window: int
    turns: Turns
    bias: np.ndarray | None
    sinks: np.ndarray | None


class Kept:
    """Queries and keys of one layer before rotary positions, for documents as long as the first one.

    It keeps sums over documents at every token position, separately for documents with even and with odd numbers. It keeps whole documents in
    pairs of an even and an odd number: all pairs until the room is full, then every second pair, then every fourth, and so on. For the words
    that draw attention, it keeps in the same way how much attention the chosen queries give to each key.

    Args:
        pairs: number of pairs of documents that there is room for
        depth: number of layers of the model

    Attributes:
        query, key: (2, T, H, d), (2, T, Hk, d) sums over documents with even, and with odd, numbers
        weight: (PARTS, H, 2 reach + 1) sums of weights by offset, without the first token as query or key
        documents: number of documents
        attended: for each document, by its number: the output of attended_keys(), the token ids, and text_keys()
    """

    def __init__(self, scores: Scores, length: int, pairs: int, attending: Attending, reach: int, depth: int) -> None:
        device, heads, kv_heads, width = scores.query.device, scores.query.shape[1], scores.key.shape[1], scores.query.shape[3]
        self.length, self.attending, self.documents, self._pairs = length, attending, 0, pairs
        self.query, self.key = (torch.zeros(2, length, each, width, dtype=torch.float32, device=device) for each in (heads, kv_heads))
        self.weight = torch.zeros(PARTS, heads, 2 * reach + 1, dtype=torch.float64, device=device)
        self._whole: dict[int, tuple[torch.Tensor, torch.Tensor, Span, int]] = {}
        self.attended: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = {}
        self._rows: list[tuple[int, int]] = _core.chosen_rows(length)
        self._attended_pairs = max(LEAST, ATTENDED // (depth * heads * (length + sum(count for _, count in self._rows)))) // 2

    def numbers(self, spans: list[Span]) -> dict[int, int]:
        """Lists the documents of a call that are as long as the first document, with their numbers among all documents of this length."""
        alike = sorted(document for span in spans if span.q1 - span.q0 == self.length for document in span.documents)
        return {document: self.documents + place for place, document in enumerate(alike)}

    def add(self, before: Unturned, scores: Scores, spans: list[Span], causal: bool) -> None:
        """Adds the documents of a call."""
        numbers = self.numbers(spans)
        for document, number in numbers.items():
            span = next(span for span in spans if document in span.documents)
            place = span.documents.index(document)
            query, key = (of[span.rows[place], :, span.q0:span.q1].transpose(0, 1) for of in (before.query, before.key))
            self.query[number % 2] += query
            self.key[number % 2] += key
            if _takes(self._whole, number, self._pairs):
                self._whole[number] = (*(torch.clone(of, memory_format=torch.contiguous_format).cpu() for of in (query, key)), span, place)
        for span in spans:
            if span.q1 - span.q0 == self.length and span.ids and (wanted := [d for d in span.documents if _takes(self.attended, numbers[d], self._attended_pairs)]):
                text = text_keys(span, causal)
                own = scores if span.shift is None else dataclasses.replace(scores, shift=span.shift)
                got, mass = (of.cpu().numpy() for of in attended_keys(own, span, self._rows, text))
                for document in wanted:
                    place = span.documents.index(document)
                    self.attended[numbers[document]] = got[place], mass[place], span.ids[place].numpy(), text
        self.documents += len(numbers)

    def add_weights(self, weight: torch.Tensor, spans: list[Span], span: Span) -> None:
        """Adds weights of the documents of one span. This must be called before add().

        Args:
            weight: (n, H, offsets) sums of weights by offset, with t = 0 in the middle
        """
        if span.q1 - span.q0 == self.length:
            numbers, reach, middle = self.numbers(spans), self.weight.shape[-1] // 2, weight.shape[-1] // 2
            parts = torch.tensor([numbers[document] % PARTS for document in span.documents], device=weight.device)
            self.weight.index_add_(0, parts, weight[..., middle - reach:middle + reach + 1].to(self.weight.dtype))

    @property
    def dealt(self) -> list[int]:
        """Lists the numbers of the dealt documents, which the program chooses from the kept documents."""
        there = sorted(self._whole)
        return [there[i] for i in _core.dealt_documents(len(there), self.length)]

    def whole(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Gives queries (T, H, d) and keys (T, Hk, d) of a kept document."""
        return tuple(of.float().numpy() for of in self._whole[number][:2])

    def tokens(self, number: int) -> tuple[np.ndarray, np.ndarray, bool]:
        """Gives a document's token ids (-1: unknown), its tokens that are never dealt (special and first), and whether the first is special."""
        _, _, span, place = self._whole[number]
        special = [j - span.k0 for j in span.special]
        stays = np.zeros(self.length)
        stays[[0, *special]] = 1
        return span.ids[place].numpy() if span.ids else np.full(self.length, -1), stays, 0 in special


def _takes(kept: dict[int, Any], number: int, pairs: int) -> bool:
    """Decides whether a new document is kept. If more than `pairs` pairs are kept, drops every second pair, and again until `pairs` are enough."""
    every = 1
    while (number // 2 + 1) // every > pairs:
        every *= 2
    for one in [one for one in kept if (one // 2 + 1) % every]:
        del kept[one]
    return (number // 2 + 1) % every == 0


def text_keys(span: Span, causal: bool) -> np.ndarray:
    """Marks the keys of text (T) by 1: those that are not special tokens and, in a causal model, not the first token. Other keys are 0."""
    text = np.ones(span.k1 - span.k0)
    text[[j - span.k0 for j in span.special] + [0] * causal] = 0
    return text


def attended_keys(scores: Scores, span: Span, rows: list[tuple[int, int]], text: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """Sums attention of the chosen queries of a span: on each key of text, (n, H, T), and of each query on all keys of text, (n, H, rows).

    Special tokens, the first token, and queries that see few keys of text do not count as queries, as in AttendedKeyProbe of
    analysis/why/attention_words.h. Both outputs are float32.

    Args:
        rows: first row and number of rows of each run of queries
        text: text_keys()
    """
    n, heads, keys = len(span.rows), scores.query.shape[1], torch.from_numpy(text).to(scores.query.device, torch.float32)
    got, masses = torch.zeros(n, heads, len(text), device=keys.device), []
    special = [j - span.k0 for j in span.special]
    for first, count in rows:
        r0, r1 = span.q0 + first, span.q0 + first + count
        kb, ke = scores.keys_of(r0, r1, span.k0, span.k1)
        own = keys[kb - span.k0:ke - span.k0]
        asks = torch.tensor([i > 0 and i not in special for i in range(first, first + count)], device=keys.device).flip(0)
        seen = (scores.allowed(span.index, r0, r1, kb, ke) * own).sum(-1) >= LEAST_TEXT_KEYS
        weights = tile_weights(scores, span, slice(0, heads), r0, r1, kb, ke)[0][..., :ke - kb] * own * (seen & asks)[..., None]
        got[..., kb - span.k0:ke - span.k0] += weights.sum(-2)
        masses.append(weights.sum(-1).flip(-1))
    return got, torch.cat(masses, -1)


def room_for(scores: Scores, length: int, layers: int, room: float) -> int:
    """Computes for how many pairs of documents there is room for queries and keys.

    Args:
        room: memory for all layers, in GiB

    Raises:
        CannotDeal: there is room for fewer documents than an account needs
    """
    size = length * scores.query.shape[3] * (scores.query.shape[1] + scores.key.shape[1]) * scores.query.element_size() * layers
    if size * LEAST > room * 2**30:
        raise CannotDeal(f"watch: queries and keys of {LEAST} documents, {layers} layers at {length} tokens, take {size * LEAST / 2**30:.2g} GiB, "
                         f"but deal=True has room={room:g} GiB; give room={np.ceil(10 * size * LEAST / 2**30) / 10:g}, or documents of "
                         f"{int(length * room * 2**30 / (size * LEAST))} tokens or fewer")
    return int(room * 2**30 // (2 * size))


def attending(scores: Scores, before: Unturned, span: Span, path: str) -> Attending:
    """Describes how a layer attends in the documents of a span.

    Raises:
        CannotDeal: the program cannot compute such attention
    """
    row, tokens = span.rows[0], slice(span.q0, span.q1)
    sinks = None if scores.sinks is None else scores.sinks.float().cpu().numpy()
    return Attending(window_of(scores, span, path), turns_of(before, row, tokens, path), bias_of(scores, span, path), sinks)


def window_of(scores: Scores, span: Span, path: str) -> int:
    """Finds the window of a layer: only pairs with |t| < window are allowed, and in a causal model only t <= 0. The window is 0 without a limit.

    Raises:
        CannotDeal: the mask does not allow exactly these pairs
    """
    length = span.q1 - span.q0
    allowed = scores.allowed(span.index, span.q0, span.q1, span.k0, span.k1).flip(2)
    window = length - int(allowed[0, 0, -1].int().argmax())
    expected = torch.ones(length, length, dtype=torch.bool, device=allowed.device).triu_(1 - window)
    expected.tril_(window - 1 if bool(allowed[0, 0, 0, 1:].any()) else 0)
    if not torch.equal(allowed, expected.expand_as(allowed)):
        raise CannotDeal(f"watch: {path} has a mask that is neither causal nor a window, but deal=True needs one of these; omit deal")
    return 0 if window == length else window


def bias_of(scores: Scores, span: Span, path: str) -> np.ndarray | None:
    """Finds the numbers (H, 2 T - 1) that are added to the scores at t = -(T-1) .. T-1. None if nothing is added.

    Raises:
        CannotDeal: the added numbers depend on more than t
    """
    if scores.bias is None and not (isinstance(scores.mask, torch.Tensor) and scores.mask.is_floating_point()):
        return None
    length, heads = span.q1 - span.q0, scores.query.shape[1]
    nothing = dataclasses.replace(scores, query=torch.zeros_like(scores.query))
    added = nothing.scores([span.rows[0]], slice(0, heads), span.q0, span.q1, span.k0, span.k1)[0].flip(1)
    allowed = scores.allowed([span.rows[0]], span.q0, span.q1, span.k0, span.k1)[0].flip(1).expand_as(added)
    added = added.masked_fill(~allowed, 0)
    bias = torch.cat([added[:, -1], added[:, 0, 1:]], 1)
    t = torch.arange(length, device=bias.device) - torch.arange(length, device=bias.device)[:, None]
    if not torch.allclose(bias[:, t + length - 1].masked_fill(~allowed, 0), added, atol=1e-5):
        raise CannotDeal(f"watch: {path} adds a term to its scores that depends on more than the offset, which deal=True cannot follow; omit deal")
    return bias.cpu().numpy() if bool(bias.any()) else None


def account_arrays(layers: list[Any], reach: int) -> dict[str, np.ndarray]:
    """Makes the arrays of a stack that an account needs, from the `kept` of its layers."""
    all_kept = [layer.kept for layer in layers]
    first, ways = all_kept[0], [kept.attending for kept in all_kept]
    near = slice((first.weight.shape[-1] - 1) // 2 - reach, (first.weight.shape[-1] - 1) // 2 + reach + 1)
    numbers = first.dealt
    tokens = [first.tokens(number) for number in numbers]
    pairs = max(1, *(len(way.turns.frequency) for way in ways))
    arrays = {
        "account_documents": np.array([len(range(part, first.documents, PARTS)) for part in range(PARTS)]),
        "account_weight": np.stack([kept.weight.cpu().numpy()[..., near] for kept in all_kept], 1),
        "kept_number": np.array(numbers), "kept_token": np.stack([ids for ids, _, _ in tokens]),
        "kept_stays": np.stack([stays for _, stays, _ in tokens]), "kept_first_special": np.array([special for _, _, special in tokens], np.int64),
        "half_query": np.stack([kept.query.cpu().numpy() for kept in all_kept], 1), "half_key": np.stack([kept.key.cpu().numpy() for kept in all_kept], 1),
        "account_window": np.array([way.window for way in ways]), "turn_gain": np.array([way.turns.gain for way in ways]),
        "turn_neighbours": np.array([way.turns.neighbours for way in ways], np.int64),
        "turn_frequency": np.stack([np.pad(way.turns.frequency, (0, pairs - len(way.turns.frequency)), constant_values=np.nan) for way in ways])}
    for side, label in enumerate(("kept_query", "kept_key")):
        arrays[label] = np.stack([np.stack([kept.whole(number)[side] for kept in all_kept]) for number in numbers])
    if numbers := sorted(first.attended):
        seen = [[kept.attended[number] for kept in all_kept] for number in numbers]
        arrays |= {"attended_number": np.array(numbers), "attended_token": np.stack([one[0][2] for one in seen]),
                   "attended_text": np.stack([one[0][3] for one in seen])}
        for which, label in enumerate(("attended_got", "attended_mass")):
            arrays[label] = np.stack([np.stack([layer[which] for layer in one]) for one in seen]).astype(np.float32)
    if any(way.bias is not None for way in ways):
        arrays["score_bias"] = np.stack([np.zeros((layers[0].heads, 2 * first.length - 1)) if way.bias is None else way.bias for way in ways])
    if any(way.sinks is not None for way in ways):
        arrays["sink_score"] = np.stack([np.full(layers[0].heads, np.nan) if way.sinks is None else way.sinks for way in ways])
    return arrays
