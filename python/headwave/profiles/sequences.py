"""The largest weights of a few single documents, which viewers of heads show (docs/profiles.md); sums over documents hold none."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import torch

from ..errors import FormatError
from .bins import FIRST_BAND, row_tiles
from .tiles import Scores, Span, tile_weights

LARGEST = 8      # keys kept of every query
LEAST = 0.005    # weights below are left out


class Sequences:
    """The largest weights of every query of the first documents, in one layer.

    Args:
        wanted: documents
    """

    def __init__(self, wanted: int) -> None:
        self.wanted = wanted
        self._parts: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {}   # by document

    def add(self, scores: Scores, span: Span, path: str, budget: int) -> None:
        """Adds the documents of a span that are wanted; a call with a cache goes on with them.

        Raises:
            FormatError: the beginning of a document was not seen
        """
        for row, document in zip(span.rows, span.documents):
            if document >= self.wanted:
                continue
            parts = self._parts.setdefault(document, [])
            if span.position(span.q0, scores.shift) != sum(keys.shape[1] for keys, _ in parts):
                raise FormatError(f"watch: {path} reads document {document} from its token {span.position(span.q0, scores.shift)} on; "
                                  "sequences= needs whole documents: begin the watch before the document")
            one = dataclasses.replace(span, rows=[row], documents=[document])
            most = max(1, min(FIRST_BAND, budget // (8 * scores.query.shape[1] * (span.k1 - span.k0 + FIRST_BAND))))
            parts += [_largest(scores, one, r0, r1) for r0, r1 in row_tiles(span.q0, span.q1, -span.q0, most)]

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Positions of keys, -1: none, and their weights: (heads, tokens of all documents, LARGEST)."""
        parts = [part for document in sorted(self._parts) for part in self._parts[document]]
        return np.concatenate([keys for keys, _ in parts], 1), np.concatenate([weights for _, weights in parts], 1)

    def lengths(self) -> np.ndarray:
        """Tokens of each document."""
        return np.array([sum(keys.shape[1] for keys, _ in self._parts[document]) for document in sorted(self._parts)])


def _largest(scores: Scores, span: Span, r0: int, r1: int) -> tuple[np.ndarray, np.ndarray]:
    kb, ke = scores.keys_of(r0, r1, span.k0, span.k1)
    heads = scores.query.shape[1]
    keys = np.full((heads, r1 - r0, LARGEST), -1, np.int32)
    weights = np.zeros(keys.shape, np.float32)
    if ke > kb:
        tile = tile_weights(scores, span, slice(0, heads), r0, r1, kb, ke)[0][0, ..., :ke - kb].flip(1)
        largest, index = tile.topk(min(LARGEST, ke - kb), -1)
        kept = largest.shape[-1]
        weights[..., :kept] = largest.float().cpu().numpy()
        keys[..., :kept] = index.cpu().numpy() + (kb - span.k0 + span.place)
        keys[weights < LEAST], weights[weights < LEAST] = -1, 0
    return keys, weights


def decoded(ids: list[int], tokenizer: Any) -> list[str]:
    """What each token stands for; its id where no tokenizer can tell."""
    decode = getattr(tokenizer, "decode", None)
    known = {token: decode([token]) if decode is not None and token >= 0 else str(token) for token in set(ids)}
    return [known[token] for token in ids]
