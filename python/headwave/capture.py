"""Capture: what enters, or leaves, a model's attention while PyTorch runs it, into a file of stored states."""

from __future__ import annotations

import os
from typing import Any, Mapping, Sequence

import numpy as np

from . import _core
from .arguments import path as as_path, real, whole
from .arrays import as_array
from .documents import texts_of
from .errors import FormatError, IoError, ShapeError


class Capture:
    """A capture that is going on; `documents` says how many there are so far."""

    def __init__(self, module: Any, path: str, layers: Any, what: str, dtype: str, tokenizer: Any, packing: int,
                 about: Mapping[str, Any], overwrite: bool) -> None:
        if what not in ("states", "projections"):
            raise FormatError(f"capture: what='{what}'; expected 'states', or 'projections' for queries and keys")
        if dtype not in ("float32", "float16"):
            raise FormatError(f"capture: dtype='{dtype}'; expected 'float32' or 'float16'")
        if isinstance(layers, Mapping) and what != "states":
            raise FormatError("capture: layers by the names of modules say what enters them; expected what='states'")
        if not hasattr(module, "register_forward_hook"):
            raise FormatError(f"capture: {type(module).__name__}; expected a torch.nn.Module")
        if tokenizer is not None and not hasattr(tokenizer, "convert_ids_to_tokens"):
            raise FormatError(f"capture: tokenizer is {type(tokenizer).__name__}; expected one of transformers")
        packing = whole(packing, "packing", 0, 9)
        from .torch_models import Watch, described  # PyTorch where it is there

        self.documents = 0
        self._overwrite = overwrite
        self._require_room(path)
        self._module, self._tokenizer = module, tokenizer
        self._map = None if isinstance(layers, Mapping) else described(module)[1]
        self._watch = Watch(module, self._map, layers, what == "projections")
        self._layout = {"path": path, **self._block(about), "layers": self._watch.layers,
                        "projections": what == "projections", "half": dtype == "float16", "packing": packing}
        self._writer: Any = None
        self._batch: tuple[Any, Any] = (None, None)
        self._provenance = {"source": "capture", "captured_from": type(module).__name__, "what": what, "dtype": dtype}

    def __enter__(self) -> "Capture":
        if self._writer is not None or self.documents:
            raise FormatError("capture: was entered already; make another with headwave.capture(...)")
        self._require_room(self._layout["path"])
        self._writer = _core.StoredWriter(**self._layout)
        self._watch.__enter__()
        self._hooks = [self._module.register_forward_pre_hook(self._begins, with_kwargs=True),
                       self._module.register_forward_hook(self._passed)]
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        for hook in self._hooks:
            hook.remove()
        self._watch.__exit__()
        try:  # no other name for the writer: a traceback that is kept would keep it, and its unfinished file
            if kind is None and self.documents == 0:
                raise ShapeError("capture: the model did not run; call it inside the with, with one document or more")
            if kind is None:
                self._writer.finish(self._provenance)
        finally:
            self._writer = None

    def _require_room(self, path: str) -> None:
        if os.path.lexists(path) and not self._overwrite:
            raise IoError(f"{path}: is already there; choose another name, or replace it with overwrite=True")

    def _block(self, about: Mapping[str, Any]) -> dict[str, Any]:
        if self._map is not None:
            if any(value is not None for value in about.values()):
                raise FormatError(f"capture: {type(self._module).__name__} says itself how many heads there are and what they "
                                  "see; leave heads, kv_heads, causal and window away")
            return {name: getattr(self._map, name) for name in ("heads", "kv_heads", "d_head", "causal", "score_scale", "window")}
        if about["heads"] is None:
            raise ShapeError("capture: modules by name do not say how many heads they have; give heads=12")
        heads = whole(about["heads"], "heads", 1)
        kv_heads = heads if about["kv_heads"] is None else whole(about["kv_heads"], "kv_heads", 1)
        if heads % kv_heads:
            raise ShapeError(f"capture: {heads} heads cannot share {kv_heads} key heads evenly")
        return {"heads": heads, "kv_heads": kv_heads, "d_head": whole(about["d_head"] or 0, "d_head"), "causal": bool(about["causal"]),
                "score_scale": real(about["score_scale"] or 0.0, "score_scale"), "window": whole(about["window"] or 0, "window")}

    def _begins(self, _: Any, args: tuple, kwargs: dict) -> None:
        self._watch.clear()
        given = kwargs.get("input_ids", args[0] if args else None)
        ids = None if given is None else as_array(given, "input_ids")
        mask = kwargs.get("attention_mask")
        self._batch = (ids if ids is not None and ids.dtype.kind in "iu" else None,
                       None if mask is None or getattr(mask, "ndim", 0) != 2 else as_array(mask, "attention_mask") != 0)

    def _passed(self, *_: Any) -> None:
        ids, mask = self._batch
        for d in range(self._watch.documents()):
            kept = None if mask is None or mask[d].all() else mask[d]
            if kept is not None and not kept.any():
                raise ShapeError(f"capture: attention_mask hides every token of document {self.documents}; expected one that is seen")
            own = [] if ids is None else np.atleast_2d(ids)[d][slice(None) if kept is None else kept].tolist()
            tokens, special = texts_of(self._tokenizer, own)
            self._writer.append({"name": f"document {self.documents}", "ids": own, "tokens": tokens, "special": special,
                                 "layers": self._watch.stored(d, kept)})
            self.documents += 1
        self._watch.clear()


def capture(module: Any, path: str | os.PathLike, *, layers: Sequence[int] | Mapping[int, str] | None = None,
            what: str = "states", dtype: str = "float32", tokenizer: Any = None, packing: int = 0, overwrite: bool = False,
            heads: int | None = None, kv_heads: int | None = None, d_head: int | None = None, causal: bool | None = None,
            score_scale: float | None = None, window: int | None = None) -> Capture:
    """Writes what enters the attention of a model, or its queries and keys, while PyTorch runs it.

        with headwave.capture(model, "states.h5", layers=[0, 5], dtype="float16"):
            model(ids)

    The file is what `headwave capture` writes (docs/stored-states.md), one document after another; one batch is in memory at a
    time. It appears when the `with` ends, or not at all where something is raised in it.

    Args:
        module: a model of transformers of a family that the program knows; or any module, with `layers` by name
        path: the file
        layers: which; None: all; or {0: "blocks.0.attn"}, names of modules whose input is captured
        what: "states", or "projections": queries and keys, after rotary positions
        dtype: "float32" or "float16"
        tokenizer: for the text of tokens, and which of them are special
        packing: zlib's level, 0 to 9
        overwrite: replace a file that is there
        heads, kv_heads, d_head, causal, score_scale, window: of modules by name, where no config says them

    Raises:
        FormatError: the module is of no known family; ShapeError: documents differ in length, or none came; NumericError: a
        number is not finite, or too large for float16; IoError: the file is there, or cannot be written.
    """
    about = {"heads": heads, "kv_heads": kv_heads, "d_head": d_head, "causal": causal, "score_scale": score_scale,
             "window": window}
    return Capture(module, as_path(path, "capture"), layers, what, dtype, tokenizer, packing, about, overwrite)
