"""The sums of a watch, and the file profiles.h5 (docs/profiles.md)."""

from __future__ import annotations

import dataclasses
import json
import os
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from .. import _core
from ..arguments import names
from ..errors import FormatError, IoError, ShapeError
from .export import export
from .stack import Stack, about_of, coordinates, variables
from .written import NewHdf5, h5py_module

if TYPE_CHECKING:
    from .bins import OffsetBins
    from .layers import Layer

FORMAT = 2


@dataclasses.dataclass(repr=False)
class Profiles:
    """Sums of attention weights over the documents that a watched model read.

    If several processes run the same model on different documents, their profiles can be added: `one + two`.

    Args:
        model: name of the model's class
        settings: options of the watch, and the identity of the model
        stacks: Stack by name; each has the layers of one kind of attention
        skipped: layers without attention, and layers that did not run
    """

    model: str
    settings: dict[str, Any]
    stacks: dict[str, Stack]
    skipped: list[str]

    @classmethod
    def of(cls, model: str, bins: OffsetBins, settings: dict[str, Any], layers: list[Layer], skipped: list[str],
           words_of: Callable[[list[int]], list[str]]) -> "Profiles":
        """Makes profiles from watched layers, grouped by kind into stacks.

        Args:
            words_of: function that gives the texts of token ids
        """
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
            stacks[name] = Stack.of(name, those, bins, words_of)
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
        """Adds the profiles of other documents of the same model.

        Raises:
            ShapeError: models, weights or options of the watch differ, or one of the two contains all documents of the other
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
            raise ShapeError(f"profiles: cannot add {self!r} and {other!r}; expected profiles of one model")
        one, another = self._documents(), other._documents()
        if one and another and (one <= another or another <= one):
            raise ShapeError("profiles: both hold the same documents; expected different ones, since each counts once")
        return Profiles(self.model, self.settings, {name: self[name] + other[name] for name in self.stacks}, self.skipped)

    def _documents(self) -> set[tuple[float, ...]]:
        """Makes one tuple for each document, with the digests of its ids in every stack. Empty if some ids are unknown."""
        digests = [stack.document_digest for stack in self.stacks.values()]
        known = all(len(one) == len(digests[0]) and np.all(one > 0) for one in digests)
        return set(zip(*(one.tolist() for one in digests))) if known else set()

    def save(self, path: str | os.PathLike, *, only: str | Sequence[str] = (), overwrite: bool = False) -> None:
        """Writes the sums to an HDF5 file (docs/profiles.md).

        Args:
            only: names of the stacks to write; by default all

        Raises:
            IoError: the file exists, or cannot be written; FormatError: there is no such stack, or h5py is not installed
        """
        path = os.fspath(path)
        only = list(dict.fromkeys(names(only, "only")))
        for name in only:
            if name not in self.stacks:
                raise FormatError(f"profiles: there is no stack '{name}'; expected one of {', '.join(self.stacks)}")
        with NewHdf5(path, overwrite) as new:
            new.write(lambda: self._fill(new.file, only or list(self.stacks)))

    def _fill(self, file: Any, chosen: list[str]) -> None:
        file.attrs.update(self._attributes())
        for name in chosen:
            _write(file.create_group(name), self.stacks[name])

    def _attributes(self) -> dict[str, Any]:
        settings = {name: json.dumps(value) if isinstance(value, (list, dict, str)) else int(value) for name, value in self.settings.items()}
        return {"format": "headwave profiles", "format_version": FORMAT, "model": self.model, "skipped": json.dumps(self.skipped), **settings}

    def given(self) -> tuple[str, dict[str, Any], list[Any]]:
        """Gives the sums in the form that C++ takes (python/profiles.cpp)."""
        stacks = [(name, about_of(stack), stack.layers, list(getattr(stack, "word", ())), {label: getattr(stack, label) for label in variables(stack)})
                  for name, stack in self.stacks.items()]
        return "memory", self._attributes(), stacks

    def export(self, to: str, folder: str | os.PathLike, **options: Any) -> None:
        """Writes files for another tool. docs/profiles.md says which of the tool's numbers come from which sums.

        Args:
            to: "duo_attention", "kvpress" (expected attention), "triattention" or "headvis"
            folder: folder to write to, created if it does not exist; existing files are not replaced
            options: for "duo_attention": recent=256, number of recent tokens that a streaming head keeps. For "headvis": model= and
                dataset=, names to show; tokenizer=, a tokenizer or its name, for the texts of tokens; sequences=20, largest number of
                sequences of a head; megabytes=2000, largest size of the folder; result=, a Result with the findings to show, by
                default run(profiles=)

        Raises:
            FormatError: there is no such tool or option, the tool cannot use these layers, or the watch did not sum what the tool needs
            IoError: a file exists, or cannot be written
        """
        export(self, to, os.fspath(folder), options)


def open_profiles(path: str) -> Profiles:
    """Opens profiles from a file that save() wrote.

    Raises:
        IoError: the file cannot be read; FormatError: the file contains no profiles, or has another format version
    """
    h5py = h5py_module()
    try:
        _core.require_right_seal(path)
        with h5py.File(path) as file:
            about = dict(file.attrs)
            if about.pop("format", None) != "headwave profiles":
                raise FormatError(f"{path}: is not a file of profiles; expected one that watch(...).result().save() wrote")
            if (version := int(about.pop("format_version"))) != FORMAT:
                raise FormatError(f"{path}: has format version {version}, but this headwave reads version {FORMAT}; watch the model again")
            skipped = json.loads(about.pop("skipped"))
            model = about.pop("model")
            settings = {name: json.loads(value) if isinstance(value, str) else value.item() for name, value in about.items()}
            settings |= {name: bool(settings[name]) for name in ("deal", "null", "queries") if name in settings}
            return Profiles(model, settings, {name: Stack.read(name, file[name]) for name in file}, skipped)
    except OSError as error:
        raise IoError(f"{path}: cannot be read: {error}") from error
    except (KeyError, ValueError, AttributeError) as error:
        raise FormatError(f"{path}: is damaged, or is not a file of profiles: {error}") from error


def are_profiles(path: str) -> bool:
    """Whether a file is marked as a file of profiles."""
    try:
        h5py = h5py_module()
        with h5py.File(path) as file:
            return file.attrs.get("format") == "headwave profiles"
    except (FormatError, OSError):
        return False


def _write(group: Any, stack: Stack) -> None:
    texts = h5py_module().string_dtype()
    group.attrs.update(about_of(stack))
    for axis, values in coordinates(stack).items():   # xarray and netCDF need a scale for every axis
        group.create_dataset(axis, data=values, dtype=texts if values.dtype == object else None).make_scale(axis)
    for name, (dims, values) in variables(stack).items():
        packed = {"compression": "gzip", "shuffle": True} if values.ndim > 1 else {}
        data = group.create_dataset(name, data=values, dtype=texts if values.dtype == object else None, **packed)
        for axis, label in enumerate(dims):
            data.dims[axis].label = label
            data.dims[axis].attach_scale(group[label])
