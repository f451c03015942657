"""What a watch summed: arrays, what they say of heads, and the file profiles.h5 (docs/profiles.md)."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from ..arguments import names, real, whole
from ..errors import FormatError, IoError, ShapeError
from .export import export
from .moments import LABELS, Moments
from .written import replaced, require_seal, seal

if TYPE_CHECKING:
    from .bins import OffsetBins
    from .layers import Layer

FORMAT = 1


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A number for every head, and its standard error over documents; NaN: documents of fewer than two blocks."""

    value: np.ndarray
    error: np.ndarray


# Arrays of a stack and their axes. Those that are sums over documents are added where files are; the means are weighted by their tokens.
_ABOUT_AXES = {"first_offset": ("bin",), "last_offset": ("bin",), "band_first": ("band",), "block_documents": ("block",)}
_AXES = {
    "weight": ("block", "layer", "kind", "head", "bin"), "pairs": ("block", "layer", "kind", "bin"), "uniform": ("block", "layer", "kind", "bin"),
    "entropy": ("block", "layer", "head"), "kept": ("block", "layer", "head"), "rows": ("block", "layer"), "uniform_entropy": ("block", "layer"),
    "first_keys": ("block", "layer", "head", "first_key"), "band_weight": ("band", "layer", "kind", "head", "bin"),
    "band_pairs": ("band", "layer", "kind", "bin"), "band_entropy": ("band", "layer", "head"), "band_rows": ("band", "layer"),
    "band_first_keys": ("band", "layer", "head", "first_key"), "sampling_variance": ("layer", "kind", "head", "bin"),
    "query_mean": ("layer", "head", "component"), "key_mean": ("layer", "kv_head", "component"), "query_tokens": ("layer",), "key_tokens": ("layer",),
    "unrotated_tokens": ("layer",), "unrotated_mean": ("layer", "head", "component"),
    "unrotated_cov": ("layer", "head", "component", "other_component"),
    "unrotated_modulus": ("layer", "head", "pair"),
    "dealt_weight": ("block", "layer", "term", "head", "bin"), "dealt_pairs": ("block", "layer", "bin"), "dealt_uniform": ("block", "layer", "bin"),
}
# What the program reads, `headwave run --profiles`: sums over documents too, and arrays of one document after another.
_TRACES = {
    "trace": ("layer", "pairs_kind", "head", "offset"), "trace_mean": ("layer", "pairs_kind", "head", "offset"), "trace_count": ("layer", "pairs_kind", "offset"),
    "trace_documents": ("layer", "pairs_kind", "offset"), "null_weight": ("layer", "pairs_kind", "head", "near"), "null_variance": ("layer", "pairs_kind", "head", "near"),
    "null_deviation": ("layer", "pairs_kind", "head", "near"), "null_third": ("layer", "pairs_kind", "head", "near"),
    "null_root": ("layer", "pairs_kind", "head", "near"), "null_documents": ("layer", "pairs_kind", "near"), "account_weight": ("block", "layer", "head", "near"),
    "place_sum": ("layer", "head", "place"), "place_documents": ("layer", "place"), "place_squares": ("layer", "head"),
    "by_document": ("document", "layer", "head", "near"), "length": ("document",), "document_digest": ("document",), "dealt_null_weight": ("layer", "draw", "head", "near"),
    "dealt_null_pairs": ("layer", "draw", "near"), "dealt_null_uniform": ("layer", "draw", "near"),
    "head_score": ("layer", "score", "head"), "head_score_documents": ("layer", "score", "head"), "argmax_share": ("layer", "head", "near_offset"),
    "argmax_documents": ("layer", "head"), "sink_position": ("layer", "head"),
}
# Single documents, one after another: their tokens, and the largest weights of each.
_SEQUENCES = {
    "sequence_length": ("sequence",), "sequence_ids": ("token",), "sequence_tokens": ("token",),
    "largest_key": ("layer", "head", "token", "rank"), "largest_weight": ("layer", "head", "token", "rank"),
}
_COUNTS = {"pairs", "dealt_pairs", "rows", "band_pairs", "band_rows", "query_tokens", "key_tokens",
           "unrotated_tokens"}
_COUNTS |= {"length", "trace_count", "trace_documents", "null_documents", "place_documents", "head_score_documents", "argmax_documents",
            "sink_position", "document_digest"}
_OF_LAYERS = ("scale", "soft_cap", "window", "sinks")
_ABOUT = ("heads", "kv_heads", "width", "cross", "implementation", "module", "dtype", "rope_type")


class Stack:
    """Layers of one kind, one after another: the arrays of their heads.

    Arrays are float64: counts and sums over documents, not means, so that files of several processes are added.

    Attributes:
        name: "causal", "self" or "cross", with a number where there are several
        layers: paths of the modules
        heads, kv_heads, width: query heads and key heads of a layer, and d_head
        scale, soft_cap, window, sinks: (layers) of the scores; 0: none
        documents, dealt_documents: how many were summed, and how many of these were dealt
        block_documents: (blocks) documents of each block
        first_offset, last_offset: (bins) tokens; band_first: (bands) first position
        weight: (blocks, layers, 2, heads, bins) sums of weights; pairs of regular tokens first, then those apart
        pairs, uniform: (blocks, layers, 2, bins) pairs, and what weights would add up to if all allowed keys had the same
        entropy, kept: (blocks, layers, heads) sums over query rows, in nats; rows, uniform_entropy: (blocks, layers)
        first_keys: (blocks, layers, heads, 8) weight on each of the first keys
        band_weight, band_pairs, ...: the same by query band, over all documents
        sampling_variance: (layers, 2, heads, bins) of `weight` over all documents, by sampled rows
        query_mean, key_mean: (layers, heads, d), (layers, kv_heads, d) as attention takes them
        unrotated_mean, unrotated_cov, unrotated_modulus: (layers, heads, d), (layers, heads, d, d),
            (layers, heads, d/2) of regular queries before rotary positions, unrotated_tokens: (layers) of them; only
            if watched with queries=True
        dealt_weight: (blocks, layers, 3, heads, bins) sums of weights over regular pairs by position, self and context; if documents were dealt
        dealt_pairs, dealt_uniform: (blocks, layers, bins) of those documents
        sequence_length: (sequences) tokens of the documents whose largest weights were kept; sequence_ids, sequence_tokens:
            (tokens of all of them) ids, -1 where they are not known, and texts; largest_key, largest_weight:
            (layers, heads, tokens, 8) positions of keys in the document, -1: none, and weights; if watched with sequences=
    """

    def __init__(self, name: str, layers: list[str], about: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self.name, self.layers = name, layers
        self.__dict__.update(about)
        self.__dict__.update(arrays)

    @classmethod
    def of(cls, name: str, layers: list[Layer], bins: OffsetBins, tokenizer: Any) -> "Stack":
        """The sums of watched layers."""
        from .bins import band_first  # with PyTorch, which reading a file does without

        def stacked(attribute: str, axis: int) -> np.ndarray:
            return np.stack([getattr(layer.sums, attribute).cpu().numpy().astype(np.float64) for layer in layers], axis)

        first = layers[0]
        documents = max(layer.documents.count for layer in layers)
        used = np.flatnonzero(stacked("pairs", 1).sum((0, 1, 2)))
        part = slice(int(used[0]), int(used[-1]) + 1) if len(used) else slice(bins.centre, bins.centre + 1)
        blocks = first.sums.weight.shape[0]
        there = min(documents, blocks)   # blocks that have a document
        arrays = {"block_documents": np.array([len(range(b, documents, blocks)) for b in range(there)]),
                  "first_offset": bins.first[part], "last_offset": bins.last[part]}
        arrays |= {label: stacked(label, 1)[:there, ..., part] for label in ("weight", "pairs", "uniform")}
        arrays |= {label: stacked(label, 1)[:there] for label in ("entropy", "kept", "rows", "uniform_entropy", "first_keys")}
        band_rows = stacked("band_rows", 1)
        bands = int(np.flatnonzero(band_rows.sum(1))[-1]) + 1 if band_rows.any() else 1
        arrays |= {"band_first": np.array([band_first(b) for b in range(bands)]), "band_rows": band_rows[:bands]}
        arrays |= {label: stacked(label, 1)[:bands, ..., part] for label in ("band_weight", "band_pairs")}
        arrays |= {label: stacked(label, 1)[:bands] for label in ("band_entropy", "band_first_keys")}
        arrays["sampling_variance"] = stacked("variance", 0)[..., part]
        tokens = stacked("tokens", 0)
        arrays |= {"query_tokens": tokens[:, 0], "key_tokens": tokens[:, 1]}
        arrays |= {f"{side}_mean": stacked(f"{side}_sum", 0) / np.maximum(arrays[f"{side}_tokens"], 1)[:, None, None] for side in ("query", "key")}
        dealt = [layer.dealing for layer in layers if layer.dealing is not None]
        dealt_documents = dealt[0].dealt if len(dealt) == len(layers) else 0
        if dealt_documents:
            arrays |= {f"dealt_{label}": np.stack([getattr(one, label).cpu().numpy() for one in dealt], 1)[:there, ..., part]
                       for label in ("weight", "pairs", "uniform")}
        if all(layer.traces is not None for layer in layers):
            arrays |= _traces_of([layer.traces for layer in layers], there)
            arrays["document_digest"] = np.array(first.documents.digests(sorted(first.traces.numbers)))
            if dealt_documents:
                arrays |= {f"dealt_{label}": np.stack([getattr(one, label).cpu().numpy() for one in dealt])
                           for label in ("null_weight", "null_pairs", "null_uniform")}
        if all(layer.moments is not None for layer in layers):
            moments = [layer.moments for layer in layers]
            arrays |= {f"unrotated_{label}": _together(moments, label) for label in LABELS}
        if all(layer.sequences is not None for layer in layers):
            arrays |= _sequences_of(layers, tokenizer)
        arrays |= {label: np.array([getattr(layer, label) for layer in layers], np.float64) for label in _OF_LAYERS}
        about = {label: getattr(first, label) for label in _ABOUT}
        about |= {"documents": documents, "dealt_documents": dealt_documents,
                  "digest": first.documents.digest.hexdigest() if first.documents.knows_ids else ""}
        return cls(name, [layer.path if layer.times == 1 else f"{layer.path}#{layer.times}" for layer in layers], about, arrays)

    @classmethod
    def read(cls, name: str, group: Any) -> "Stack":
        """The sums in a group of profiles.h5."""
        about = {label: group.attrs.get("d_head" if label == "width" else label, "") for label in _ABOUT}
        about |= {label: group.attrs[label] for label in ("documents", "dealt_documents")} | {"digest": group.attrs["ids_sha256"]}
        about = {label: value.item() if isinstance(value, np.generic) else value for label, value in about.items()}
        about["cross"] = bool(about["cross"])   # netCDF leaves booleans out, so the file has 0 or 1
        arrays = {label: group[label][()] for label in ("block_documents", "first_offset", "last_offset", "band_first", *_OF_LAYERS)}
        arrays |= {label: group[label][()].astype(np.float64) for label in (*_AXES, *_TRACES) if label in group}
        arrays |= {label: group[label].asstr()[()] if label == "sequence_tokens" else group[label][()] for label in _SEQUENCES if label in group}
        arrays.setdefault("sampling_variance", np.zeros(arrays["weight"].shape[1:]))
        return cls(name, group["layer"].asstr()[()].tolist(), about, arrays)

    def read_beside(self, encoder: "Stack | None") -> None:
        """Tells documents of a decoder apart by what its encoder read, too; None: that is not known."""
        known = encoder is not None and encoder.digest and encoder.documents == self.documents
        self.digest = hashlib.sha256((encoder.digest + self.digest).encode()).hexdigest() if known and self.digest else ""
        if hasattr(self, "document_digest"):
            both = zip(encoder.document_digest, self.document_digest) if known and hasattr(encoder, "document_digest") else ()
            texts = [f"{one:.0f} {other:.0f}" if one and other else "" for one, other in both] or [""] * len(self.document_digest)
            self.document_digest = np.array([int(hashlib.sha256(text.encode()).hexdigest()[:13], 16) if text else 0 for text in texts])

    @property
    def layer_numbers(self) -> list[int]:
        """The number of each layer in the model, as the modules' paths say; 0, 1, 2, ... where these do not ascend."""
        found = [re.search(r"(?<=\.)\d+(?=\.|$)", path) for path in self.layers]
        numbers = [-1 if number is None else int(number[0]) for number in found]
        return numbers if numbers[0] >= 0 and all(one < other for one, other in zip(numbers, numbers[1:])) else list(range(len(numbers)))

    def __add__(self, other: "Stack") -> "Stack":
        """The sums over the documents of both. Block b holds the documents of both blocks b.

        Raises:
            ShapeError: the two are not of one model
        """
        for label in ("layers", "heads", "kv_heads", "width", "cross"):
            if getattr(self, label) != getattr(other, label):
                raise ShapeError(f"profiles: {self.name}: {label} is {getattr(self, label)} in one and {getattr(other, label)} in the other; "
                                 "expected profiles of one model")
        for label in _OF_LAYERS:
            if not np.array_equal(getattr(self, label), getattr(other, label)):
                raise ShapeError(f"profiles: {self.name}: {label} of the scores differs; expected profiles of one model")
        documents = self.documents + other.documents
        digest = hashlib.sha256((self.digest + other.digest).encode()).hexdigest() if self.digest and other.digest else ""
        about = {label: getattr(self, label) for label in _ABOUT}
        about |= {"documents": documents, "dealt_documents": self.dealt_documents + other.dealt_documents, "digest": digest}
        wider, narrower = sorted((self, other), key=lambda one: len(one.first_offset), reverse=True)
        at = int(np.searchsorted(wider.first_offset, narrower.first_offset[0]))
        if not np.array_equal(wider.first_offset[at:at + len(narrower.first_offset)], narrower.first_offset):
            low, high = sorted((self, other), key=lambda one: one.first_offset[0])
            raise ShapeError(f"profiles: {self.name}: offset bins {low.first_offset[0]} to {low.last_offset[-1]} and {high.first_offset[0]} to "
                             f"{high.last_offset[-1]} do not agree; expected the same exact= in both")
        arrays = {label: getattr(wider, label) for label in ("first_offset", "last_offset", *_OF_LAYERS)}
        arrays["band_first"] = max(self.band_first, other.band_first, key=len)
        arrays["block_documents"] = _added([(self.block_documents, 0), (other.block_documents, 0)], ("block",), 0)
        for label, axes in _AXES.items():
            there = [(getattr(each, label), first) for each, first in ((wider, 0), (narrower, at)) if hasattr(each, label)]
            if label.startswith("unrotated_"):
                continue   # together, below
            if label.endswith("_mean"):
                tokens = [getattr(each, label.replace("mean", "tokens"))[:, None, None] for each in (wider, narrower)]
                total = sum(mean * count for (mean, _), count in zip(there, tokens))
                arrays[label] = total / np.maximum(sum(tokens), 1)
            elif there:
                arrays[label] = _added(there, axes, len(wider.first_offset))
        if hasattr(self, "trace") and hasattr(other, "trace"):
            arrays |= _added_traces(self, other)
        for label, axes in _SEQUENCES.items():
            there = [getattr(each, label) for each in (self, other) if hasattr(each, label)]
            if there:
                arrays[label] = np.concatenate(there, 0 if len(axes) == 1 else 2)
        if hasattr(self, "unrotated_mean") and hasattr(other, "unrotated_mean"):
            both = [one + another for one, another in zip(self._moments, other._moments)]
            arrays |= {f"unrotated_{label}": _together(both, label) for label in LABELS}
        return Stack(self.name, self.layers, about, arrays)

    def __repr__(self) -> str:
        return f"Stack({self.name}: {len(self.layers)} layers of {self.heads} heads, {self.documents} documents)"

    def mean_weight(self, apart: bool = True) -> np.ndarray:
        """Mean weight at each offset, (layers, heads, bins): sums over documents over the pairs there are; NaN where there is none.

        Args:
            apart: whether pairs of special and first tokens count too
        """
        kinds = slice(0, 2 if apart else 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.weight[:, :, kinds].sum((0, 2)) / self.pairs[:, :, kinds].sum((0, 2))[:, None]

    def distant(self, recent: int, *, groups: bool = False) -> Estimate:
        """The share of a head's attention that goes farther than `recent` tokens, special and first tokens left out.

            distant = sum of weights over regular pairs with |t| >= recent / sum of all weights

        A streaming cache, which keeps the first tokens and the last `recent` ones, loses this share. Within a logarithmic bin weights are taken
        as even.

        Args:
            recent: tokens, 1 or more
            groups: of each group of query heads that share a key head, the largest value

        Returns:
            (layers, heads), or (layers, kv_heads); standard errors over blocks of documents
        """
        recent = whole(recent, "recent", 1)
        nearest, farthest = self._distances
        share = np.clip((farthest + 1 - recent) / (farthest + 1 - nearest), 0, 1)
        return self._over_blocks(lambda weight, kept: (weight[:, 0] * share).sum(-1) / kept, groups)

    def coverage(self, share: float, *, groups: bool = False) -> Estimate:
        """The smallest window that holds a share of a head's attention, beside the special and the first tokens.

        Args:
            share: 0.9, 0.95, 0.99: of all weights

        Returns:
            (layers, heads), or (layers, kv_heads) with the largest of a group, in tokens: distances 0 .. window - 1 and the tokens apart
            together hold the share. Within a logarithmic bin weights are taken as even. Standard errors over blocks of documents
        """
        share = real(share, "share", 0, 1)
        nearest, farthest = self._distances
        edges = np.unique(np.append(nearest, farthest.max() + 1))

        def smallest(weight: np.ndarray, kept: np.ndarray) -> np.ndarray:
            held = np.zeros((*kept.shape, len(edges)))   # by a window of edges[i] tokens, with the tokens apart
            held[..., 0] = weight[:, 1].sum(-1)
            for bin, distance in enumerate(np.searchsorted(edges, nearest)):
                held[..., distance + 1] += weight[:, 0, :, bin]
            held = np.cumsum(held, -1)
            wanted = share * kept * (1 - 1e-12)   # what rounding loses of a share of 1
            enough = np.clip((held < wanted[..., None]).sum(-1), 1, len(edges) - 1)   # the first edge that holds it
            before, after = (np.take_along_axis(held, at[..., None], -1)[..., 0] for at in (enough - 1, enough))
            part = np.clip((wanted - before) / np.where(after > before, after - before, 1), 0, 1)
            return edges[enough - 1] + part * (edges[enough] - edges[enough - 1])

        return self._over_blocks(smallest, groups)

    def slashes(self, count: int = 8) -> tuple[np.ndarray, Estimate]:
        """The offsets with the largest mean weights, special and first tokens left out: of a logarithmic bin its first offset.

        Offsets with less than a quarter of the pairs of the most frequent one are left out: a few pairs say little.

        Returns:
            offsets in tokens, and mean weights with standard errors over blocks of documents, (layers, heads, count), the largest first;
            NaN weight where there are fewer
        """
        weight, pairs = self.weight[:, :, 0], self.pairs[:, :, 0]
        at_one = pairs.sum(0) / (self.last_offset - self.first_offset + 1)   # pairs at one offset of each bin
        often = 4 * at_one >= at_one.max(-1, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.where(often[:, None], weight.sum(0) / pairs.sum(0)[:, None], np.nan)
            without = [(weight.sum(0) - weight[b]) / (pairs.sum(0) - pairs[b])[:, None] for b in range(len(weight))]
        order = np.argsort(np.where(np.isnan(mean), -1.0, mean), -1)[..., ::-1][..., :whole(count, "count", 1)]
        value, error = (np.take_along_axis(of, order, -1) for of in (mean, _jackknifed(without)))
        return self.first_offset[order], Estimate(value, error)

    def apart(self) -> Estimate:
        """The share of a head's attention on pairs of a special token or one of the first: (layers, heads)."""
        return self._over_blocks(lambda weight, kept: weight[:, 1].sum(-1) / kept, False)

    def mean_entropy(self) -> Estimate:
        """The entropy of a query's weights, mean over queries, in nats: (layers, heads)."""
        def of(entropy: np.ndarray, rows: np.ndarray) -> np.ndarray:
            with np.errstate(invalid="ignore", divide="ignore"):
                return entropy / rows[:, None]

        entropy, rows = self.entropy.sum(0), self.rows.sum(0)
        return Estimate(of(entropy, rows), _jackknifed([of(entropy - self.entropy[b], rows - self.rows[b]) for b in range(len(self.rows))]))

    @property
    def _moments(self) -> list[Moments]:
        arrays = [getattr(self, f"unrotated_{label}") for label in LABELS]
        return [Moments(*(array[layer] for array in arrays)) for layer in range(len(self.layers))]

    @property
    def _distances(self) -> np.ndarray:
        """The least and the greatest |t| of every bin, (2, bins), in tokens."""
        return np.sort(np.abs([self.first_offset, self.last_offset]), 0)

    def _over_blocks(self, of: Callable[[np.ndarray, np.ndarray], np.ndarray], groups: bool) -> Estimate:
        """A measure of all documents, and its standard error by leaving out one block at a time (a jackknife)."""
        weight, kept = self.weight.sum(0), self.kept.sum(0)

        def measured(weight: np.ndarray, kept: np.ndarray) -> np.ndarray:
            with np.errstate(invalid="ignore", divide="ignore"):
                by_head = of(weight, kept)
            return by_head.reshape(len(by_head), self.kv_heads, -1).max(-1) if groups else by_head

        without = [measured(weight - self.weight[b], kept - self.kept[b]) for b in range(len(self.weight))]
        return Estimate(measured(weight, kept), _jackknifed(without))


def _jackknifed(without: list[np.ndarray]) -> np.ndarray:
    """The standard error of a number, of what it is without one block of documents at a time."""
    n = len(without)
    return np.sqrt((n - 1) / n * np.square(without - np.mean(without, 0)).sum(0)) if n > 1 else np.full_like(without[0], np.nan)


def _together(moments: list[Moments], label: str) -> np.ndarray:
    """One array of the moments of every layer."""
    values = (getattr(each, label) for each in moments)
    arrays = [value.cpu().numpy() if hasattr(value, "cpu") else np.asarray(value) for value in values]
    return np.stack(arrays).astype(np.float64)


def _added(arrays: list[tuple[np.ndarray, int]], axes: tuple[str, ...], bins: int) -> np.ndarray:
    """The sum of arrays with `bins` bins; each may have fewer, and comes with the bin that it begins at. Other axes are counted from 0."""
    shape = [bins if axis == "bin" else max(sizes) for axis, sizes in zip(axes, zip(*(array.shape for array, _ in arrays)))]
    total = np.zeros(shape, np.result_type(*(array for array, _ in arrays)))
    for array, first in arrays:
        total[tuple(slice(first, first + size) if axis == "bin" else slice(size) for axis, size in zip(axes, array.shape))] += array
    return total


def _traces_of(layers: list[Any], blocks: int) -> dict[str, np.ndarray]:
    """Arrays of `_TRACES` of watched layers: documents in their order, offsets as far as documents are long."""
    first = layers[0]
    order = np.argsort(first.numbers)
    length = np.array(first.lengths)[order]
    beyond = {"offset": first.exact - min(first.exact, int(length.max()) - 1), "near": 0}
    arrays = {"length": length, "by_document": np.stack([np.stack([layer.by_document[d] for d in order]) for layer in layers], 1)}
    for label, axes in _TRACES.items():
        if label not in (*arrays, "document_digest") and not label.startswith("dealt_"):
            those = [layer.scores if hasattr(layer.scores, label) else layer for layer in layers]
            values = np.stack([getattr(of, label).cpu().numpy().astype(np.float64) for of in those], axes.index("layer"))
            cut = beyond.get(axes[-1], 0)
            values = values[..., cut:values.shape[-1] - cut]
            arrays[label] = values[:blocks] if axes[0] == "block" else values
    return arrays


def _sequences_of(layers: list[Any], tokenizer: Any) -> dict[str, np.ndarray]:
    """Arrays of `_SEQUENCES` of watched layers."""
    from .sequences import decoded

    lengths, known = layers[0].sequences.lengths(), layers[0].documents.ids
    ids = [token for document, length in enumerate(lengths) for token in known.get(document, [-1] * length)]
    largest = [layer.sequences.arrays() for layer in layers]
    return {"sequence_length": lengths, "sequence_ids": np.array(ids), "sequence_tokens": np.array(decoded(ids, tokenizer), object),
            "largest_key": np.stack([keys for keys, _ in largest]), "largest_weight": np.stack([weights for _, weights in largest])}


def _added_traces(one: Stack, other: Stack) -> dict[str, np.ndarray]:
    """The sums of `_TRACES` over the documents of both.

    Raises:
        ShapeError: first documents differ in length, so that other places were compared
    """
    if one.place_sum.shape != other.place_sum.shape or one.length[0] != other.length[0]:
        raise ShapeError(f"profiles: {one.name}: the first document has {one.length[0]} tokens in one and {other.length[0]} in the other; expected "
                         "first documents of one length, whose places the null compares")
    arrays = {}
    for label, axes in _TRACES.items():
        values = [getattr(each, label) for each in (one, other) if hasattr(each, label)]
        if not values or (len(values) == 1 and not label.startswith("dealt_")):   # an earlier headwave did not sum it
            continue
        if label == "sink_position":
            arrays[label] = one.sink_position
            continue
        if axes[0] == "document":
            arrays[label] = np.concatenate(values)
            continue
        if axes[-1] == "offset":
            most = max(of.shape[-1] for of in values)
            values = [np.pad(of, [(0, 0)] * (of.ndim - 1) + [((most - of.shape[-1]) // 2,) * 2]) for of in values]
        arrays[label] = _added([(of, 0) for of in values], axes, 0)
    return arrays


class Profiles:
    """Sums of attention over the documents that a model read while it was watched.

    Profiles of several processes over other documents of the same model are added: `one + two`.

    Attributes:
        stacks: by name; layers of one kind of attention each
        skipped: layers without attention, and such as did not run
    """

    def __init__(self, model: str, settings: dict[str, Any], stacks: dict[str, Stack], skipped: list[str]) -> None:
        self.model, self.settings, self.stacks, self.skipped = model, settings, stacks, skipped

    @classmethod
    def of(cls, model: str, bins: OffsetBins, settings: dict[str, Any], layers: list[Layer], skipped: list[str],
           tokenizer: Any = None) -> "Profiles":
        """The sums of watched layers, those of one kind together."""
        groups: dict[Any, list[Layer]] = {}
        for layer in layers:
            groups.setdefault((layer.pattern, layer.heads, layer.kv_heads, layer.width, layer.cross), []).append(layer)
        stacks: dict[str, Stack] = {}
        for those in groups.values():
            ahead = sum(float(layer.sums.pairs[:, :, bins.centre + 1:].sum()) for layer in those)
            kind = "cross" if those[0].cross else "self" if ahead else "causal"
            name = kind
            while name in stacks:
                name = f"{kind}_{len([n for n in stacks if n.split('_')[0] == kind]) + 1}"
            stacks[name] = Stack.of(name, those, bins, tokenizer)
        if any(stack.cross for stack in stacks.values()) and "causal" in stacks:
            stacks["causal"].read_beside(stacks.get("self"))
        return cls(model, settings, stacks, skipped)

    def __getitem__(self, name: str) -> Stack:
        if name not in self.stacks:
            raise KeyError(f"profiles: there is no stack '{name}'; expected one of {', '.join(self.stacks)}")
        return self.stacks[name]

    def __repr__(self) -> str:
        parts = [f"{name}: {len(s.layers)} layers of {s.heads} heads, {s.documents} documents" for name, s in self.stacks.items()]
        return f"Profiles({self.model}; " + "; ".join(parts) + ")"

    def __add__(self, other: "Profiles") -> "Profiles":
        """The sums over the documents of both.

        Raises:
            ShapeError: the two are not of one model, or were not watched with the same options
        """
        for name in ("exact", "first", "special", "rows", "queries", "blocks", "null", "deal"):
            one, another = (profiles.settings.get(name, False) for profiles in (self, other))
            if one != another:
                raise ShapeError(f"profiles: {name}={one} in one and {name}={another} in the other; expected the same "
                                 "options")
        digests = [profiles.settings.get("weights_digest", "") for profiles in (self, other)]
        if all(digests) and digests[0] != digests[1]:
            raise ShapeError(f"profiles: weights_digest={digests[0][:12]}... in one and {digests[1][:12]}... in the other; expected "
                             "profiles of the same weights, in the same dtype")
        if (self.model, list(self.stacks)) != (other.model, list(other.stacks)):
            raise ShapeError(f"profiles: {self!r} and {other!r}; expected profiles of one model")
        one, another = self._documents(), other._documents()
        if (one and another and (one <= another or another <= one)) or all(
                stack.digest and stack.digest == other[name].digest for name, stack in self.stacks.items()):
            raise ShapeError("profiles: both hold the same documents; expected others, since each counts once")
        return Profiles(self.model, self.settings, {name: self[name] + other[name] for name in self.stacks}, self.skipped)

    def _documents(self) -> set[tuple[float, ...]]:
        """Each document by the digests of its ids in every stack; empty where they are not known."""
        digests = [stack.document_digest for stack in self.stacks.values() if hasattr(stack, "document_digest")]
        known = digests and all(len(one) == len(digests[0]) and np.all(one > 0) for one in digests)
        return set(zip(*(one.tolist() for one in digests))) if known else set()

    def save(self, path: str | os.PathLike, *, only: str | Sequence[str] = (), overwrite: bool = False) -> None:
        """Writes the sums to an HDF5 file (docs/profiles.md).

        Args:
            only: names of stacks; all of them otherwise

        Raises:
            IoError: the file is there, or cannot be written; FormatError: there is no such stack, or h5py is not installed
        """
        h5py = _h5py()
        path = os.fspath(path)
        only = list(dict.fromkeys(names(only, "only")))
        for name in only:
            if name not in self.stacks:
                raise FormatError(f"profiles: there is no stack '{name}'; expected one of {', '.join(self.stacks)}")
        if os.path.lexists(path) and not overwrite:
            raise IoError(f"{path}: is already there; choose another name, or replace it with overwrite=True")
        try:
            with replaced(path) as made:
                with h5py.File(made, "w") as file:
                    file.attrs.update(self._attributes())
                    for name in only or self.stacks:
                        _write(file.create_group(name), self.stacks[name])
                seal(made)
        except OSError as error:
            raise IoError(f"{path}: cannot be written: {error}") from error

    def _attributes(self) -> dict[str, Any]:
        settings = {name: json.dumps(value) if isinstance(value, (list, dict, str)) else int(value) for name, value in self.settings.items()}
        return {"format": "headwave profiles", "format_version": FORMAT, "model": self.model, "skipped": json.dumps(self.skipped), **settings}

    def to_xarray(self) -> Any:
        """The sums as an xarray.DataTree, a group for each stack: what xarray.open_datatree() reads of the file that save() writes.

        Raises:
            ImportError: xarray is not installed
        """
        try:
            import xarray
        except ImportError as error:
            raise ImportError("a DataTree needs xarray: pip install xarray") from error
        groups = {"/": xarray.Dataset(attrs=self._attributes())}
        for name, stack in self.stacks.items():
            groups[f"/{name}"] = xarray.Dataset(_variables(stack), _coordinates(stack), _about(stack))
        return xarray.DataTree.from_dict(groups)

    def to_dataframe(self) -> Any:
        """A pandas.DataFrame with a row for each head of every stack, named as the arrays of a result are (docs/result-file.md).

        Columns: `stack`, `layer`, `head`; `module`, of the layer; `entropy`, of a mean query; `apart`; `window_90`, `window_95`, `window_99`;
        `distant_64`, `distant_256`, ... as far as documents reach; `slash_offset`, `slash_weight`, of the largest mean weight. The standard
        error of `apart` is `apart_error`, and so on.

        Raises:
            ImportError: pandas is not installed
        """
        try:
            import pandas
        except ImportError as error:
            raise ImportError("a DataFrame needs pandas: pip install pandas") from error
        rows = []
        for name, stack in self.stacks.items():
            (offset, slash), layers = stack.slashes(1), np.arange(len(stack.layers))
            measures = {"entropy": stack.mean_entropy(), "apart": stack.apart()}
            measures |= {f"window_{percent}": stack.coverage(percent / 100) for percent in (90, 95, 99)}
            farthest = int(stack._distances.max())
            measures |= {f"distant_{recent}": stack.distant(recent) for recent in (4 ** power for power in range(3, 11)) if recent <= farthest}
            columns: dict[str, Any] = {"stack": name, "layer": np.repeat(stack.layer_numbers, stack.heads), "head": np.tile(np.arange(stack.heads), len(layers)),
                                       "module": np.repeat(stack.layers, stack.heads)}
            for label, measure in measures.items():
                columns |= {label: measure.value.ravel(), f"{label}_error": measure.error.ravel()}
            columns |= {"slash_offset": offset.ravel(), "slash_weight": slash.value.ravel(), "slash_error": slash.error.ravel()}
            rows.append(pandas.DataFrame(columns))
        return pandas.concat(rows, ignore_index=True)

    def export(self, to: str, folder: str | os.PathLike, **options: Any) -> None:
        """Writes files that another tool reads (docs/profiles.md says which number became which).

        Args:
            to: "duo_attention", "kvpress" (expected attention), "triattention", "headvis" (Neuronpedia reads it too)
            folder: is made; files in it are not replaced
            options: "duo_attention": recent=256, tokens that a streaming head keeps; "headvis": model="", dataset="": their names,
                in place of the checkpoint's and of the digest of the ids

        Raises:
            FormatError: there is no such tool or option, the layers are not all layers of a causal model, or the watch
                did not sum what the tool needs; IoError: a file is there already, or cannot be written
        """
        export(self, to, os.fspath(folder), options)


def open_profiles(path: str) -> Profiles:
    """The profiles in a file that save() wrote.

    Raises:
        IoError: it cannot be read; FormatError: it is no file of profiles, or of a later format
    """
    h5py = _h5py()
    try:
        require_seal(path)
        with h5py.File(path) as file:
            about = dict(file.attrs)
            if about.pop("format", None) != "headwave profiles":
                raise FormatError(f"{path}: is no file of profiles; expected one that watch(...).result().save() wrote")
            if (version := int(about.pop("format_version"))) > FORMAT:
                raise FormatError(f"{path}: is of format {version}; this headwave reads {FORMAT}; get a newer one")
            skipped = json.loads(about.pop("skipped"))
            model = about.pop("model")
            settings = {name: json.loads(value) if isinstance(value, str) else value.item() for name, value in about.items()}
            settings |= {name: bool(settings[name]) for name in ("deal", "null", "queries") if name in settings}
            return Profiles(model, settings, {name: Stack.read(name, file[name]) for name in file}, skipped)
    except OSError as error:
        raise IoError(f"{path}: cannot be read: {error}") from error
    except (KeyError, ValueError, AttributeError) as error:
        raise FormatError(f"{path}: is damaged, or no file of profiles: {error}") from error


def are_profiles(path: str) -> bool:
    """Whether a file says that it holds profiles."""
    try:
        h5py = _h5py()
        with h5py.File(path) as file:
            return file.attrs.get("format") == "headwave profiles"
    except (FormatError, OSError):
        return False


def _h5py() -> Any:
    try:
        import h5py
    except ImportError as error:
        raise FormatError("profiles are read and written by h5py, which is not installed; pip install h5py") from error
    return h5py


# What stands along an axis; along the others, numbers from 0.
_NAMES = {"kind": ("regular", "apart"), "pairs_kind": ("all", "without_special", "without_sink"), "term": ("position", "self", "context")}
_SIGNED = ("offset", "near", "near_offset")


def _about(stack: Stack) -> dict[str, Any]:
    return {"documents": stack.documents, "dealt_documents": stack.dealt_documents, "ids_sha256": stack.digest, "heads": stack.heads,
            "kv_heads": stack.kv_heads, "d_head": stack.width, "cross": int(stack.cross), "implementation": stack.implementation,
            "module": stack.module, "dtype": stack.dtype, "rope_type": stack.rope_type}


def _variables(stack: Stack) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
    """The arrays of a stack that a file holds, in the types that it holds them in, and their axes."""
    found: dict[str, tuple[tuple[str, ...], np.ndarray]] = {}
    for name, dims in (_ABOUT_AXES | {name: ("layer",) for name in _OF_LAYERS} | _AXES | _TRACES | _SEQUENCES).items():
        values = getattr(stack, name, None)
        if values is None or (name == "sampling_variance" and not values.any()):
            continue
        if name in _AXES or name in _TRACES:
            as_counts = name in _COUNTS and np.array_equal(values, np.round(values))
            values = values.astype(np.int64 if as_counts else np.float32 if name not in _COUNTS else np.float64)
        found[name] = (dims, values)
    return found


def _coordinates(stack: Stack) -> dict[str, np.ndarray]:
    """What stands along every axis of the arrays of a stack."""
    sizes = {axis: size for dims, values in _variables(stack).values() for axis, size in zip(dims, values.shape)}
    found = {axis: np.array(_NAMES[axis], object) if axis in _NAMES else np.arange(size) - (size // 2 if axis in _SIGNED else 0)
             for axis, size in sizes.items()}
    return found | {"layer": np.array(stack.layers, object)}


def _write(group: Any, stack: Stack) -> None:
    texts = _h5py().string_dtype()
    group.attrs.update(_about(stack))
    for axis, values in _coordinates(stack).items():   # xarray and netCDF want one for every axis
        group.create_dataset(axis, data=values, dtype=texts if values.dtype == object else None).make_scale(axis)
    for name, (dims, values) in _variables(stack).items():
        packed = {"compression": "gzip", "shuffle": True} if values.ndim > 1 or name in _SEQUENCES else {}
        data = group.create_dataset(name, data=values, dtype=texts if values.dtype == object else None, **packed)
        for axis, label in enumerate(dims):
            data.dims[axis].label = label
            data.dims[axis].attach_scale(group[label])
