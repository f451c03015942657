"""Checks and opens the input of a job: a model and its documents."""

from __future__ import annotations

import os
import pathlib
import re
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping

from . import _core
from .arguments import names, path, text, unwrapped, whole, whole_or_none
from .arrays import NamedArrays, ids_place
from .errors import FormatError, IoError
from .hub import model_folder
from .neighbours import named_states
from .profiles.result import Profiles


# A str that is probably a mistyped file name: one word with a slash or an ending, or words with the ending of a text file.
_FILE_NAME = re.compile(r"[!-~]*[\\/][!-~]*|[!-~]+\.[A-Za-z]\w{0,4}|[^\n]*\.(txt|text|md|json|jsonl|csv|tsv|gz|xml|html)")


# Options of an input: the default, and a function that converts a value for C++, or raises an error that names the option.
OPTIONS: dict[str, tuple[Any, Callable[[Any, str], Any]]] = {
    "documents": (None, lambda of, name: whole_or_none(of, name, 1)), "length": (None, lambda of, name: whole_or_none(of, name, 1)),
    "special_tokens": (True, lambda of, _: bool(of)), "allow_unknown": (False, lambda of, _: bool(of)), "target": (None, lambda of, _: of),
    "map": ("", lambda of, name: path(of, name) if of else ""), "layers": ("", text), "weights": ("auto", text),
    "heads": (0, whole), "layer": (None, whole_or_none), "dataset": ("", text), "axes": ("", text),
    "apply_norm": (False, lambda of, _: bool(of)), "any_states": (False, lambda of, _: bool(of)),
    "interventions": ((), names), "shuffles": (1, lambda of, name: whole(of, name, 1)),
    "seed": (1, lambda of, name: whole(of, name, 0, 2**63 - 1)), "threads": (0, lambda of, name: whole(of, name, 0, 1024)),
}
# Options that have other names in the program's rules.
_CALLED = {"heads": "head_count", "interventions": "intervene", "special_tokens": "no_special_tokens"}
_HERE = {there: here for here, there in _CALLED.items()} | {"shuffled_words": "interventions=['shuffled-words']"}


@dataclass
class Input:
    """The model, documents and input options of run(), which the constructor checks.

    Raises:
        FormatError: a value has the wrong type, or an option has no effect; ShapeError: a number is out of its range.
    """

    model: Any
    tokenizer: Any
    kind: str  #: "text", "ids", "states", "profiles" or "random_tokens"
    value: Any
    options: dict[str, Any]   #: values of OPTIONS by name
    remembered: Mapping[str, Any] = field(default_factory=dict)  #: for profiles: facts about their documents, for the provenance

    def __post_init__(self) -> None:
        self.model = unwrapped(self.model)
        self.options = {name: takes(self.options.get(name, usual), name) for name, (usual, takes) in OPTIONS.items()}
        self._require_effect()
        if self.kind == "random_tokens":
            self.value = whole(self.value, "random_tokens", 1, 2**20)
        if self.model is not None and not self.in_memory:
            self.model = model_folder(self.model)

    def _require_effect(self) -> None:
        """Refuses options that would have no effect, by the program's rules or because the model is in memory."""
        said = {name for name, (usual, takes) in OPTIONS.items() if self.options[name] != takes(usual, name)}
        given = [_CALLED.get(name, name) for name in said] + [self.kind] + ["model"] * (self.model is not None)
        given += ["shuffled_words"] * ("shuffled-words" in self.options["interventions"])
        if (rule := _core.broken_input_rule(given)) is not None:
            option, other, why = rule
            raise FormatError(f"run: {_HERE.get(option, option)} {why.replace('{}', _HERE.get(other, other))}")
        if self.kind == "profiles" and self.tokenizer is not None:
            raise FormatError("run: tokenizer does not apply to profiles; omit it")
        for name in ("layers", "weights", "map", "target"):
            if self.in_memory and name in said:
                raise FormatError(f"run: {name} does not apply to a PyTorch model in memory; omit it, or give a "
                                  "model directory")

    @property
    def in_memory(self) -> bool:
        """Whether the model is a PyTorch model."""
        return hasattr(self.model, "state_dict")

    def opened(self) -> Any:
        """Opens the input for C++, and applies its interventions."""
        if self.kind == "profiles":
            return self._of_profiles()
        opened = self._of_module() if self.in_memory else self._of_files()
        opened.intervene(self.options["interventions"], self.options["seed"], self.options["shuffles"])
        return opened

    @property
    def place(self) -> Any:
        """The files of the model for C++; None: no model."""
        return None if self.model is None else _core.ModelPlace(self.model, *(self.options[name] for name in ("map", "layers", "weights")))

    def why_watched(self) -> str:
        """Says why a PyTorch model is watched and not run by the program's own pass. Empty if the program can run it."""
        if not self.in_memory or self.kind not in ("text", "ids") or self.options["interventions"]:
            return ""
        from .torch_models import why_not_followed

        return why_not_followed(self.model)

    def watched(self, reach: int, deal: bool, told: Any) -> "Input":
        """Watches a PyTorch model of any family, and returns its profiles as an input."""
        from .torch_models import watched

        profiles, remembered = watched(self.model, self.tokenizer, seed=self.options["seed"], reach=reach, deal=deal, told=told, **self._documents())
        return Input(None, None, "profiles", profiles, {name: self.options[name] for name in ("seed", "threads")}, remembered)

    def _of_profiles(self) -> Any:
        if not isinstance(self.value, (Profiles, str, os.PathLike)):
            raise FormatError(f"profiles is of type {type(self.value).__name__}; expected Profiles, as watch(...).result() returns, or their file; "
                              "add several of them: one + two")
        return _core.profiles_input(self.value.given() if isinstance(self.value, Profiles) else path(self.value, "profiles"), self.remembered)

    def _documents(self) -> dict[str, Any]:
        """Gives the arguments of documents_of() for a PyTorch model."""
        if self.kind not in ("text", "ids"):
            raise FormatError(f"run: {self.kind} does not apply to a PyTorch model; give text and its tokenizer, or ids")
        if self.kind == "ids" and isinstance(self.value, (str, os.PathLike)):
            raise FormatError("run: ids is the path of a file, but a PyTorch model takes lists or an array; read the file first")
        return {"text": _written(self.value) if self.kind == "text" else None, "ids": self.value if self.kind == "ids" else None,
                **{name: self.options[name] for name in ("documents", "length", "special_tokens", "allow_unknown")}}

    def _of_module(self) -> Any:
        from .torch_models import module_input  # needs PyTorch, which may be missing

        return module_input(self.model, self.tokenizer, **self._documents())

    def _of_files(self) -> Any:
        if self.tokenizer is not None:
            raise FormatError("run: a model directory has its own tokenizer; omit tokenizer, or give ids=[tokenizer(text).input_ids]")
        placed = {"text": _text, "ids": _ids, "states": _arrays, "random_tokens": int}[self.kind](self.value)
        target = None if self.options["target"] is None else _text(self.options["target"], "target")
        return _core.opened_input(self.kind, self.place, placed, target, self.options)


def given_input(model: Any, tokenizer: Any, sources: Mapping[str, Any], options: dict[str, Any]) -> Input:
    """Makes the Input of a run. Exactly one source must be given. A str or a path in place of the tokenizer is a text.

    Args:
        sources: values of "text", "ids" and so on; None: not given
    """
    if sources.get("text") is None and isinstance(tokenizer, (str, os.PathLike)):
        sources, tokenizer = {**sources, "text": tokenizer}, None
    given = [name for name, value in sources.items() if value is not None]
    if len(given) != 1:
        raise FormatError(f"run: {' and '.join(given) or 'nothing'} given; expected one of {', '.join(sources)}")
    return Input(model, tokenizer, given[0], sources[given[0]], options)


def _text(value: Any, name: str = "text") -> Any:
    if isinstance(value, os.PathLike):
        return path(value, name)
    if not isinstance(value, str):
        raise FormatError(f"{name} is of type {type(value).__name__}; expected a str, or a file as pathlib.Path")
    if value and "\n" not in value and "\0" not in value and os.path.exists(value):
        raise FormatError(f"{name}: '{value}' is the name of a file; give pathlib.Path('{value}') to have it read")
    if len(value) < 1000 and _FILE_NAME.fullmatch(value):
        raise FormatError(f"{name}: '{value}' looks like the name of a file, but there is no such file; give a file as pathlib.Path(...), and a text "
                          "as more than one word")
    return name, text(value, name)


def _written(value: Any) -> str:
    """Gives a text, or the content of a text file, for a tokenizer of transformers."""
    if not isinstance(value, os.PathLike):
        return _text(value)[1]
    try:
        return pathlib.Path(value).read_text(encoding="utf-8")
    except OSError as error:
        raise IoError(f"{value}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise FormatError(f"{value}: {error}; expected UTF-8; convert it, as by iconv -f LATIN1 -t UTF-8") from error


def _ids(value: Any) -> Any:
    return path(value, "ids") if isinstance(value, (str, os.PathLike)) else ids_place(value)


def _arrays(value: Any) -> Any:
    """Gives stored states to C++: the path of a file or folder, or arrays that C++ reads block by block."""
    if isinstance(value, (str, os.PathLike)):
        return path(value, "states")
    return NamedArrays({text(name, "states: the name of an array"): of for name, of in named_states(value).items()}, "states")
