"""Makes Scores from the arguments of one call of an attention function of transformers.

Each reader follows one function of transformers, argument by argument. Unknown functions, and known functions with a new parameter, are
refused by name, because Scores would lack what they do to the scores.
"""

from __future__ import annotations

import inspect
from typing import Any, Callable

import torch

from ..errors import FormatError
from .passes import Miscounted
from .tiles import Scores

CALLED_BY = ("module", "query", "key", "value", "attention_mask")


def named(args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Gives the arguments of a call of an attention function by name."""
    return {**dict(zip(CALLED_BY, args)), **kwargs}


def read(function: Callable[..., Any], name: str, given: dict[str, Any], output: Any, shift: int, cast: torch.dtype | None = None,
         before_dropout: bool = False) -> Scores:
    """Makes the Scores from which one call computed its weights.

    Args:
        function: a function of transformers, or the model's own eager function
        name: name of the implementation, as in the config
        given: arguments of the function, by name
        output: what the function returned
        shift: index of the key at the position of the first query
        cast: dtype of autocast, to which PyTorch's and flash attention round their arguments; None: no autocast
        before_dropout: whether weights before dropout are acceptable if the model drops some

    Raises:
        FormatError: the function or its arguments are not known
    """
    from transformers.integrations.flash_attention import flash_attention_forward
    from transformers.integrations.flex_attention import flex_attention_forward
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    module = given["module"]
    drops = bool(module.training and given.get("dropout"))
    if drops and not before_dropout:
        raise FormatError(f"watch: {type(module).__name__} drops attention weights at random; call model.eval() first")
    inner = inspect.unwrap(function)
    for known, reader, parameters in ((sdpa_attention_forward, _sdpa, _SDPA), (flex_attention_forward, _flex, _FLEX),
                                      (flash_attention_forward, _flash, _FLASH)):
        if inner is inspect.unwrap(known):
            _require_known(known, parameters)
            return reader(module, given if cast is None or reader is _flex else _rounded(given, cast), shift)
    if drops:
        raise FormatError(f"watch: {type(module).__name__} returns weights from which dropout has removed some; call "
                          "model.set_attn_implementation('sdpa'), whose weights are computed again without dropout")
    weights = output[1] if isinstance(output, tuple) and len(output) > 1 else None
    expected = (*given["query"].shape[:3], given["key"].shape[2])
    if isinstance(weights, torch.Tensor) and tuple(weights.shape) == expected:
        return _finished(given, weights, shift)
    raise FormatError(f"watch: {type(module).__name__} computes attention by the implementation '{name}' ({getattr(function, '__module__', '?')}."
                      f"{getattr(function, '__name__', '?')}), which watch does not know; call model.set_attn_implementation('sdpa') or ('eager')")


_PLAIN = {"module", "query", "key", "value", "attention_mask", "dropout", "scaling", "is_causal", "kwargs"}
_SDPA = _PLAIN | {"position_bias"}
_FLEX = _PLAIN | {"softcap", "s_aux", "position_bias"}
_FLASH = _PLAIN | {"sliding_window", "softcap", "s_aux"}


def _require_known(function: Callable[..., Any], parameters: set[str]) -> None:
    new = [name for name in inspect.signature(function).parameters if name not in parameters]
    if new:
        raise FormatError(f"watch: {function.__name__} of this transformers takes the argument '{new[0]}', which watch does not know; "
                          "call model.set_attn_implementation('eager')")


def _rounded(given: dict[str, Any], cast: torch.dtype) -> dict[str, Any]:
    rounded = {name: given[name].to(cast) for name in ("query", "key", "attention_mask", "position_bias")
               if isinstance(given.get(name), torch.Tensor) and given[name].is_floating_point()}
    return {**given, **rounded}


def _every_query(mask: Any, queries: int) -> Any:
    """Expands a mask with a single row, which is meant for every query."""
    return mask.expand(-1, -1, queries, -1) if isinstance(mask, torch.Tensor) and mask.ndim == 4 and mask.shape[2] == 1 else mask


def _scale(given: dict[str, Any]) -> float:
    scaling = given.get("scaling")
    return float(scaling) if scaling is not None else given["query"].shape[-1] ** -0.5


def _sdpa(module: Any, given: dict[str, Any], shift: int) -> Scores:
    query, key, mask = given["query"], given["key"], given.get("attention_mask")
    is_causal = given.get("is_causal")
    is_causal = is_causal if is_causal is not None else getattr(module, "is_causal", True)
    causal = bool(query.shape[2] > 1 and mask is None and is_causal)
    if causal and shift:   # PyTorch aligns its causal mask to the upper left
        raise FormatError(f"watch: {type(module).__name__} reads {key.shape[2]} keys for {query.shape[2]} queries without a mask, so the position "
                          "of a query among the keys is unknown; call model.set_attn_implementation('eager')")
    return Scores(query, key, _scale(given), shift, causal, _every_query(mask, query.shape[2]), given.get("position_bias"))


def _flex(module: Any, given: dict[str, Any], shift: int) -> Scores:
    mask = given.get("attention_mask")
    if mask is not None and not isinstance(mask, torch.Tensor):
        mask = mask.mask_mod
    bias = given.get("position_bias")
    return Scores(given["query"], given["key"], _scale(given), shift, False, mask, bias, (0, 0), given.get("softcap"), given.get("s_aux"))


def _flash(module: Any, given: dict[str, Any], shift: int) -> Scores:
    if given.get("indices") is not None or given.get("block_table") is not None:
        raise FormatError(f"watch: {type(module).__name__} attends only to selected keys or to pages of a cache, which watch cannot "
                          "follow; expected attention to all keys")
    query, key, padding = given["query"], given["key"], given.get("attention_mask")
    is_causal = given.get("is_causal")
    is_causal = is_causal if is_causal is not None else module.is_causal
    window = given.get("sliding_window")
    window = (window, window) if window is not None and key.shape[2] > window else (0, 0)
    segments = _segments(given)
    mask: Callable[..., torch.Tensor] | None = None
    if segments is not None:
        mask = lambda b, h, i, j: segments[i] == segments[j]  # noqa: E731
    elif padding is not None:
        padding = padding.bool()
        mask = lambda b, h, i, j: padding[b, j]  # noqa: E731
    if shift != key.shape[2] - query.shape[2] and (is_causal or window[0]):
        raise FormatError(f"watch: {type(module).__name__} reads {key.shape[2]} keys for {query.shape[2]} queries, whose positions among the keys "
                          "are unknown; expected the last query at the last key")
    return Scores(query, key, _scale(given), shift, bool(is_causal), mask, None, window, given.get("softcap"), given.get("s_aux"))


def _segments(given: dict[str, Any]) -> torch.Tensor | None:
    """Gives the packed sequence (T) that each token of a flash attention call belongs to. None if nothing is packed."""
    query, ends = given["query"], given.get("cu_seq_lens_q")
    if ends is not None:
        return torch.searchsorted(ends.to(query.device).long(), torch.arange(query.shape[2], device=query.device), right=True)
    positions = given.get("position_ids")
    if positions is None or query.shape[0] != 1 or query.shape[2] == 1 or tuple(positions.shape) != (1, query.shape[2]):
        return None
    restarts = torch.diff(positions[0], prepend=positions[0, :1] - 1) != 1
    return restarts.cumsum(0) if bool(restarts.any()) else None


def _finished(given: dict[str, Any], weights: torch.Tensor, shift: int) -> Scores:
    mask = given.get("attention_mask")
    if mask is not None and mask.ndim != 4:
        raise FormatError(f"watch: {type(given['module']).__name__} was given a mask of shape {tuple(mask.shape)}; expected (batch, heads, "
                          "queries, keys)")
    if mask is not None:
        mask = _every_query(mask[..., :weights.shape[3]], weights.shape[2])
        if not mask.is_floating_point():
            mask = mask.bool()
            if bool((weights * (~mask & mask.any(-1, keepdim=True))).any()):
                raise Miscounted(f"watch: {type(given['module']).__name__} looked at keys that its mask forbids: eager attention adds the mask to the "
                                 "scores; give it 0 and -inf in place of booleans, or call model.set_attn_implementation('sdpa')")
    return Scores(given["query"], given["key"], _scale(given), shift, False, mask, given.get("position_bias"), soft_cap=given.get("softcap"),
                  weights=weights)
