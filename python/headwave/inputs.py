"""What a job runs over: a model and its documents, opened."""

from __future__ import annotations

import json
import os
import pathlib
import re
from dataclasses import dataclass, field
from typing import Any, Mapping, Sequence

from . import _core
from .arguments import names, path, text, unwrapped, whole, whole_or_none
from .arrays import NamedArrays, as_array, listed_ids
from .errors import FormatError, IoError
from .hub import model_folder
from .neighbours import named_states
from .profiles.result import Profiles


# One word with a folder or an ending in it, or words with the ending of a text file: nobody's text, but a name with a slip in it.
_FILE_NAME = re.compile(r"[!-~]*[\\/][!-~]*|[!-~]+\.[A-Za-z]\w{0,4}|[^\n]*\.(txt|text|md|json|jsonl|csv|tsv|gz|xml|html)")


@dataclass
class Input:
    """What run() was given of a model and documents. Values are checked as it is made.

    Raises:
        FormatError: a value is of another type; ShapeError: a number is out of its range.
    """

    model: Any
    tokenizer: Any
    kind: str  #: "text", "ids", "states", "profiles" or "random_tokens"
    value: Any
    documents: int | None = None
    length: int | None = None
    special_tokens: bool = True
    map: Any = None
    heads: int = 0
    layer: int | None = None
    dataset: str = ""
    axes: str = ""
    apply_norm: bool = False
    any_states: bool = False
    interventions: Sequence[str] = ()
    shuffles: int = 1
    seed: int = 1
    threads: int = 0
    layers: str = ""
    weights: str = "auto"
    target: Any = None  #: what an encoder-decoder writes where it reads text
    allow_unknown: bool = False  #: take a text whose tokens are nearly all unknown
    remembered: Mapping[str, Any] = field(default_factory=dict)  #: of profiles, what results remember of their documents

    def __post_init__(self) -> None:
        self.model = unwrapped(self.model)
        self.documents = whole_or_none(self.documents, "documents", 1)
        self.length = whole_or_none(self.length, "length", 1)
        self.heads = whole(self.heads, "heads")
        self.layer = whole_or_none(self.layer, "layer")
        self.shuffles = whole(self.shuffles, "shuffles", 1)
        self.seed = whole(self.seed, "seed", 0, 2**63 - 1)
        self.threads = whole(self.threads, "threads", 0, 1024)
        self.interventions = names(self.interventions, "interventions")
        self.special_tokens, self.apply_norm, self.any_states = bool(self.special_tokens), bool(self.apply_norm), bool(self.any_states)
        self.dataset, self.axes, self.layers, self.weights = (
            text(getattr(self, name), name) for name in ("dataset", "axes", "layers", "weights"))
        self.map = path(self.map, "map") if self.map else ""
        for name in ("heads", "layer", "dataset", "axes", "apply_norm", "any_states"):
            given = getattr(self, name)
            if self.kind != "states" and (given or (name == "layer" and given is not None)):
                raise FormatError(f"run: {name} describes states; omit it with {self.kind}")
        if self.axes and not self.dataset:
            raise FormatError("run: axes describes dataset; give dataset too")
        if self.target is not None and (self.kind != "text" or self.in_memory):
            raise FormatError("run: target is the output of an encoder-decoder for text; it needs a model directory and text, or omit it")
        if self.target is not None and self.length is not None:
            raise FormatError("run: length does not apply to target: documents are lines as they stand")
        if self.allow_unknown and self.kind != "text":
            raise FormatError(f"run: allow_unknown is of a text; leave it away with {self.kind}")
        if self.kind == "states" and self.layers:
            raise FormatError("run: layers does not apply to states: layers are those that were stored")
        if self.in_memory and (self.layers or self.weights != "auto"):
            raise FormatError("run: layers and weights are of a model directory; the weights of a model of PyTorch are in memory, all of them")
        if self.kind == "profiles":
            self._require_sums()
        if self.kind == "random_tokens":
            self.value = whole(self.value, "random_tokens", 1, 2**20)
        if self.model is not None and not self.in_memory:
            self.model = model_folder(self.model)

    @property
    def in_memory(self) -> bool:
        """Whether the model is one of PyTorch."""
        return hasattr(self.model, "state_dict")

    def opened(self) -> Any:
        """The input for C++, part of it changed where interventions say so."""
        if self.kind == "profiles":
            return self._of_profiles()
        opened = self._of_module() if self.in_memory else self._of_files()
        opened.intervene(self.interventions, self.seed, self.shuffles)
        return opened

    @property
    def place(self) -> Any:
        """Where the model lies for C++; None where there is none."""
        return None if self.model is None else _core.ModelPlace(self.model, self.map, self.layers, self.weights)

    def why_watched(self) -> str:
        """Why a model of PyTorch is watched instead of followed by the program's own pass; nothing if it is followed."""
        if not self.in_memory or self.kind not in ("text", "ids") or self.map or self.interventions:
            return ""
        from .torch_models import why_not_followed

        return why_not_followed(self.model)

    def watched(self, reach: int, deal: bool, told: Any) -> "Input":
        """The profiles of a model of PyTorch of any family, as an input."""
        from .torch_models import watched

        profiles, remembered = watched(self.model, self.tokenizer, documents=self.documents, length=self.length, seed=self.seed,
                                       special_tokens=self.special_tokens, allow_unknown=bool(self.allow_unknown), reach=reach,
                                       deal=deal, told=told, **self._text_or_ids())
        return Input(None, None, "profiles", profiles, seed=self.seed, threads=self.threads, remembered=remembered)

    def _require_sums(self) -> None:
        """Refuses what is said of documents, where only sums over them are given."""
        said = {"documents": self.documents, "length": self.length, "map": self.map, "layers": self.layers, "interventions": self.interventions,
                "special_tokens": not self.special_tokens, "weights": self.weights != "auto"}
        if self.model is not None or self.tokenizer is not None:
            raise FormatError("run: profiles were summed of a model; omit the model and its tokenizer")
        for name, given in said.items():
            if given:
                raise FormatError(f"run: {name} does not apply to profiles: they are sums over documents that passed elsewhere")

    def _of_profiles(self) -> Any:
        if not isinstance(self.value, (Profiles, str, os.PathLike)):
            raise FormatError(f"profiles: {type(self.value).__name__}; expected what watch(...).result() gives, or a file that it saved; several are "
                              "added up: one + two")
        return _core.profiles_input(self.value.given() if isinstance(self.value, Profiles) else path(self.value, "profiles"), self.remembered)

    def _text_or_ids(self) -> dict[str, Any]:
        if self.kind == "text":
            return {"text": _written(self.value), "ids": None}
        if isinstance(self.value, (str, os.PathLike)):
            raise FormatError("run: ids of a model of PyTorch are lists or an array; read the file first")
        return {"text": None, "ids": self.value}

    def _of_module(self) -> Any:
        from .torch_models import module_input  # PyTorch where it is there

        if self.map:
            raise FormatError("run: map does not go with a model of PyTorch, which says itself what its tensors are")
        return module_input(self.model, self.tokenizer, documents=self.documents, length=self.length,
                            special_tokens=self.special_tokens, allow_unknown=bool(self.allow_unknown),
                            refused=[] if self.kind in ("text", "ids") else [self.kind], **self._text_or_ids())

    def _of_files(self) -> Any:
        if self.kind == "states" and self.length is not None:
            raise FormatError("run: length does not apply to states: documents are as they were stored")
        if self.kind != "states" and self.model is None:
            raise FormatError(f"run: {self.kind} needs a model: its directory, or a model of transformers")
        if self.tokenizer is not None:
            raise FormatError("run: a model directory brings its own tokenizer; omit tokenizer, or give ids=[tokenizer(text).input_ids]")
        placed = {"text": _text, "ids": ids_place, "states": _arrays, "random_tokens": int}[self.kind](self.value)
        target = None if self.target is None else _text(self.target, "target")
        said = {name: getattr(self, name) for name in ("documents", "length", "special_tokens", "allow_unknown", "heads", "layer", "dataset",
                                                       "axes", "apply_norm", "any_states", "seed")}
        return _core.opened_input(self.kind, self.place, placed, target, said)


def given_input(model: Any, tokenizer: Any, sources: dict[str, Any], **others: Any) -> Input:
    """The Input of a run, of whose sources one is given.

    Args:
        sources: "text", "ids", ... with their values, None where it is not given
        others: fields of Input by name
    """
    if sources.get("text") is None and isinstance(tokenizer, (str, os.PathLike)):
        sources, tokenizer = sources | {"text": tokenizer}, None
    given = [name for name, value in sources.items() if value is not None]
    if len(given) != 1:
        raise FormatError(f"run: {' and '.join(given) or 'nothing'} given; expected one of {', '.join(sources)}")
    return Input(model, tokenizer, given[0], sources[given[0]], **others)


def _text(value: Any, name: str = "text") -> Any:
    if isinstance(value, os.PathLike):
        return path(value, name)
    if not isinstance(value, str):
        raise FormatError(f"{name}: {type(value).__name__}; expected a str, or a file as pathlib.Path")
    if value and "\n" not in value and "\0" not in value and os.path.exists(value):
        raise FormatError(f"{name}: '{value}' is the name of a file; give pathlib.Path('{value}') to have it read")
    if len(value) < 1000 and _FILE_NAME.fullmatch(value):
        raise FormatError(f"{name}: '{value}' looks like the name of a file, and there is none; a file is given as pathlib.Path(...), a text "
                          "as more than one word")
    return name, text(value, name)


def _written(value: Any) -> str:
    """A text for a tokenizer of transformers."""
    if not isinstance(value, os.PathLike):
        return _text(value)[1]
    try:
        return pathlib.Path(value).read_text(encoding="utf-8")
    except OSError as error:
        raise IoError(f"{value}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise FormatError(f"{value}: {error}; expected UTF-8: convert it, as iconv -f LATIN1 -t UTF-8 does") from error


def ids_place(value: Any) -> Any:
    """Where ids are: a file, or JSON in memory, which is read as a file would be."""
    if isinstance(value, (str, os.PathLike)):
        return path(value, "ids")
    if isinstance(value, Sequence) and value and isinstance(value[0], Mapping):  # pairs of an encoder-decoder
        listed = [{name: as_array(of, "ids").tolist() for name, of in pair.items()} for pair in value]
    else:
        listed = listed_ids(value)
    return "ids", json.dumps(listed)


def _arrays(value: Any) -> Any:
    """Arrays by name: a file or folder, or what C++ asks for block by block."""
    if isinstance(value, (str, os.PathLike)):
        return path(value, "states")
    return NamedArrays({text(name, "states: a name"): of for name, of in named_states(value).items()}, "states")
