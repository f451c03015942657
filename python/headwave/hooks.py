"""Hooks on the modules that make queries and keys. They keep what enters or leaves these modules while PyTorch runs a model."""

from __future__ import annotations

from typing import Any, Callable, Iterable, Mapping, Sequence

import numpy as np
import torch

from .arguments import whole
from .calls import refuse_padding
from .errors import FormatError, ShapeError


def rows_of(tensor: torch.Tensor, name: str) -> np.ndarray:
    """Makes a float32 copy of a tensor on the CPU, (documents, T, width)."""
    if isinstance(tensor, torch.Tensor) and tensor.is_nested:
        raise ShapeError(f"{name}: found documents of different lengths in one call, without padding (a nested tensor); call the model "
                         "with documents of one length, and store each length in a file of its own")
    if not isinstance(tensor, torch.Tensor) or tensor.is_meta or not tensor.is_floating_point():
        what = f"a tensor of {tensor.dtype} on {tensor.device}" if isinstance(tensor, torch.Tensor) else type(tensor).__name__
        raise FormatError(f"{name}: found {what}; expected a tensor of floating point numbers, (documents, T, width)")
    if tensor.ndim == 2:
        tensor = tensor[None]
    if tensor.ndim != 3:
        raise ShapeError(f"{name}: found shape {tuple(tensor.shape)}; expected (documents, T, width)")
    copied = tensor.detach().to("cpu", torch.float32)
    return (copied if copied.data_ptr() != tensor.data_ptr() else copied.clone()).contiguous().numpy()


class Watch:
    """Hooks on the modules that make queries and keys. Within a `with` they keep what passes these modules, until clear().

    If the model's family is known, `about` says which modules these are. Otherwise `layers` names the module of each layer, such as
    {0: "blocks.0.attn"}, and the module's input is kept. With `projections`, such as {0: ("blocks.0.query", "blocks.0.key")}, the outputs
    of two modules are kept. One name instead of two means a module whose output contains queries, keys and values one after another, or
    a torch.nn.MultiheadAttention.

    Args:
        heads: numbers of query heads and key heads, for modules given by name
    """

    def __init__(self, module: torch.nn.Module, about: Any, layers: Sequence[int] | Mapping[int, Any] | None,
                 projections: bool, heads: tuple[int, int] = (0, 0)) -> None:
        self.about, self.projections, self.heads = about, projections, heads
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
                raise ShapeError(f"capture: there is no layer {layer}; {type(module).__name__} has {about.layers} layers, "
                                 f"0 to {about.layers - 1}")
        for layer in self.layers:
            if not projections:
                self._watch_states(module, layer, _module_name(about.query, layer) if named is None else _one(named[layer]))
            elif named is None:
                names = _module_name(about.query, layer), _module_name(about.key, layer)
                self._watch_outputs(module, layer, names, self._part_of_family)
            else:
                self._watch_named(module, layer, named[layer])

    def __enter__(self) -> "Watch":
        self._handles = [register() for register in self._watched]
        return self

    def __exit__(self, *_: Any) -> None:
        for handle in self._handles:
            handle.remove()
        self.clear()

    def clear(self) -> None:
        """Forgets everything that was kept."""
        for kept in (self.states, self.queries, self.keys):
            kept.clear()

    def shape(self) -> tuple[int, int]:
        """Gives the number of documents in a call, and the number of tokens in each."""
        passed = self.queries if self.projections else self.states
        missing = [layer for layer in self.layers if layer not in passed]
        if missing:
            raise ShapeError(f"capture: layer {missing[0]} did not run in a call of the model; expected every captured layer to run once "
                             "in each call")
        return passed[self.layers[0]].shape[:2]

    def stored(self, document: int, kept: np.ndarray | None = None) -> list[tuple[int, Any, Any, Any]]:
        """Gives what was kept of a document: (layer, states, query, key) for each layer. `kept` marks the tokens to take; None: all."""
        def part(of: dict[int, np.ndarray], layer: int, turned: bool) -> Any:
            if layer not in of:
                return None
            rows = of[layer][document]
            rows = np.ascontiguousarray(rows if kept is None else rows[kept])
            return self.about.turned(rows) if turned and self.about is not None and self.about.rotary else rows

        return [(layer, part(self.states, layer, False), part(self.queries, layer, True), part(self.keys, layer, True))
                for layer in self.layers]

    def _refuse(self, module: torch.nn.Module) -> None:
        if self.about.pairs:
            raise ShapeError(f"{type(module).__name__} is an encoder-decoder; expected a model that reads one sequence")
        if "{layer}" not in self.about.query:
            raise ShapeError(f"{type(module).__name__}: all layers share one module, so capture cannot tell which layer runs; "
                             "give headwave.run the model directory instead")
        if self.projections and self.about.only_states:
            raise ShapeError(f"{type(module).__name__} normalises queries and keys, caps scores or has unequal layers, which stored "
                             "queries and keys do not show; capture states (what='states')")
        if self.projections and self.about.adds_to_scores:
            raise ShapeError(f"{type(module).__name__} adds positions to the scores, which stored queries and keys do not show; capture "
                             "states (what='states')")

    def _watch_states(self, module: torch.nn.Module, layer: int, name: str) -> None:
        def enters(part: Any, args: tuple, kwargs: dict) -> None:
            refuse_padding(kwargs)
            given = args[0] if args else next(iter(kwargs.values()), None)
            self.states[layer] = rows_of(_documents_first(part, given), name)

        watched = _submodule(module, name)
        self._watched.append(lambda: watched.register_forward_pre_hook(enters, with_kwargs=True))

    def _watch_outputs(self, module: torch.nn.Module, layer: int, names: tuple[str, str],
                       part_of: Callable[[torch.Tensor, str], torch.Tensor]) -> None:
        """Keeps the outputs of the modules that make queries and keys, or the parts of an output that are queries and keys."""
        def leaves(kept: dict[int, np.ndarray], name: str, which: str) -> Callable[[], Any]:
            watched = _submodule(module, name)

            def hook(part: Any, _: tuple, out: torch.Tensor) -> None:
                kept[layer] = rows_of(_documents_first(part, part_of(out, which)), name)
            return lambda: watched.register_forward_hook(hook)

        self._watched += [leaves(self.queries, names[0], "query"), leaves(self.keys, names[1], "key")]

    def _watch_named(self, module: torch.nn.Module, layer: int, given: Any) -> None:
        if isinstance(given, (tuple, list)) and len(given) == 2:
            return self._watch_outputs(module, layer, (_one(given[0]), _one(given[1])), lambda out, _: out)
        name = _one(given)
        attention = _submodule(module, name)
        if not isinstance(attention, torch.nn.MultiheadAttention):
            return self._watch_outputs(module, layer, (name, name), self._part_of_fused)

        def enters(part: Any, args: tuple, kwargs: dict) -> None:
            self.queries[layer], self.keys[layer] = (rows_of(_documents_first(part, of), name) for of in _multihead(part, args, kwargs))
        self._watched.append(lambda: attention.register_forward_pre_hook(enters, with_kwargs=True))

    def _part_of_family(self, out: torch.Tensor, which: str) -> torch.Tensor:
        about = self.about
        if about.fused_by_head:
            return out.unflatten(-1, (about.heads, 3, about.d_head))[..., 0 if which == "query" else 1, :].flatten(-2)
        if about.fused:
            return _part(out, which, about.heads, about.kv_heads, about.d_head)
        return out if which == "query" else out[..., :about.kv_heads * about.d_head]

    def _part_of_fused(self, out: torch.Tensor, which: str) -> torch.Tensor:
        heads, kv_heads = self.heads
        width, rest = divmod(out.shape[-1], heads + 2 * kv_heads)
        if rest:
            raise ShapeError(f"capture: an output of {out.shape[-1]} columns does not divide into queries of {heads} heads, and keys and "
                             f"values of {kv_heads}; name the modules of queries and of keys: ('blocks.0.query', 'blocks.0.key')")
        return _part(out, which, heads, kv_heads, width)


def _part(out: torch.Tensor, which: str, heads: int, kv_heads: int, width: int) -> torch.Tensor:
    """Takes the queries or the keys from columns that contain queries, keys and values one after another."""
    return out[..., :heads * width] if which == "query" else out[..., heads * width:(heads + kv_heads) * width]


def _one(name: Any) -> str:
    if not isinstance(name, str):
        raise FormatError(f"layers: found {name!r}; expected the name of a module, such as 'blocks.0.attn', or for what='projections' two names, "
                          "('blocks.0.query', 'blocks.0.key')")
    return name


def _documents_first(part: torch.nn.Module, tensor: Any) -> Any:
    """Moves documents to the first axis. In PyTorch's own attention the first axis is tokens, unless batch_first is set."""
    first = getattr(part, "batch_first", None)
    if first is None:
        first = getattr(getattr(part, "self_attn", None), "batch_first", True)
    return tensor if first or getattr(tensor, "ndim", 0) != 3 else tensor.transpose(0, 1)


def _multihead(part: torch.nn.MultiheadAttention, args: tuple, kwargs: dict) -> tuple[torch.Tensor, torch.Tensor]:
    """Computes queries and keys of PyTorch's attention from its input and parameters, since no module outputs them."""
    given = {**dict(zip(("query", "key", "value", "key_padding_mask"), args)), **kwargs}
    query, key = given["query"], given["key"]
    refuse_padding(given)
    if key is not query and not key.is_set_to(query):  # self-attention may pass two views of the same memory
        raise ShapeError("capture: a MultiheadAttention reads keys of another sequence; expected self-attention")
    if part.bias_k is not None or part.add_zero_attn:
        raise ShapeError("capture: a MultiheadAttention adds a key of its own (add_bias_kv, add_zero_attn), which belongs to no token")
    weights = part.in_proj_weight.chunk(3)[:2] if part.in_proj_weight is not None else (part.q_proj_weight, part.k_proj_weight)
    biases = (None, None) if part.in_proj_bias is None else part.in_proj_bias.chunk(3)[:2]
    return tuple(torch.nn.functional.linear(query, of, bias) for of, bias in zip(weights, biases))


def _chosen(layers: Iterable[int]) -> list[int]:
    if isinstance(layers, str) or not isinstance(layers, Iterable):
        raise FormatError(f"layers={layers!r}: expected a list of layers, such as [0, 5]")
    if not (chosen := sorted({whole(layer, "a layer") for layer in layers})):
        raise FormatError("layers is an empty list; expected one layer or more, such as [0, 5]")
    return chosen


def _module_name(tensor: str, layer: int) -> str:
    return tensor.replace("{layer}", str(layer)).removesuffix(".weight")


def _submodule(module: torch.nn.Module, name: str) -> torch.nn.Module:
    try:
        return module.get_submodule(name)
    except AttributeError:
        names = ", ".join(f"'{n}'" for n, _ in list(module.named_modules())[1:6])
        raise FormatError(f"{type(module).__name__}: there is no module '{name}'; its modules are {names}, ...") from None
