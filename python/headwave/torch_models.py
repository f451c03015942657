"""Models of PyTorch: what they are by their own config, their weights, and what enters or leaves their projections."""

from __future__ import annotations

import threading
from typing import Any, Callable, Iterable, Mapping, Sequence

import numpy as np
import torch

from . import _core
from .arguments import whole
from .documents import documents_of, require_known, texts_of, unknown_share
from .errors import FormatError, ShapeError
from .hooked import hooked, is_hooked

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
                          "capture(..., layers={0: 'blocks.0.attn'}, heads=12)")
    text = config.to_json_string()
    return text, _core.model_map(text, type(module).__name__, list(weights_of(module)))


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
    tensors = []
    for name, tensor in weights.items():
        if tensor.dtype not in _DTYPES:
            raise FormatError(f"{called}: tensor '{name}' is {tensor.dtype}; expected float32, float16, "
                              "bfloat16 or float64; dequantise it (model.dequantize())")
        lying = tensor.detach().cpu().contiguous()
        tensors.append((name, _DTYPES[lying.dtype], list(lying.shape), False, lying.reshape(-1).view(torch.uint8).numpy()))
    return tensors


def rows_of(tensor: torch.Tensor, name: str) -> np.ndarray:
    """(documents, T, width) in float32 on the CPU, apart from the model's own memory."""
    if not isinstance(tensor, torch.Tensor) or tensor.is_meta or not tensor.is_floating_point():
        what = f"a tensor of {tensor.dtype} on {tensor.device}" if isinstance(tensor, torch.Tensor) else type(tensor).__name__
        raise FormatError(f"{name}: {what} passed, expected a tensor of floating point numbers, (documents, T, width)")
    if tensor.ndim == 2:
        tensor = tensor[None]
    if tensor.ndim != 3:
        raise ShapeError(f"{name}: {tuple(tensor.shape)} passed, expected (documents, T, width)")
    copied = tensor.detach().to("cpu", torch.float32)
    return (copied if copied.data_ptr() != tensor.data_ptr() else copied.clone()).contiguous().numpy()


class Watch:
    """The modules that make queries and keys; within a `with` hooks on them keep what passes until it is taken."""

    def __init__(self, module: torch.nn.Module, about: Any, layers: Sequence[int] | Mapping[int, str] | None,
                 projections: bool) -> None:
        self.about, self.projections = about, projections
        self.states: dict[int, np.ndarray] = {}
        self.queries: dict[int, np.ndarray] = {}
        self.keys: dict[int, np.ndarray] = {}
        self._watched: list[Callable[[], Any]] = []
        self._handles: list[Any] = []
        named = layers if isinstance(layers, Mapping) else None
        if about is not None and named is None:
            self._refuse(module)
        self.layers = _chosen(range(about.layers) if layers is None else layers)
        for layer in self.layers:
            if named is None and not 0 <= layer < about.layers:
                raise ShapeError(f"capture: there is no layer {layer}; {type(module).__name__} has {about.layers}, "
                                 f"0 to {about.layers - 1}")
        for layer in self.layers:
            self._watch(module, layer, named)

    def __enter__(self) -> "Watch":
        self._handles = [register() for register in self._watched]
        return self

    def __exit__(self, *_: Any) -> None:
        for handle in self._handles:
            handle.remove()
        self.clear()

    def clear(self) -> None:
        """Lets go of what passed."""
        for kept in (self.states, self.queries, self.keys):
            kept.clear()

    def documents(self) -> int:
        """How many documents passed at once."""
        missing = [layer for layer in self.layers if layer not in (self.queries if self.projections else self.states)]
        if missing:
            raise ShapeError(f"capture: the model ran, and layer {missing[0]} was not among what ran; expected every layer "
                             "that is captured once")
        return len((self.queries if self.projections else self.states)[self.layers[0]])

    def stored(self, document: int, kept: np.ndarray | None = None) -> list[tuple[int, Any, Any, Any]]:
        """What passed of a document: (layer, states, query, key). `kept`: which of its tokens are no padding."""
        def part(of: dict[int, np.ndarray], layer: int, turned: bool) -> Any:
            if layer not in of:
                return None
            rows = of[layer][document]
            rows = np.ascontiguousarray(rows if kept is None else rows[kept])
            return self.about.turned(rows) if turned and self.about.rotary else rows

        return [(layer, part(self.states, layer, False), part(self.queries, layer, True), part(self.keys, layer, True))
                for layer in self.layers]

    def _refuse(self, module: torch.nn.Module) -> None:
        if self.about.pairs:
            raise ShapeError(f"{type(module).__name__}: an encoder-decoder; expected a model that reads one sequence")
        if "{layer}" not in self.about.query:
            raise ShapeError(f"{type(module).__name__}: its layers are one module, which does not say which layer runs; "
                             "give its folder in place of it")
        if self.projections and self.about.only_states:
            raise ShapeError(f"{type(module).__name__}: its queries and keys are normalised, its scores capped or its layers "
                             "differ, which queries and keys do not hold; capture its states")
        if self.projections and self.about.adds_to_scores:
            raise ShapeError(f"{type(module).__name__}: its positions are added to the scores, which queries and keys do not "
                             "tell; capture states (what='states')")

    def _watch(self, module: torch.nn.Module, layer: int, named: Mapping[int, str] | None) -> None:
        query = named[layer] if named is not None else _module_name(self.about.query, layer)
        if not self.projections:
            def enters(_: Any, args: tuple, kwargs: dict) -> None:
                given = args[0] if args else next(iter(kwargs.values()), None)
                self.states[layer] = rows_of(given, query)
            watched = _submodule(module, query)
            self._watched.append(lambda: watched.register_forward_pre_hook(enters, with_kwargs=True))
            return
        key = _module_name(self.about.key, layer)

        def queries(_: Any, args: tuple, out: torch.Tensor) -> None:
            self.queries[layer] = rows_of(_query_part(out, self.about), query)

        def keys(_: Any, args: tuple, out: torch.Tensor) -> None:
            self.keys[layer] = rows_of(_key_part(out, self.about), key)

        makes_queries, makes_keys = _submodule(module, query), _submodule(module, key)
        self._watched.append(lambda: makes_queries.register_forward_hook(queries))
        self._watched.append(lambda: makes_keys.register_forward_hook(keys))


def _chosen(layers: Iterable[int]) -> list[int]:
    if isinstance(layers, str) or not isinstance(layers, Iterable):
        raise FormatError(f"layers={layers!r}: expected a list of layers, [0, 5]")
    return sorted({whole(layer, "a layer") for layer in layers})


def _module_name(tensor: str, layer: int) -> str:
    return tensor.replace("{layer}", str(layer)).removesuffix(".weight")


def _submodule(module: torch.nn.Module, name: str) -> torch.nn.Module:
    try:
        return module.get_submodule(name)
    except AttributeError:
        names = ", ".join(f"'{n}'" for n, _ in list(module.named_modules())[1:6])
        raise FormatError(f"{type(module).__name__}: there is no module '{name}'; there are {names}, ...") from None


def _query_part(out: torch.Tensor, about: Any) -> torch.Tensor:
    width = about.heads * about.d_head
    if about.fusion == "qkv":
        return out[..., :width]
    if about.fusion == "qkv_by_head":
        return out.unflatten(-1, (about.heads, 3, about.d_head))[..., 0, :].flatten(-2)
    return out


def _key_part(out: torch.Tensor, about: Any) -> torch.Tensor:
    width = about.kv_heads * about.d_head
    if about.fusion == "qkv":
        first = about.heads * about.d_head
        return out[..., first:first + width]
    if about.fusion == "qkv_by_head":
        return out.unflatten(-1, (about.heads, 3, about.d_head))[..., 1, :].flatten(-2)
    return out[..., :width]


def module_input(module: torch.nn.Module, tokenizer: Any, *, text: Any, ids: Any, documents: int | None,
                 length: int | None, special_tokens: bool, allow_unknown: bool, refused: Sequence[str]) -> Any:
    """A model of PyTorch that is run document by document while a job asks for them, and captured; no file in between."""
    if refused:
        raise FormatError(f"run: {refused[0]} does not go with a model of PyTorch; give text and its tokenizer, or ids")
    if module.training:
        raise FormatError(f"{type(module).__name__}: is in training, its dropout changes what it computes; call .eval() first")
    called, named = type(module).__name__, None
    if is_hooked(module):
        config, weights, named = hooked(module)
        about = _core.model_map(config, called, list(weights))
        tokenizer = tokenizer if tokenizer is not None else module.tokenizer
    else:
        config, about = described(module)
        weights = weights_of(module)
    listed = documents_of(about, tokenizer, text, ids, documents, length, special_tokens)
    require_known(listed, module)
    provenance = {"source": "text" if text is not None else "token ids", "documents": len(listed),
                  "length": max(map(len, listed)), "captured_from": called}
    if text is not None:
        provenance |= unknown_share(tokenizer, listed, allow_unknown)
    return _core.module_input(config, called, tensors_of(weights, called), [len(one) for one in listed],
                              _runner(module, tokenizer, Watch(module, about, named, False), listed), provenance,
                              {"model": getattr(getattr(module, "config", None), "name_or_path", "") or called})


def _runner(module: torch.nn.Module, tokenizer: Any, watch: Watch, listed: list[list[int]]) -> Callable[[int], dict]:
    lock = threading.Lock()
    device = next(module.parameters()).device

    def document(i: int) -> dict[str, Any]:
        with lock, torch.inference_mode(), watch:  # hooks are there only while a document passes
            module(torch.tensor([listed[i]], device=device))
            layers = watch.stored(watch.documents() - 1)
        tokens, special = texts_of(tokenizer, listed[i])
        return {"name": f"document {i}", "ids": listed[i], "tokens": tokens, "special": special, "layers": layers}

    return document
