"""Models of PyTorch: what they are by their own config, their weights, and how a job runs them."""

from __future__ import annotations

import os
import threading
import types
import warnings
from typing import Any, Callable, Mapping

import numpy as np
import torch

from . import _core
from .documents import documents_of, require_known, texts_of, unk_strings, unknown_share
from .errors import FormatError, ShapeError
from .hooks import Watch
from .profiles import watch
from .profiles.rotary import CannotDeal
from .profiles.result import Profiles

_DTYPES = {torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.float64: "F64",
           torch.int64: "I64", torch.int32: "I32", torch.uint8: "U8", torch.bool: "BOOL"}


def described(module: torch.nn.Module) -> tuple[str, Any]:
    """A model's config as JSON, and what it is by that: of the families that the program knows.

    Raises:
        FormatError: it has no config, or is of no known family.
    """
    config = getattr(module, "config", None)
    if not hasattr(config, "to_json_string"):
        raise FormatError(f"{type(module).__name__}: has no config of transformers; name its modules: "
                          "capture(..., what='projections', layers={0: ('blocks.0.query', 'blocks.0.key')}, heads=12)")
    text = config.to_json_string()
    return text, _core.model_map(text, type(module).__name__, list(weights_of(module)))


def require_eval(module: torch.nn.Module) -> None:
    """Refuses a model in training: dropout gives other numbers in every call."""
    drops = (torch.nn.modules.dropout._DropoutNd, torch.nn.modules.batchnorm._BatchNorm)
    if module.training or any(part.training for _, part in module.named_modules() if isinstance(part, drops)):
        raise FormatError(f"{type(module).__name__}: is in training mode, so dropout changes its attention; call .eval() first")


def weights_of(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Weights by their names in a checkpoint; quantised ones as the numbers that they stand for."""
    found = {name: of for name, of in module.state_dict().items() if isinstance(of, torch.Tensor)}
    for name, part in module.named_modules():
        if callable(getattr(part, "weight", None)) and callable(getattr(part, "bias", None)):  # PyTorch's quantised linear modules
            for own in ("scale", "zero_point"):
                found.pop(f"{name}.{own}", None)
            made = {"weight": part.weight(), "bias": part.bias()}
            found.update({f"{name}.{which}": of for which, of in made.items() if of is not None})
    return {name: of.dequantize() if of.is_quantized else of for name, of in found.items()}


def tensors_of(weights: Mapping[str, torch.Tensor], called: str) -> list[tuple[str, str, list[int], bool, np.ndarray]]:
    """Weights by name for C++: on a CPU they are read where they lie."""
    return [raw_tensor(name, tensor, called) for name, tensor in weights.items()]


def raw_tensor(name: str, tensor: torch.Tensor, called: str) -> tuple[str, str, list[int], bool, np.ndarray]:
    """A tensor as C++ takes it: name, type in the words of safetensors, shape, whether the first index runs fastest, bytes."""
    lying = tensor.detach().cpu().contiguous()
    return name, dtype_of(name, tensor, called), list(lying.shape), False, lying.reshape(-1).view(torch.uint8).numpy()


def dtype_of(name: str, tensor: torch.Tensor, called: str) -> str:
    """A tensor's type in the words of safetensors.

    Raises:
        FormatError: it has another type.
    """
    if tensor.dtype not in _DTYPES:
        raise FormatError(f"{called}: tensor '{name}' is {tensor.dtype}; expected float32, float16, "
                          "bfloat16 or float64; dequantise it (model.dequantize())")
    return _DTYPES[tensor.dtype]


def module_input(module: torch.nn.Module, tokenizer: Any, *, text: Any, ids: Any, documents: int | None,
                 length: int | None, special_tokens: bool, allow_unknown: bool) -> Any:
    """A model of PyTorch that is run document by document while a job asks for them, and captured; no file in between."""
    require_eval(module)
    called = type(module).__name__
    config, about = described(module)
    weights = weights_of(module)
    listed, facts = _read(about, module, tokenizer, text, ids, documents, length, special_tokens, allow_unknown)
    # Equal documents count once, as in the program; their ids tell, without a run of the model.
    numbers = sorted({tuple(one): number for number, one in reversed(list(enumerate(listed)))}.values())
    provenance = {"source": "text" if text is not None else "token ids", "documents": len(numbers),
                  "length": max(map(len, listed)), "captured_from": called, **facts}
    provenance |= {"equal_documents": len(listed) - len(numbers)} if len(numbers) < len(listed) else {}
    return _core.module_input(config, called, tensors_of(weights, called), [len(listed[number]) for number in numbers],
                              _runner(module, tokenizer, Watch(module, about, None, False), listed, numbers), provenance,
                              {"model": getattr(getattr(module, "config", None), "name_or_path", "") or called,
                               **exceeded(module, provenance["length"])})


def _read(about: Any, module: torch.nn.Module, tokenizer: Any, text: Any, ids: Any, documents: int | None, length: int | None,
          special_tokens: bool, allow_unknown: bool) -> tuple[list[list[int]], dict[str, Any]]:
    """The ids of every document, and what results remember of them."""
    listed, padding = documents_of(about, module, tokenizer, text, ids, documents, length, special_tokens)
    require_known(listed, module)
    facts: dict[str, Any] = {"padding_removed": padding} if padding else {}
    return listed, facts if text is None else facts | unknown_share(tokenizer, listed, allow_unknown) | unk_strings(tokenizer, text)


def exceeded(module: torch.nn.Module, tokens: int) -> dict[str, Any]:
    """The lengths that the files of a model's folder name and documents of so many tokens exceed, as results remember them."""
    folder = getattr(getattr(module, "config", None), "name_or_path", "")
    return _core.exceeded_lengths(folder, tokens) if isinstance(folder, str) and os.path.isdir(folder) else {}


def why_not_followed(module: torch.nn.Module) -> str:
    """Why the program's own pass cannot follow a model; nothing if it can."""
    try:
        described(module)
    except FormatError as error:
        return str(error).partition(";")[0]
    return ""


def watched(module: torch.nn.Module, tokenizer: Any, *, text: Any, ids: Any, documents: int | None, length: int | None,
            special_tokens: bool, allow_unknown: bool, seed: int, reach: int, deal: bool,
            told: Callable[[str], Any] | None) -> tuple[Profiles, dict[str, Any]]:
    """Profiles of a model of any family, which runs document by document: all that a run reads, and what results remember of the documents.

    Args:
        reach: largest offset that the run searches, in tokens
        deal: for an account, which is left out with a warning where contents cannot be dealt
        told: is given a line before every document
    """
    require_eval(module)
    if getattr(getattr(module, "config", None), "is_encoder_decoder", False):
        raise FormatError(f"run: {type(module).__name__} is an encoder-decoder of a family that is not known; watch it yourself: "
                          "headwave.watch(model, null=True), then headwave.run(profiles=watch.result())")
    longest = getattr(getattr(module, "config", None), "max_position_embeddings", None)
    about = types.SimpleNamespace(longest=longest if isinstance(longest, int) and longest > 0 else None)   # XLNet says -1: any length
    listed, facts = _read(about, module, tokenizer, text, ids, documents, length, special_tokens, allow_unknown)
    remembered: dict[str, Any] = {"watched_text": "text" if text is not None else "token ids", **facts}
    remembered |= {} if text is None else {"tokenizer": type(tokenizer).__name__}
    remembered |= exceeded(module, max(map(len, listed)))
    if short := sum(len(one) < 2 for one in listed):
        warnings.warn(f"run: documents of one token have no pairs and are omitted: {short}", stacklevel=7)
        listed = [one for one in listed if len(one) > 1]
    if not listed:
        raise ShapeError("run: no document has two tokens; expected one at least")
    different = list(dict.fromkeys(map(tuple, listed)))   # equal documents count once, as in the program
    device = next(module.parameters()).device

    def summed(deal: bool) -> Profiles:
        with torch.inference_mode(), watch(module, exact=max(128, 2 * reach), tokenizer=tokenizer, seed=seed, null=True, deal=deal) as running:
            for number, one in enumerate(different):
                if told is not None:
                    told(f"document {number + 1} of {len(different)}")
                module(torch.tensor([one], device=device))
        return running.result()

    if len(different) < len(listed):
        remembered["equal_documents"] = len(listed) - len(different)
    try:
        return summed(deal), remembered
    except CannotDeal as error:
        warnings.warn(f"run: without an account, {error}", stacklevel=7)
        return summed(False), remembered


def _runner(module: torch.nn.Module, tokenizer: Any, watch: Watch, listed: list[list[int]],
            numbers: list[int]) -> Callable[[int, bool], dict]:
    lock = threading.Lock()
    device = next(module.parameters()).device

    def document(i: int, with_states: bool) -> dict[str, Any]:
        ids, layers = listed[numbers[i]], []
        if with_states:
            with lock, torch.inference_mode(), watch:  # hooks are there only while a document passes
                module(torch.tensor([ids], device=device))
                layers = watch.stored(watch.shape()[0] - 1)
        tokens, special = texts_of(tokenizer, ids)
        return {"name": f"document {numbers[i]}", "ids": ids, "tokens": tokens, "special": special, "layers": layers}

    return document
