"""Finds token ids and padding in the calls of a PyTorch model during a capture. Calls that a capture cannot follow are refused."""

from __future__ import annotations

import inspect
from typing import Any, Mapping

import numpy as np

from .arrays import as_array
from .errors import FormatError, ShapeError


class Batch:
    """The documents of one call.

    Raises:
        FormatError: the call continues documents, or its mask does not only mark padding; ShapeError: key_padding_mask hides tokens.
    """

    def __init__(self, module: Any, args: tuple, kwargs: Mapping[str, Any], about: Any) -> None:
        given = _named(module, args, kwargs)
        self._about = about
        _refuse_continuation(given)
        refuse_padding(given)
        ids = given.get("input_ids", args[0] if args and about is None else None)
        ids = None if ids is None else np.atleast_2d(as_array(ids, "input_ids"))
        self.ids = ids if ids is not None and ids.dtype.kind in "iu" else None
        self._mask = _padding(given.get("attention_mask"))
        self._places = _positions(given.get("position_ids"))

    def require_shape(self, documents: int, tokens: int) -> None:
        """Refuses a call in which the number of documents or tokens that attention saw differs from that of the call's arguments.

        Raises:
            ShapeError: the numbers differ, as when a model joins documents, or a mask is as long as a cache
        """
        for name, of in (("input_ids", self.ids if self._about is not None else None), ("attention_mask", self._mask),
                         ("position_ids", self._places)):
            if of is not None and of.shape not in ((documents, tokens), (1, tokens) if name == "position_ids" else ()):
                raise ShapeError(f"capture: {name} has shape {of.shape}, but attention saw {documents} documents of {tokens} tokens; "
                                 f"expected ({documents}, {tokens})")

    def kept(self, document: int, tokens: int, number: int) -> np.ndarray | None:
        """Marks the tokens of a document that are text, not padding. None if all tokens are text.

        Args:
            number: the document's number in the capture, for messages

        Raises:
            ShapeError: no token is text, or the text has other positions than it would have without padding
        """
        kept = np.ones(tokens, bool) if self._mask is None else self._mask[document]
        if not kept.any():
            raise ShapeError(f"capture: attention_mask hides every token of document {number}; expected one visible token or more")
        places, first = np.flatnonzero(kept), 0
        if self._places is not None:
            places = self._places[document if len(self._places) > 1 else 0][kept]
            # OPT itself adds the rows before its first one to position_ids.
            first = 0 if self._about is None or self._about.family == "opt" else self._about.first_row
        told = "attention_mask" if self._places is None else "position_ids"
        if (np.diff(places) != 1).any():
            raise ShapeError(f"capture: {told} puts gaps between the positions of document {number}; expected consecutive positions")
        if self._about is not None and self._about.has_table and places[0] != first:
            raise ShapeError(f"capture: {told} begins document {number} at position {places[0]}, expected {first}; put padding after the "
                             "text (tokenizer.padding_side = 'right')")
        return None if kept.all() else kept


def _named(module: Any, args: tuple, kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Names the arguments of a call as the model's forward() does."""
    try:
        signature = inspect.signature(module.forward)
        given = dict(signature.bind_partial(*args, **kwargs).arguments)
    except (TypeError, ValueError):  # the call itself will raise an error
        return dict(kwargs)
    for name, parameter in signature.parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            given.update(given.pop(name, {}))
        elif parameter.kind is parameter.VAR_POSITIONAL and (rest := given.pop(name, ())):
            if len(rest) > 1:
                raise FormatError(f"capture: forward() of {type(module).__name__} takes unnamed arguments (*args), so capture cannot tell "
                                  "which is the mask; pass arguments by name, as attention_mask=...")
            given.setdefault("input_ids", rest[0])
    return given


def _refuse_continuation(given: Mapping[str, Any]) -> None:
    for name, past in given.items():  # past_key_values, or the cache's name in another version of transformers
        if hasattr(past, "get_seq_length"):
            length = past.get_seq_length()
        else:
            length = len(past) if name == "past_key_values" and past is not None else 0
        if length > 0:
            raise FormatError(f"capture: {name} already holds {length} tokens, so the call continues documents, as generate() does; generate first, "
                              "then call the model with whole documents: model(sequences)")


def refuse_padding(given: Mapping[str, Any]) -> None:
    """Refuses a key_padding_mask of PyTorch's own attention that hides tokens (True: hidden)."""
    for name, mask in given.items():
        if name.endswith("key_padding_mask") and mask is not None and bool((mask != 0).any()):
            raise ShapeError(f"capture: {name} hides tokens, but capture stores every token; call the model with documents "
                             "without padding, and store each length in a file of its own")


def _padding(mask: Any) -> np.ndarray | None:
    """Marks the tokens that are text, not padding: booleans (documents, T)."""
    if mask is None:
        return None
    if isinstance(mask, Mapping) or getattr(mask, "ndim", 0) != 2:
        what = f"has shape {tuple(mask.shape)}" if hasattr(mask, "shape") else f"is of type {type(mask).__name__}"
        raise FormatError(f"capture: attention_mask {what}; expected shape (documents, T), 1 for tokens and 0 for padding, "
                          "since capture does not store which keys a query may see")
    array = as_array(mask, "attention_mask")
    if not np.isin(array, (0, 1)).all():
        raise FormatError("capture: attention_mask holds numbers other than 0 and 1; expected 1 for tokens and 0 for padding")
    return array != 0


def _positions(given: Any) -> np.ndarray | None:
    if given is None:
        return None
    array = np.atleast_2d(as_array(given, "position_ids"))
    if array.ndim != 2 or array.dtype.kind not in "iu":
        raise FormatError(f"capture: position_ids holds {array.dtype} values of shape {array.shape}; expected whole numbers of shape (documents, T)")
    return array.astype(np.int64)
