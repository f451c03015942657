"""Describes PyTorch models by their config, hands their weights to C++, and runs them for a job."""

from __future__ import annotations

import os
import threading
import warnings
from typing import Any, Callable

import numpy as np
import torch

from . import _core
from .documents import documents_of, texts_of
from .errors import FormatError, ShapeError
from .hooks import Watch
from .profiles import watch
from .profiles.rotary import CannotDeal
from .profiles.result import Profiles

_DTYPES = {torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.float64: "F64",
           torch.int64: "I64", torch.int32: "I32", torch.uint8: "U8", torch.bool: "BOOL"}


def described(module: torch.nn.Module) -> tuple[str, Any]:
    """Gives a model's config as JSON, and the description that the program makes from the config and the names of the weights.

    Raises:
        FormatError: the model has no config, or its family is unknown.
    """
    config = getattr(module, "config", None)
    if not hasattr(config, "to_json_string"):
        raise FormatError(f"{type(module).__name__} has no config of transformers; name its modules: "
                          "capture(..., what='projections', layers={0: ('blocks.0.query', 'blocks.0.key')}, heads=12)")
    text = config.to_json_string()
    return text, _core.model_map(text, type(module).__name__, list(_weights(module)))


def require_eval(module: torch.nn.Module) -> None:
    """Refuses a model in training mode, because dropout changes its attention from call to call."""
    drops = (torch.nn.modules.dropout._DropoutNd, torch.nn.modules.batchnorm._BatchNorm)
    if module.training or any(part.training for _, part in module.named_modules() if isinstance(part, drops)):
        raise FormatError(f"{type(module).__name__} is in training mode, so dropout changes its attention; call .eval() first")


def _weights(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {name: of for name, of in module.state_dict().items() if isinstance(of, torch.Tensor)}


def _raw(name: str, tensor: torch.Tensor, called: str) -> tuple[str, str, list[int], np.ndarray]:
    """Converts a tensor for C++: name, type as in safetensors, shape and bytes. Contiguous tensors on the CPU are not copied.

    Raises:
        FormatError: C++ does not know the tensor's type
    """
    if tensor.dtype not in _DTYPES:
        known = ", ".join(str(dtype).removeprefix("torch.") for dtype in _DTYPES)
        raise FormatError(f"{called}: tensor '{name}' is of type {tensor.dtype}; expected one of {known}; dequantise it (model.dequantize())")
    lying = tensor.detach().cpu().contiguous()
    return name, _DTYPES[tensor.dtype], list(lying.shape), lying.reshape(-1).view(torch.uint8).numpy()


def module_input(module: torch.nn.Module, tokenizer: Any, **read: Any) -> Any:
    """Makes the input of a PyTorch model. When a job asks for a document, the model runs on it, and its states are captured without a file.

    Args:
        read: arguments of documents_of()
    """
    require_eval(module)
    called = type(module).__name__
    config, about = described(module)
    weights = [_raw(name, tensor, called) for name, tensor in _weights(module).items()]
    listed, facts = documents_of(module, about.longest, tokenizer, **read)
    lengths = [len(ids) for _, ids in listed]
    provenance = {"documents": len(listed), "length": max(lengths), "captured_from": called, **facts}
    return _core.module_input(config, called, weights, lengths, _runner(module, tokenizer, Watch(module, about, None, False), listed), provenance,
                              {"model": getattr(getattr(module, "config", None), "name_or_path", "") or called, **exceeded(module, max(lengths))})


def exceeded(module: torch.nn.Module, tokens: int) -> dict[str, Any]:
    """Finds the maximal lengths in the files of a model's folder that documents of `tokens` tokens exceed, as entries of the provenance."""
    folder = getattr(getattr(module, "config", None), "name_or_path", "")
    return _core.exceeded_lengths(folder, tokens) if isinstance(folder, str) and os.path.isdir(folder) else {}


def why_not_followed(module: torch.nn.Module) -> str:
    """Says why the program's own pass cannot run a model. Empty if it can."""
    try:
        described(module)
    except FormatError as error:
        return str(error).partition(";")[0]
    return ""


def watched(module: torch.nn.Module, tokenizer: Any, *, seed: int, reach: int, deal: bool, told: Callable[[str], Any] | None,
            **read: Any) -> tuple[Profiles, dict[str, Any]]:
    """Watches a model of any family. Gives its profiles with all sums that a run uses, and facts about the documents for the provenance.

    Args:
        reach: largest |offset| that the run searches, in tokens
        deal: whether to keep what an account needs; if contents cannot be dealt, the account is omitted with a warning
        told: function that is called with a line before every document; None: nothing is reported
        read: arguments of documents_of()
    """
    require_eval(module)
    config = getattr(module, "config", None)
    if getattr(config, "is_encoder_decoder", False):
        raise FormatError(f"run: {type(module).__name__} is an encoder-decoder of an unknown family, which run cannot watch; watch it yourself: "
                          "headwave.watch(model, null=True), then headwave.run(profiles=watch.result())")
    longest = getattr(config, "max_position_embeddings", None)
    listed, facts = documents_of(module, longest if isinstance(longest, int) and longest > 0 else 0, tokenizer, **read)   # XLNet has -1: any length
    remembered = {"watched_text": facts.pop("source"), **facts, **exceeded(module, max(len(ids) for _, ids in listed))}
    remembered |= {} if read["text"] is None else {"tokenizer": type(tokenizer).__name__}
    pairs = [ids for _, ids in listed if len(ids) > 1]
    if len(pairs) < len(listed):
        warnings.warn(f"run: omits {len(listed) - len(pairs)} of {len(listed)} documents: with only one token they have no pair", stacklevel=7)
    if not pairs:
        raise ShapeError("run: every document has only one token; expected a document of two tokens or more")
    device = next(module.parameters()).device

    def summed(deal: bool) -> Profiles:
        with torch.inference_mode(), watch(module, exact=max(128, 2 * reach), tokenizer=tokenizer, seed=seed, null=True, deal=deal) as running:
            for number, ids in enumerate(pairs):
                if told is not None:
                    told(f"document {number + 1} of {len(pairs)}")
                module(torch.tensor([ids], device=device))
        return running.result()

    try:
        return summed(deal), remembered
    except CannotDeal as error:
        warnings.warn(f"run: omits the account: {error}", stacklevel=7)
        return summed(False), remembered


def _runner(module: torch.nn.Module, tokenizer: Any, watch: Watch, listed: list[tuple[str, list[int]]]) -> Callable[[int, bool], dict]:
    lock = threading.Lock()
    device = next(module.parameters()).device

    def document(i: int, with_states: bool) -> dict[str, Any]:
        (name, ids), layers = listed[i], []
        if with_states:
            with lock, torch.inference_mode(), watch:  # hooks exist only while a document passes
                module(torch.tensor([ids], device=device))
                layers = watch.stored(watch.shape()[0] - 1)
        tokens, special = texts_of(tokenizer, ids)
        return {"name": name, "ids": ids, "tokens": tokens, "special": special, "layers": layers}

    return document
