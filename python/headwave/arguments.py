"""Checks arguments that are not arrays: whole numbers, numbers, paths and names. Errors name the argument."""

from __future__ import annotations

import difflib
import functools
import inspect
import operator
import os
from typing import Any, Callable, Iterable, Mapping

from .errors import FormatError, ShapeError

Text = str | os.PathLike[str]
Progress = bool | Callable[[str], Any]


def whole(value: Any, name: str, least: int = 0, most: int = 2**62) -> int:
    """Makes an int from a whole number of Python or numpy.

    Raises:
        FormatError: `value` is not a whole number; ShapeError: `value` is out of range.
    """
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise FormatError(f"{name}={_shown(value)}: expected a whole number")
    try:
        number = operator.index(value)
    except TypeError:  # numpy arrays have the method, but need not be whole numbers
        raise FormatError(f"{name}={_shown(value)}: expected a whole number") from None
    if not least <= number <= most:
        raise ShapeError(f"{name}={number}: expected {least} to {most}" if most < 2**62 else f"{name}={number}: expected {least} or more")
    return number


def whole_or_none(value: Any, name: str, least: int = 0) -> int | None:
    """Keeps None, and passes any other value to whole()."""
    return None if value is None else whole(value, name, least)


def real(value: Any, name: str, least: float = float("-inf"), most: float = float("inf")) -> float:
    """Makes a finite float.

    Raises:
        FormatError: `value` is not a number; ShapeError: `value` is not finite, or out of range.
    """
    try:
        number = float(value) if not isinstance(value, (str, bytes, bool)) else None
    except (TypeError, ValueError):
        number = None
    if number is None:
        raise FormatError(f"{name}={_shown(value)}: expected a number")
    if not (least <= number <= most and abs(number) < float("inf")):
        bounds = f" from {least:g} to {most:g}" if most < float("inf") else f" of at least {least:g}" if least > float("-inf") else ""
        raise ShapeError(f"{name}={number}: expected a finite number{bounds}")
    return number


def path(value: Any, name: str) -> str:
    """Makes a str from the path of a file or folder.

    Raises:
        FormatError: `value` is not a path.
    """
    try:
        found = os.fsdecode(value)
    except TypeError:
        raise FormatError(f"{name} is of type {type(value).__name__}; expected a path, as str or pathlib.Path") from None
    if "\0" in found:
        raise FormatError(f"{name} is {found!r}; expected a path without NUL characters")
    return found


def text(value: Any, name: str) -> str:
    """Checks that a value is a str that UTF-8 can encode.

    Raises:
        FormatError: `value` is not a str, or contains half of a surrogate pair.
    """
    if not isinstance(value, str):
        raise FormatError(f"{name} is of type {type(value).__name__}; expected a str")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise FormatError(f"{name}: character {error.start} is half of a surrogate pair; expected Unicode text: replace such characters by "
                          "text.encode('utf-8', 'replace').decode()") from None
    return value


def names(value: Any, name: str) -> list[str]:
    """Makes a list of names. A single name becomes a list of one name.

    Raises:
        FormatError: `value` is not a list of str.
    """
    listed = [value] if isinstance(value, str) else list(value) if isinstance(value, Iterable) else None
    if listed is None or not all(isinstance(one, str) for one in listed):
        raise FormatError(f"{name}={_shown(value)}: expected a list of names")
    return [text(one, name) for one in listed]


def unwrapped(model: Any) -> Any:
    """Gives the model inside the wrappers of torch.compile, DataParallel, DistributedDataParallel and nnsight.

    Raises:
        FormatError: the model is from TransformerLens, which computes attention in its own modules
    """
    inner = {"OptimizedModule": "_orig_mod", "DataParallel": "module", "DistributedDataParallel": "module"}
    while True:
        kind = type(model)
        name = "_module" if any(of.__module__.startswith("nnsight.") for of in kind.__mro__) else inner.get(kind.__name__)
        if name is None or not hasattr(model, name):
            break
        model = getattr(model, name)
    if hasattr(model, "run_with_cache"):
        raise FormatError(f"{type(model).__name__} is a model of TransformerLens, whose modules headwave does not read; give its cached attention, "
                          "headwave.run(states=[cache['pattern', layer] for layer in range(model.cfg.n_layers)]), or the transformers model "
                          "that it was made from")
    return model


def with_options(function: Callable[..., Any], options: Mapping[str, Any]) -> inspect.Signature:
    """Makes the signature of a function that takes `**options`, in which every option is a keyword argument with its default."""
    signature = inspect.signature(function)
    own = list(signature.parameters.values())[:-1]
    return signature.replace(parameters=own + [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=usual) for name, usual in options.items()])


def named_arguments(called: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps a function so that an unknown argument raises TypeError, which suggests the nearest name."""
    known = list(inspect.signature(function).parameters)

    @functools.wraps(function)
    def call(*args: Any, **given: Any) -> Any:
        for name in given:
            if name not in known:
                near = difflib.get_close_matches(name, known, 1)
                raise TypeError(f"{called}: there is no argument '{name}'; " + (f"did you mean '{near[0]}'?" if near else f"help(headwave.{called}) lists them"))
        return function(*args, **given)

    return call


def missing(name: str, there: Iterable[str]) -> str:
    """Writes a message that a name does not exist, with the nearest name and all names that exist."""
    there = list(there)
    near = difflib.get_close_matches(name, there, 1)
    return f"there is no '{name}'; " + (f"did you mean '{near[0]}'? " if near else "") + f"there are {', '.join(there)}"


def _shown(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 and "\n" not in shown else f"{shown[:40].splitlines()[0]}... of type {type(value).__name__}"
