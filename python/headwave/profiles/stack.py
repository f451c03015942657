"""Stacks: the sums of watched layers of one kind. Stacks can be added, and say how far heads look."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from .. import _core
from ..arguments import real, whole
from ..errors import ShapeError
from ..fields import groups_of
from .moments import LABELS, Moments

if TYPE_CHECKING:
    from .bins import OffsetBins
    from .layers import Layer

# The axes of the arrays of a stack, by the program's letters (data/sources/stored_profiles.cpp). The program reads the first arrays; the others
# are for the file and other tools.
_LETTERS = {
    "A": "kind", "B": "block", "C": "attended_document", "D": "document", "E": "kept_document", "F": "turned_pair", "G": "kv_head", "H": "head",
    "J": "position", "K": "pairs_kind", "L": "layer", "M": "component", "N": "near", "O": "offset", "P": "place", "Q": "chosen_row", "R": "near_offset",
    "S": "score", "T": "bin", "U": "between", "W": "word", "Y": "part", "Z": "half"}
_AXES = {label: tuple(_LETTERS[letter] for letter in axes) for label, axes in _core.profile_axes.items()} | {
    "entropy": ("block", "layer", "head"), "rows": ("block", "layer"), "sinks": ("layer",),
    "unrotated_tokens": ("layer",), "unrotated_mean": ("layer", "head", "component"),
    "unrotated_cov": ("layer", "head", "component", "other_component"), "unrotated_modulus": ("layer", "head", "pair")}
_VECTORS = {"half_query", "half_key", "kept_query", "kept_key", "attended_got", "attended_mass"}   # may take gigabytes: float32
_OF_FIRST = {"sink_position", "account_window", "turn_frequency", "turn_gain", "turn_neighbours", "score_bias", "sink_score", "word_token"}   # not added
_COUNTS = {"pairs", "rows", "unrotated_tokens", "length", "trace_count", "trace_documents", "null_documents", "place_documents", "head_score_documents",
           "argmax_documents", "sink_position", "document_digest", "account_documents", "kept_number", "kept_token", "kept_stays", "kept_first_special",
           "account_window", "turn_neighbours", "attended_number", "attended_token", "attended_text", "word_token"}
_OF_LAYERS = ("scale", "soft_cap", "window", "sinks")
_PLAIN = ("block_documents", "first_offset", "last_offset", *_OF_LAYERS)   # have the same type in a file
_ABOUT = ("heads", "kv_heads", "width", "cross", "implementation", "module", "dtype", "rope_type")


class Stack:
    """Sums over documents for the layers of one kind, in the order of the layers.

    Arrays contain counts and sums, so that stacks can be added. Arrays are float64, except large arrays for the account, which are float32.

    Attributes:
        name: "causal", "self" or "cross", with a number if there are several stacks of a kind
        layers: paths of the modules
        heads, kv_heads, width: numbers of query heads and key heads of a layer, and d_head
        scale, soft_cap, window, sinks: (layers) settings of the scores; 0: none
        documents, dealt_documents: number of documents, and number of documents whose queries and keys were kept for the account
        block_documents: (blocks) number of documents in each block
        first_offset, last_offset: (bins) first and last offset of each bin, in tokens
        weight: (blocks, layers, 2, heads, bins) sums of attention weights: first for pairs of regular tokens, then for pairs counted apart
        pairs: (blocks, layers, 2, bins) numbers of pairs
        entropy, kept: (blocks, layers, heads) sums over queries: of the entropy in nats, and of the weights
        rows: (blocks, layers) number of these queries
        unrotated_mean, unrotated_cov, unrotated_modulus, unrotated_tokens: (layers, heads, d), (layers, heads, d, d),
            (layers, heads, d/2), (layers) moments of regular queries before rotary positions; only with queries=True
    """

    def __init__(self, name: str, layers: list[str], about: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self.name, self.layers = name, layers
        self.__dict__.update(about)
        self.__dict__.update(arrays)

    @classmethod
    def of(cls, name: str, layers: list[Layer], bins: OffsetBins, words_of: Callable[[list[int]], list[str]]) -> "Stack":
        """Makes a stack from watched layers."""
        def stacked(attribute: str) -> np.ndarray:
            return np.stack([getattr(layer.sums, attribute).cpu().numpy() for layer in layers], 1)

        first = layers[0]
        documents = max(layer.documents.count for layer in layers)
        used = np.flatnonzero(stacked("pairs").sum((0, 1, 2)))
        part = slice(int(used[0]), int(used[-1]) + 1) if len(used) else slice(bins.centre, bins.centre + 1)
        blocks = first.sums.weight.shape[0]
        there = min(documents, blocks)   # blocks that have a document
        arrays = {"block_documents": np.array([len(range(b, documents, blocks)) for b in range(there)]),
                  "document_digest": first.documents.digests(), "first_offset": bins.first[part], "last_offset": bins.last[part]}
        arrays |= {label: stacked(label)[:there, ..., part] for label in ("weight", "pairs")}
        arrays |= {label: stacked(label)[:there] for label in ("entropy", "kept", "rows")}
        if all(layer.traces is not None for layer in layers):
            arrays |= _traces_of([layer.traces for layer in layers])
        kept = all(layer.kept is not None for layer in layers)
        if kept:
            from .kept import account_arrays

            arrays |= account_arrays(layers, arrays["null_weight"].shape[-1] // 2)
            tokens = np.unique(arrays.get("attended_token", ()))
            if words := words_of(tokens.tolist()):
                arrays |= {"word_token": tokens, "word": np.array(words, object)}
        if all(layer.moments is not None for layer in layers):
            moments = [layer.moments for layer in layers]
            arrays |= {f"unrotated_{label}": _together(moments, label) for label in LABELS}
        arrays |= {label: np.array([getattr(layer, label) for layer in layers], np.float64) for label in _OF_LAYERS}
        about = {label: getattr(first, label) for label in _ABOUT}
        about |= {"documents": documents, "dealt_documents": len(arrays["kept_number"]) if kept else 0}
        return cls(name, [layer.path if layer.times == 1 else f"{layer.path}#{layer.times}" for layer in layers], about, arrays)

    @classmethod
    def read(cls, name: str, group: Any) -> "Stack":
        """Reads the stack in a group of profiles.h5."""
        about = {label: group.attrs.get("d_head" if label == "width" else label, "") for label in _ABOUT}
        about |= {label: group.attrs[label] for label in ("documents", "dealt_documents")}
        about = {label: value.item() if isinstance(value, np.generic) else value for label, value in about.items()}
        about["cross"] = bool(about["cross"])   # netCDF drops booleans, so the file has 0 or 1
        arrays = {label: group[label][()] if label in _VECTORS or label in _PLAIN else group[label][()].astype(np.float64)
                  for label in _AXES if label in group}
        if "word" in group:
            arrays["word"] = np.array(group["word"].asstr()[()], object)
        return cls(name, group["layer"].asstr()[()].tolist(), about, arrays)

    @property
    def digest(self) -> str:
        """SHA-256 of the digests of all documents. Empty if some ids are unknown."""
        known = self.document_digest.all()
        return hashlib.sha256("".join(f"{one:013.0f}\n" for one in self.document_digest).encode()).hexdigest() if known else ""

    def read_beside(self, encoder: "Stack | None") -> None:
        """Includes the encoder's documents in the digests of a decoder's documents. None means that the encoder's documents are unknown."""
        known = encoder is not None and encoder.documents == self.documents
        both = zip(encoder.document_digest if known else np.zeros(self.documents), self.document_digest)
        texts = [f"{one:.0f} {other:.0f}" if one and other else "" for one, other in both]
        self.document_digest = np.array([float(int(hashlib.sha256(text.encode()).hexdigest()[:13], 16)) if text else 0 for text in texts])

    def __add__(self, other: "Stack") -> "Stack":
        """Adds the sums over other documents. Block b of the result contains the documents of both blocks b.

        Raises:
            ShapeError: the models, offset bins, or lengths of the first documents differ
        """
        for label in ("layers", "heads", "kv_heads", "width", "cross", *_OF_LAYERS):
            if not np.array_equal(getattr(self, label), getattr(other, label)):
                raise ShapeError(f"profiles: {self.name}: {label} is {getattr(self, label)} in one and {getattr(other, label)} in the other; "
                                 "expected profiles of one model")
        if hasattr(self, "trace") and hasattr(other, "trace") and (self.place_sum.shape != other.place_sum.shape or self.length[0] != other.length[0]):
            raise ShapeError(f"profiles: {self.name}: the first document has {self.length[0]} tokens in one and {other.length[0]} in the other; expected "
                             "first documents of one length, since the null compares their positions")
        about = {label: getattr(self, label) for label in _ABOUT}
        about |= {label: getattr(self, label) + getattr(other, label) for label in ("documents", "dealt_documents")}
        wider, narrower = sorted((self, other), key=lambda one: len(one.first_offset), reverse=True)
        at = int(np.searchsorted(wider.first_offset, narrower.first_offset[0]))
        if not np.array_equal(wider.first_offset[at:at + len(narrower.first_offset)], narrower.first_offset):
            low, high = sorted((self, other), key=lambda one: one.first_offset[0])
            raise ShapeError(f"profiles: {self.name}: offset bins {low.first_offset[0]} to {low.last_offset[-1]} and {high.first_offset[0]} to "
                             f"{high.last_offset[-1]} do not agree; expected the same exact= in both")
        arrays = {label: getattr(wider, label) for label in ("first_offset", "last_offset", *_OF_LAYERS)}
        for label, axes in _AXES.items():
            one, another = getattr(self, label, None), getattr(other, label, None)
            if one is None or another is None or label in arrays:
                continue
            if label in ("kept_number", "attended_number"):   # by an even number: the other's documents keep their halves
                another = another + int(self.account_documents.sum() + 1) // 2 * 2
            if label in _OF_FIRST:
                arrays[label] = one
            elif axes[0] in ("document", "kept_document", "attended_document"):
                arrays[label] = np.concatenate([one, another])
            elif not label.startswith("unrotated_"):   # together, below
                arrays[label] = _added(one, another, at if axes[-1] == "bin" else abs(one.shape[-1] - another.shape[-1]) // 2)
        words = {int(token): text for stack in (self, other) if hasattr(stack, "word") for token, text in zip(stack.word_token, stack.word)}
        if words and "attended_number" in arrays:
            arrays |= {"word_token": np.array(sorted(words), np.float64), "word": np.array([words[token] for token in sorted(words)], object)}
        if hasattr(self, "unrotated_mean") and hasattr(other, "unrotated_mean"):
            both = [one + another for one, another in zip(self._moments, other._moments)]
            arrays |= {f"unrotated_{label}": _together(both, label) for label in LABELS}
        return Stack(self.name, self.layers, about, arrays)

    def __repr__(self) -> str:
        return f"Stack({self.name}: {len(self.layers)} layers of {self.heads} heads, {self.documents} documents)"

    def mean_weight(self, apart: bool = True) -> np.ndarray:
        """Computes the mean weight at each offset, (layers, heads, bins): the sum of weights divided by the number of pairs. NaN if there are none.

        Args:
            apart: whether pairs with a special or first token count too
        """
        kinds = slice(0, 2 if apart else 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.weight[:, :, kinds].sum((0, 2)) / self.pairs[:, :, kinds].sum((0, 2))[:, None]

    def distances(self, *, shares: Sequence[float] = (0.9, 0.95, 0.99), recent: int | Sequence[int] = ()) -> Any:
        """Computes how far heads look, with the program's own code. Gives the group `attention_distance` of a result (docs/result-file.md).

        Example:
            >>> stack.distances(recent=256)["key_head_distant"]      # share of each key head's attention that a cache of 256 tokens loses

        Args:
            shares: shares of attention that a window should contain; for example, 0.9 gives window_90
            recent: distances in tokens; `distant` is the share of attention farther away than each; by default 64, 256, 1024, ... up to
                the length of the documents
        """
        shares = [real(share, "shares", 0, 1) for share in shares]
        recent = [whole(each, "recent", 1) for each in (recent if isinstance(recent, Sequence) else [recent])]
        arrays = {label: getattr(self, label) for label in ("first_offset", "last_offset", "weight", "pairs", "kept")}
        found = _core.distances(arrays, self.layers, self.heads, self.kv_heads, shares, recent)
        return groups_of(found.fields())["attention_distance"]

    @property
    def _moments(self) -> list[Moments]:
        arrays = [getattr(self, f"unrotated_{label}") for label in LABELS]
        return [Moments(*(array[layer] for array in arrays)) for layer in range(len(self.layers))]


def _together(moments: list[Moments], label: str) -> np.ndarray:
    """Stacks one of the moments over layers."""
    values = (getattr(each, label) for each in moments)
    arrays = [value.cpu().numpy() if hasattr(value, "cpu") else np.asarray(value) for value in values]
    return np.stack(arrays).astype(np.float64)


def _added(one: np.ndarray, other: np.ndarray, start: int) -> np.ndarray:
    """Adds two arrays. Along the last axis the shorter array begins at `start`; along other axes both begin at 0."""
    total = np.zeros([max(sizes) for sizes in zip(one.shape, other.shape)], np.result_type(one, other))
    for of in (one, other):
        first = start if of.shape[-1] < total.shape[-1] else 0
        total[(*map(slice, of.shape[:-1]), slice(first, first + of.shape[-1]))] += of
    return total


def _traces_of(layers: list[Any]) -> dict[str, np.ndarray]:
    """Collects the traces of watched layers, with documents in order, and with the offsets that occur in the longest document."""
    first = layers[0]
    order = np.argsort(first.numbers)
    length = np.array(first.lengths)[order]
    beyond = first.exact - min(first.exact, int(length.max()) - 1)
    arrays = {"length": length, "by_document": np.stack([np.stack([layer.by_document[d] for d in order]) for layer in layers], 1)}
    for label, axes in _AXES.items():
        those = [next((of for of in (layer.scores, layer) if hasattr(of, label)), None) for layer in layers]
        if label not in (*arrays, *_PLAIN) and those[0] is not None:
            values = np.stack([getattr(of, label).cpu().numpy().astype(np.float64) for of in those], axes.index("layer"))
            arrays[label] = values[..., beyond:values.shape[-1] - beyond] if axes[-1] == "offset" else values
    return arrays


# Coordinates of axes. Other axes have whole numbers: from 0, or for the signed axes with 0 in the middle.
_NAMES = {"kind": ("regular", "apart"), "pairs_kind": ("all", "without_special", "without_sink")}
_SIGNED = ("offset", "near", "near_offset", "between")


def about_of(stack: Stack) -> dict[str, Any]:
    return {"documents": stack.documents, "dealt_documents": stack.dealt_documents, "ids_sha256": stack.digest, "heads": stack.heads,
            "kv_heads": stack.kv_heads, "d_head": stack.width, "cross": int(stack.cross), "implementation": stack.implementation,
            "module": stack.module, "dtype": stack.dtype, "rope_type": stack.rope_type}


def variables(stack: Stack) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
    """Lists the arrays of a stack for a file, by name: their axes, and their values in the file's type."""
    found: dict[str, tuple[tuple[str, ...], np.ndarray]] = {}
    for name, dims in _AXES.items():
        values = getattr(stack, name, None)
        if values is None:
            continue
        if name not in _PLAIN:
            as_counts = name in _COUNTS and np.array_equal(values, np.round(values))
            values = values.astype(np.int64 if as_counts else np.float32 if name not in _COUNTS else np.float64)
        found[name] = (dims, values)
    return found


def coordinates(stack: Stack) -> dict[str, np.ndarray]:
    """Gives the coordinates of every axis of the arrays of a stack."""
    sizes = {axis: size for dims, values in variables(stack).values() for axis, size in zip(dims, values.shape)}
    found = {axis: np.array(_NAMES[axis], object) if axis in _NAMES else np.arange(size) - (size // 2 if axis in _SIGNED else 0)
             for axis, size in sizes.items()}
    return found | {"layer": np.array(stack.layers, object)} | ({"word": stack.word} if hasattr(stack, "word") else {})
