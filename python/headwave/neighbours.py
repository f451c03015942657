"""What other programs call hidden states, queries, keys and attention, in the names of docs/inputs.md."""

from __future__ import annotations

import re
from typing import Any, Iterator, Mapping

import numpy as np

from .arrays import as_array
from .errors import FormatError, ShapeError

_HOOK = re.compile(r"blocks\.(\d+)\.attn\.hook_(q|k|rot_q|rot_k|pattern)")


def named_states(value: Any) -> dict[str, Any]:
    """States by name: a dict as it is, a cache of TransformerLens, a tuple of attentions or of states by layer, or an array of states.

    Raises:
        FormatError: there is nothing in it, or attention of documents with padding
    """
    named = _named(value)
    for name, of in named.items():
        if str(name).startswith("attention") and name != "attention_mask":
            require_no_padding(as_array(of, f"states: '{name}'"), f"states: '{name}'")
    return named


def require_no_padding(attention: Any, called: str) -> None:
    """Refuses attention, (..., heads, T, T), of documents with padding, which would count as tokens.

    No head looks at padding, so a key that no row looks at is one, if every other token looks at itself: softmax is 0 only where a mask is.
    Rows that may look nowhere, as those of padding before a causal text, come out the same everywhere, and do not count.

    Raises:
        FormatError: there is one, with the first document and its keys
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
        raise FormatError(f"{called}: no head looks at key {which} of document {place[-1] if place else 0}: it is padding, which would count "
                          "as text; give documents of one length without it, or run the model: headwave.run(model, ids=[[...], [...]])")


def _named(value: Any) -> dict[str, Any]:
    settings = getattr(getattr(value, "model", None), "cfg", None)
    if hasattr(value, "cache_dict"):  # TransformerLens' ActivationCache
        value = value.cache_dict
    if isinstance(value, (tuple, list)):
        if not value or any(of is None for of in value):
            raise FormatError("states: a tuple without attention, which this implementation does not return; call "
                              "model.set_attn_implementation('eager') before the model runs, or load it with attn_implementation='eager'")
        if _are_states(value):
            return {"hidden_states": np.stack([as_array(of, "states: hidden states") for of in value])}
        return {f"attentions/layer_{layer}": _attention(of, layer) for layer, of in enumerate(value)}
    if not isinstance(value, Mapping):
        return {"hidden_states": value}
    if not value:
        raise FormatError("states: an empty dict; expected arrays by name, as in docs/inputs.md")
    named = dict(_flat(value))
    if any(isinstance(name, str) and _HOOK.fullmatch(name) for name in named):
        return _hooked(named, settings)
    return named


def _flat(nested: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """What a dict of dicts holds, by its path: "attentions/layer_0"."""
    for name, of in nested.items():
        if isinstance(of, Mapping):
            yield from _flat(of, f"{above}{name}/")
        else:
            yield f"{above}{name}" if above else name, of


def _are_states(layers: Any) -> bool:
    """Whether what came by layer are states, (documents, T, width), and no attention, (heads, T, T): rows of that add up to 1."""
    if any(np.ndim(of) != 3 for of in layers) or len({tuple(of.shape) for of in layers if hasattr(of, "shape")}) != 1:
        return False
    first = as_array(layers[0], "states: of layer 0")
    return first.shape[-1] != first.shape[-2] or bool((first < 0).any()) or not np.allclose(first.sum(-1), 1, atol=0.02)


def _attention(attention: Any, layer: int) -> np.ndarray:
    """Attention of a layer, as transformers give it and BertViz takes it: (documents, heads, T, T)."""
    array = as_array(attention, f"states: attention of layer {layer}")
    if array.ndim == 3:
        array = array[np.newaxis]
    if array.ndim != 4:
        raise ShapeError(f"states: attention of layer {layer} has shape {array.shape}; expected (documents, heads, T, T)")
    return array


def _hooked(cache: Mapping[str, Any], settings: Any) -> dict[str, Any]:
    """The names of TransformerLens: queries and keys, (documents, T, heads, d_head), where they are; else patterns.

    What the cache does not say of itself, whether attention is causal, and by what scores are scaled, its model's `cfg` says;
    without one patterns show the first, and the second is 1/sqrt(d_head).
    """
    found: dict[int, dict[str, Any]] = {}
    for name, of in cache.items():
        if hook := _HOOK.fullmatch(name):
            found.setdefault(int(hook[1]), {})[hook[2]] = of
    positions = getattr(settings, "positional_embedding_type", "standard")
    kept = {name: of for name, of in cache.items() if not str(name).startswith(("blocks.", "hook_", "ln_final", "rotary"))}
    if positions in ("standard", "rotary") and all("q" in layer and "k" in layer for layer in found.values()):
        return {**_queries_and_keys(found, settings), **kept}
    if not all("pattern" in layer for layer in found.values()):
        raise FormatError("states: a cache of TransformerLens without hook_q and hook_k, and without hook_pattern, of every "
                          "layer; cache one of them, as run_with_cache(ids) does")
    return {**{f"attentions/layer_{layer}": _attention(of["pattern"], layer) for layer, of in found.items()}, **kept}


def _queries_and_keys(found: Mapping[int, Mapping[str, Any]], settings: Any) -> dict[str, Any]:
    named: dict[str, Any] = {}
    turned = all("rot_q" in layer and "rot_k" in layer for layer in found.values())
    for layer, of in found.items():
        for word, hook in (("queries", "q"), ("keys", "k")):
            array = as_array(of["rot_" + hook if turned else hook], f"states: hook_{hook} of layer {layer}")
            if array.ndim != 4:
                raise ShapeError(f"states: hook_{hook} of layer {layer} has shape {array.shape}; expected (documents, T, heads, "
                                 "d_head)")
            named[f"{word}/layer_{layer}"] = array.reshape(*array.shape[:2], -1)
            if hook == "q":
                named["num_heads"] = array.shape[2]
    direction = getattr(settings, "attention_dir", None)
    if direction is None:
        patterns = [as_array(of["pattern"], "states: hook_pattern") for of in found.values() if "pattern" in of]
        if not patterns:
            raise FormatError("states: a dict of hooks does not say whether attention is causal; give the ActivationCache itself, "
                              "or hook_pattern beside the queries")
        direction = "bidirectional" if any(np.triu(pattern, 1).any() for pattern in patterns) else "causal"
    named["causal"] = int(direction == "causal")
    if getattr(settings, "use_attn_scale", True) is False:
        named["score_scale"] = 1.0
    elif (getattr(settings, "attn_scale", None) or -1) > 0:  # -1: as usual
        named["score_scale"] = 1.0 / float(settings.attn_scale)
    if turned:
        named["turned"] = 1
    return named
