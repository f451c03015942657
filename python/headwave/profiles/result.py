"""What a watch summed: arrays, and the file profiles.h5 (docs/profiles.md)."""

from __future__ import annotations

import dataclasses
import json
import os
import re
from typing import Any

import numpy as np

from ..errors import FormatError, IoError
from .bins import BANDS, OffsetBins, band_first
from .tiles import FIRST_KEYS, LayerSums, Scores

FORMAT = 1


@dataclasses.dataclass
class Layer:
    """One module that computes attention, and its sums.

    Args:
        path: of the module in the model
        times: which of its calls in one pass, from 1; more than 1 where layers share a module
        cross: whether keys are of another sequence
    """

    path: str
    times: int
    cross: bool
    implementation: str
    module: str
    sums: LayerSums
    documents: Any
    heads: int
    kv_heads: int
    width: int
    scale: float
    soft_cap: float
    sinks: bool
    window: int
    seen_in: Any = None
    dealing: Any = None

    @classmethod
    def of(cls, path: str, times: int, cross: bool, implementation: str, module: str, scores: Scores, given: dict[str, Any], sums: LayerSums,
           documents: Any) -> "Layer":
        window = given.get("sliding_window")
        return cls(path, times, cross, implementation, module, sums, documents, scores.query.shape[1], scores.key.shape[1], scores.query.shape[3],
                   scores.scale, float(scores.soft_cap or given.get("softcap") or 0), scores.sinks is not None or given.get("s_aux") is not None,
                   int(window) if isinstance(window, int) else 0)

    def see(self, scores: Scores, given: dict[str, Any]) -> None:
        """Refuses a call of other heads than those before."""
        if scores.query.shape[1] != self.heads or scores.key.shape[1] != self.kv_heads:
            raise FormatError(f"watch: {self.path} has {scores.query.shape[1]} heads in this call, {self.heads} in those before")

    @property
    def pattern(self) -> str:
        """The path, with the number of the layer left open."""
        return re.sub(r"(?<=\.)\d+(?=\.|$)", "{layer}", self.path)


class Stack:
    """Layers of one kind, one after another: the arrays of their heads.

    Arrays are float64: counts and sums over documents, not means, so that files of several processes are added.

    Attributes:
        name: "causal", "self" or "cross", with a number where there are several
        layers: paths of the modules
        weight: (blocks, layers, 2, heads, bins) sums of weights; pairs of regular tokens first, then those apart
        pairs, uniform: (blocks, layers, 2, bins) pairs, and what weights would add up to if all allowed keys had the same
        entropy, kept: (blocks, layers, heads) sums over query rows, in nats; rows, uniform_entropy: (blocks, layers)
        first_keys: (blocks, layers, heads, 8) weight on each of the first keys
        band_weight, band_pairs, ...: the same by query band, over all documents
        sampling_variance: (layers, 2, heads, bins) of `weight` over all documents, by sampled rows
        query_mean, key_mean: (layers, heads, d), (layers, kv_heads, d) as attention takes them
        dealt_documents: documents whose contents were dealt; where there are some:
        dealt_weight: (blocks, layers, 3, heads, bins) sums of weights over regular pairs by position, self and order
        dealt_pairs, dealt_uniform: (blocks, layers, bins) of those documents
    """

    def __init__(self, name: str, layers: list[Layer], bins: OffsetBins) -> None:
        self.name, self.about = name, layers
        self.layers = [layer.path if layer.times == 1 else f"{layer.path}#{layer.times}" for layer in layers]
        self.documents = max(layer.documents.count for layer in layers)
        self.digest = layers[0].documents.digest.hexdigest() if layers[0].documents.with_ids else ""

        def of(attribute: str, axis: int) -> np.ndarray:
            return np.stack([getattr(layer.sums, attribute).cpu().numpy().astype(np.float64) for layer in layers], axis)

        used = np.flatnonzero(of("pairs", 1).sum((0, 1, 2)))
        low, high = (int(used[0]), int(used[-1]) + 1) if len(used) else (bins.centre, bins.centre + 1)
        there = min(self.documents, layers[0].sums.weight.shape[0])   # blocks that have a document
        part = slice(low, high)
        self.first_offset, self.last_offset = bins.first[part], bins.last[part]
        self.weight, self.pairs, self.uniform = (of(name, 1)[:there, ..., part] for name in ("weight", "pairs", "uniform"))
        self.entropy, self.kept, self.rows, self.uniform_entropy = (of(name, 1)[:there] for name in ("entropy", "kept", "rows", "uniform_entropy"))
        self.first_keys = of("first_keys", 1)[:there]
        band_rows = of("band_rows", 1)
        bands = int(np.flatnonzero(band_rows.sum(1))[-1]) + 1 if band_rows.any() else 1
        self.band_first = np.array([band_first(b) for b in range(bands)])
        self.band_rows = band_rows[:bands]
        self.band_weight, self.band_pairs = (of(name, 1)[:bands, ..., part] for name in ("band_weight", "band_pairs"))
        self.band_entropy, self.band_first_keys = of("band_entropy", 1)[:bands], of("band_first_keys", 1)[:bands]
        self.sampling_variance = of("variance", 0)[..., part]
        tokens = of("tokens", 0)
        self.query_mean = of("query_sum", 0) / np.maximum(tokens[:, 0], 1)[:, None, None]
        self.key_mean = of("key_sum", 0) / np.maximum(tokens[:, 1], 1)[:, None, None]
        self.query_tokens, self.key_tokens = tokens[:, 0], tokens[:, 1]
        dealt = [layer.dealing for layer in layers if layer.dealing is not None]
        self.dealt_documents = dealt[0].dealt if len(dealt) == len(layers) else 0
        if self.dealt_documents:
            self.dealt_weight = np.stack([one.weight.cpu().numpy() for one in dealt], 1)[:there, ..., part]
            self.dealt_pairs, self.dealt_uniform = (np.stack([getattr(one, name).cpu().numpy() for one in dealt], 1)[:there, ..., part]
                                                    for name in ("pairs", "uniform"))
        self.block_documents = np.array([len(range(b, self.documents, layers[0].sums.weight.shape[0])) for b in range(there)])

    def mean_weight(self, apart: bool = True) -> np.ndarray:
        """Mean weight at each offset, (layers, heads, bins): sums over documents over the pairs there are; NaN where there is none.

        Args:
            apart: whether pairs of special and first tokens count too
        """
        kinds = slice(0, 2 if apart else 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.weight[:, :, kinds].sum((0, 2)) / self.pairs[:, :, kinds].sum((0, 2))[:, None]


class Profiles:
    """Sums of attention over the documents that a model read while it was watched.

    Attributes:
        stacks: by name; layers of one kind of attention each
        skipped: layers without attention, and such as did not run
    """

    def __init__(self, model: str, bins: OffsetBins, settings: dict[str, Any], layers: list[Layer], skipped: list[str]) -> None:
        self.model, self.settings, self.skipped = model, settings, skipped
        groups: dict[Any, list[Layer]] = {}
        for layer in layers:
            groups.setdefault((layer.pattern, layer.heads, layer.kv_heads, layer.width, layer.cross), []).append(layer)
        self.stacks: dict[str, Stack] = {}
        for those in groups.values():
            ahead = sum(float(layer.sums.pairs[:, :, bins.centre + 1:].sum()) for layer in those)
            kind = "cross" if those[0].cross else "self" if ahead else "causal"
            name = kind
            while name in self.stacks:
                name = f"{kind}_{len([n for n in self.stacks if n.split('_')[0] == kind]) + 1}"
            self.stacks[name] = Stack(name, those, bins)

    def __getitem__(self, name: str) -> Stack:
        return self.stacks[name]

    def __repr__(self) -> str:
        parts = [f"{name}: {len(s.layers)} layers of {s.weight.shape[3]} heads, {s.documents} documents" for name, s in self.stacks.items()]
        return f"Profiles({self.model}; " + "; ".join(parts) + ")"

    def save(self, path: str | os.PathLike, *, overwrite: bool = False) -> None:
        """Writes the sums to an HDF5 file (docs/profiles.md).

        Raises:
            IoError: the file is there, or cannot be written; FormatError: h5py is not installed
        """
        try:
            import h5py
        except ImportError as error:
            raise FormatError("watch: profiles are written by h5py, which is not installed; pip install h5py") from error
        path = os.fspath(path)
        if os.path.lexists(path) and not overwrite:
            raise IoError(f"{path}: is already there; choose another name, or replace it with overwrite=True")
        made = f"{path}.unfinished"
        try:
            with h5py.File(made, "w") as file:
                settings = {name: json.dumps(value) if isinstance(value, list) else value for name, value in self.settings.items()}
                file.attrs.update({"format": "headwave profiles", "format_version": FORMAT, "model": self.model, "skipped": json.dumps(self.skipped),
                                   **settings})
                for name, stack in self.stacks.items():
                    _write(file.create_group(name), stack)
            os.replace(made, path)
        except OSError as error:
            raise IoError(f"{path}: cannot be written: {error}") from error
        finally:
            if os.path.lexists(made):
                os.remove(made)


_AXES = {
    "weight": ("block", "layer", "kind", "head", "bin"), "pairs": ("block", "layer", "kind", "bin"), "uniform": ("block", "layer", "kind", "bin"),
    "entropy": ("block", "layer", "head"), "kept": ("block", "layer", "head"), "rows": ("block", "layer"), "uniform_entropy": ("block", "layer"),
    "first_keys": ("block", "layer", "head", "first_key"), "band_weight": ("band", "layer", "kind", "head", "bin"),
    "band_pairs": ("band", "layer", "kind", "bin"), "band_entropy": ("band", "layer", "head"), "band_rows": ("band", "layer"),
    "band_first_keys": ("band", "layer", "head", "first_key"), "sampling_variance": ("layer", "kind", "head", "bin"),
    "query_mean": ("layer", "head", "component"), "key_mean": ("layer", "kv_head", "component"), "query_tokens": ("layer",), "key_tokens": ("layer",),
    "dealt_weight": ("block", "layer", "term", "head", "bin"), "dealt_pairs": ("block", "layer", "bin"), "dealt_uniform": ("block", "layer", "bin"),
}
_COUNTS = {"pairs", "dealt_pairs", "rows", "band_pairs", "band_rows", "query_tokens", "key_tokens"}


def _write(group: Any, stack: Stack) -> None:
    import h5py

    about = stack.about[0]
    group.attrs.update({"documents": stack.documents, "dealt_documents": stack.dealt_documents, "ids_sha256": stack.digest, "heads": about.heads, "kv_heads": about.kv_heads,
                        "d_head": about.width, "cross": about.cross, "implementation": about.implementation, "module": about.module})
    texts = h5py.string_dtype()
    axes = {"block": ("block_documents", stack.block_documents), "bin": ("first_offset", stack.first_offset),
            "band": ("band_first", stack.band_first), "layer": ("layer", np.array(stack.layers, object))}
    for name, values in axes.values():
        data = group.create_dataset(name, data=values, dtype=texts if values.dtype == object else None)
        data.make_scale(name)
    group.create_dataset("last_offset", data=stack.last_offset)
    for name in ("scale", "soft_cap", "window", "sinks"):
        group.create_dataset(name, data=np.array([getattr(layer, name) for layer in stack.about], np.float64))
    for name, dims in _AXES.items():
        values = getattr(stack, name, None)
        if values is None:
            continue
        whole = name in _COUNTS and np.array_equal(values, np.round(values))
        data = group.create_dataset(name, data=values.astype(np.int64 if whole else np.float32 if name not in _COUNTS else np.float64),
                                    compression="gzip", shuffle=True)
        for axis, label in enumerate(dims):
            data.dims[axis].label = label
            if label in axes:
                data.dims[axis].attach_scale(group[axes[label][0]])
    if not stack.sampling_variance.any():
        del group["sampling_variance"]
