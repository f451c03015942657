"""Gives hidden states, queries, keys and attention that other libraries return the names of docs/inputs.md."""

from __future__ import annotations

from typing import Any, Iterator, Mapping

import numpy as np

from .arrays import as_array
from .errors import FormatError


def named_states(value: Any) -> dict[str, Any]:
    """Names the arrays in a dict of arrays, in a tuple with the attention or hidden states of each layer, or in an array of hidden states.

    Raises:
        FormatError: `value` is empty, or contains attention of documents with padding
    """
    named = _named(value)
    for name, of in named.items():
        if str(name).startswith("attention") and name != "attention_mask":
            require_no_padding(as_array(of, f"states: '{name}'"), f"states: '{name}'")
    return named


def require_no_padding(attention: Any, called: str) -> None:
    """Refuses attention (..., heads, T, T) of documents with padding, because padding would count as tokens.

    Softmax is 0 only for pairs that a mask forbids. So a key is padding if no query attends to it, while every other token attends to itself.
    Queries with the same weight on all keys do not count, because padding before a causal text may have no allowed key and gets such weights.

    Raises:
        FormatError: there is padding; the message names the first document with padding, and its padding keys
    """
    if len(attention.shape) < 3 or attention.dtype.kind != "f" or attention.shape[-1] != attention.shape[-2]:
        return
    for place in np.ndindex(attention.shape[:-3]):
        weights = attention[place]
        looks = (weights.max(-1) != weights.min(-1)).any(0)  # by row
        unseen = weights[:, looks].max((0, 1)) == 0 if looks.any() else np.zeros(len(looks), bool)
        if not unseen.any() or (weights.diagonal(axis1=-2, axis2=-1).max(0) == 0)[~unseen].any():
            continue
        hidden = np.flatnonzero(unseen)
        which = f"{hidden[0]} to {hidden[-1]}" if len(hidden) > 1 else f"{hidden[0]}"
        raise FormatError(f"{called}: no head looks at key {which} of document {place[-1] if place else 0}, so it is padding, which would count "
                          "as text; give documents of one length without it, or run the model: headwave.run(model, ids=[[...], [...]])")


def _named(value: Any) -> dict[str, Any]:
    if isinstance(value, (tuple, list)):
        if not value or any(of is None for of in value):
            raise FormatError("states: the tuple holds no attention, since the model's implementation of attention does not return it; call "
                              "model.set_attn_implementation('eager') before the model runs, or load it with attn_implementation='eager'")
        if _are_states(value):
            return {"hidden_states": np.stack([as_array(of, "states: hidden states") for of in value])}
        return {f"attentions/layer_{layer}": of for layer, of in enumerate(value)}
    if not isinstance(value, Mapping):
        return {"hidden_states": value}
    if not value:
        raise FormatError("states is an empty dict; expected arrays by name, as in docs/inputs.md")
    return dict(_flat(value))


def _flat(nested: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Lists the arrays in nested dicts with their paths: "attentions/layer_0"."""
    for name, of in nested.items():
        if isinstance(of, Mapping):
            yield from _flat(of, f"{above}{name}/")
        else:
            yield f"{above}{name}" if above else name, of


def _are_states(layers: Any) -> bool:
    """Whether the arrays of layers are states (documents, T, width), and not attention (heads, T, T), whose rows sum to 1."""
    if any(np.ndim(of) != 3 for of in layers) or len({tuple(of.shape) for of in layers if hasattr(of, "shape")}) != 1:
        return False
    first = as_array(layers[0], "states: of layer 0")
    return first.shape[-1] != first.shape[-2] or bool((first < 0).any()) or not np.allclose(first.sum(-1), 1, atol=0.02)
