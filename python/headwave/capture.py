"""Stores what enters a model's attention, or its queries and keys, in a file while PyTorch runs the model."""

from __future__ import annotations

import os
from typing import Any, Mapping, Sequence

import numpy as np

from . import _core
from .arguments import path as as_path, real, whole, whole_or_none
from .calls import Batch
from .documents import texts_of
from .errors import FormatError, NumericError, ShapeError
from .profiles.written import NewHdf5, h5py_module


class Capture:
    """A running capture. `documents` is the number of documents that were stored so far."""

    def __init__(self, module: Any, path: str, layers: Any, what: str, dtype: str, tokenizer: Any,
                 about: Mapping[str, Any], overwrite: bool) -> None:
        if what not in ("states", "projections"):
            raise FormatError(f"capture: what='{what}'; expected 'states', or 'projections' for queries and keys")
        if dtype not in ("float32", "float16"):
            raise FormatError(f"capture: dtype='{dtype}'; expected 'float32' or 'float16'")
        if not hasattr(module, "register_forward_hook"):
            raise FormatError(f"capture: the model is of type {type(module).__name__}; expected a torch.nn.Module")
        if tokenizer is not None and not hasattr(tokenizer, "convert_ids_to_tokens"):
            raise FormatError(f"capture: tokenizer is of type {type(tokenizer).__name__}; expected a tokenizer of transformers")
        from .torch_models import described, require_eval  # needs PyTorch, which may be missing
        from .hooks import Watch

        self.documents = 0
        self._output = _States(path, overwrite, dtype == "float16")
        self._module, self._tokenizer, self._require_eval = module, tokenizer, require_eval
        require_eval(module)
        self._map = None if isinstance(layers, Mapping) else described(module)[1]
        self._block = self._block_of(about)
        self._projections = what == "projections"
        self._watch = Watch(module, self._map, layers, self._projections, (self._block["heads"], self._block["kv_heads"]))
        self._batch: Batch | None = None
        self._provenance = {"source": "capture", "captured_from": type(module).__name__, "what": what, "dtype": dtype}

    def __enter__(self) -> "Capture":
        self._output.begin()
        self._watch.__enter__()
        self._hooks = [self._module.register_forward_pre_hook(self._begins, with_kwargs=True),
                       self._module.register_forward_hook(self._passed)]
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        for hook in self._hooks:
            hook.remove()
        self._watch.__exit__()
        try:
            if kind is None and self.documents == 0:
                raise ShapeError("capture: the model did not run; call it inside the with statement, on one document or more")
            if kind is None:
                self._output.finish(self._sizes, self._projections, self._provenance)
        finally:
            self._output.abandon()

    def _block_of(self, about: Mapping[str, Any]) -> dict[str, Any]:
        if self._map is not None:
            if any(value is not None for value in about.values()):
                raise FormatError(f"capture: {type(self._module).__name__} has a config that gives heads and masks; omit heads, kv_heads, causal and window")
            return {name: getattr(self._map, name) for name in ("heads", "kv_heads", "d_head", "causal", "score_scale", "window")}
        if about["heads"] is None:
            raise ShapeError("capture: the number of heads is unknown if modules are given by name; give it, such as heads=12")
        heads = whole(about["heads"], "heads", 1)
        kv_heads = heads if about["kv_heads"] is None else whole(about["kv_heads"], "kv_heads", 1)
        if heads % kv_heads:
            raise ShapeError(f"capture: heads={heads} is not a multiple of kv_heads={kv_heads}; expected key heads that equally many heads share")
        return {"heads": heads, "kv_heads": kv_heads, "d_head": whole_or_none(about["d_head"], "d_head", 1), "causal": bool(about["causal"]),
                "score_scale": None if about["score_scale"] is None else real(about["score_scale"], "score_scale"),
                "window": whole(about["window"] or 0, "window")}

    def _sized(self, stored: list[tuple[int, Any, Any, Any]]) -> dict[str, Any]:
        """Gives the sizes of heads for the file. If d_head is unknown, it is computed from the width of the stored arrays."""
        _, states, query, _ = stored[0]
        width, heads = (states if query is None else query).shape[1], self._block["heads"]
        d_head = self._block["d_head"] or width // heads
        if self._block["d_head"] is None and width % heads:
            raise ShapeError(f"capture: rows of {width} numbers do not divide into {heads} heads of equal width; give d_head=...")
        scale = self._block["score_scale"]
        return {**self._block, "d_head": d_head, "score_scale": d_head ** -0.5 if scale is None else scale}

    def _begins(self, module: Any, args: tuple, kwargs: dict) -> None:
        self._require_eval(self._module)
        self._watch.clear()
        self._batch = Batch(module, args, kwargs, self._map)

    def _passed(self, *_: Any) -> None:
        batch, (count, tokens) = self._batch, self._watch.shape()
        batch.require_shape(count, tokens)
        for d in range(count):
            kept = batch.kept(d, tokens, self.documents)
            own = [] if batch.ids is None else batch.ids[d][slice(None) if kept is None else kept].tolist()
            texts, special = texts_of(self._tokenizer, own)
            stored = self._watch.stored(d, kept)
            self._output.append(self.documents, stored, own, texts, special)
            self._sizes = self._sized(stored)
            self.documents += 1
        self._watch.clear()


class _States:
    """The file of a capture (docs/inputs.md). The file grows by one document at a time, and gets its name when it is finished."""

    def __init__(self, path: str, overwrite: bool, half: bool) -> None:
        self._path, self._overwrite, self._half = path, overwrite, half
        self._h5py = h5py_module()
        self._new: Any = None                        # NewHdf5
        self._rows: dict[str, Any] = {}              # datasets with one entry per document
        self._shapes: dict[str, tuple[int, ...]] = {}   # of arrays in the first document

    def begin(self) -> None:
        if self._new is not None:
            raise FormatError("capture: this object was used already; make another with headwave.capture(...)")
        self._new = NewHdf5(self._path, self._overwrite)

    def append(self, number: int, stored: Sequence[tuple[int, Any, Any, Any]], ids: Sequence[int], tokens: Sequence[str],
               special: Sequence[int]) -> None:
        """Adds a document.

        Raises:
            ShapeError: the document's length, or what is known of its tokens, differs from that of earlier documents
            NumericError: a number cannot be stored
        """
        arrays = {f"{what}/layer_{layer}": self._numbers(of, f"{what} of layer {layer} of document {number}")
                  for layer, *parts in stored for what, of in zip(("hidden_states", "queries", "keys"), parts) if of is not None}
        texts = [text.replace("\0", "\u2400") for text in tokens]
        of_tokens = {"ids": np.array(ids, np.int32), "special": np.array(special, np.uint8), "tokens": np.array(texts, object)}
        length = len(next(iter(arrays.values())))
        arrays |= {name: of for name, of in of_tokens.items() if of.size}
        self._require_alike(number, length, {name: of.shape for name, of in arrays.items()})
        arrays["document_name"] = np.array(f"document {number}", object)
        self._new.write(lambda: self._write(number, arrays))

    def finish(self, sizes: Mapping[str, Any], turned: bool, provenance: Mapping[str, Any]) -> None:
        """Writes the attributes and gives the file its name."""
        said = {"title": _core.stored_states_title, "num_heads": sizes["heads"], "head_dim": sizes["d_head"], "causal": int(sizes["causal"]),
                "score_scale": sizes["score_scale"]} | ({"window": sizes["window"]} if sizes["window"] else {}) | ({"turned": 1} if turned else {})

        def write() -> None:
            self._new.file.create_group("provenance").attrs.update(provenance)
            self._new.file.attrs.update(said)
            self._new.file.attrs["complete"] = 1
        self._new.write(write)
        self._new.finish()

    def abandon(self) -> None:
        """Removes an unfinished file."""
        self._new.abandon()

    def _numbers(self, of: np.ndarray, called: str) -> np.ndarray:
        if not np.isfinite(of).all():
            raise NumericError(f"{self._path}: {called} hold NaN or infinity; look for NaN or huge values in the model's weights")
        if self._half and (most := np.abs(of).max()) > np.finfo(np.float16).max:
            raise NumericError(f"{self._path}: {called} hold {most:g}, more than float16 can hold (65504); give dtype='float32'")
        return of.astype(np.float16) if self._half else of

    def _require_alike(self, number: int, length: int, shapes: dict[str, tuple[int, ...]]) -> None:
        first = self._shapes = self._shapes or shapes | {name: (length,) for name in ("ids", "special", "tokens") if name in shapes}
        for name in first | shapes:
            found, expected = shapes.get(name, (0,)), first.get(name, (0,))
            if found != expected and "/" in name and found[0] != expected[0]:
                raise ShapeError(f"{self._path}: document {number} has {found[0]} tokens, but the documents before it have {expected[0]}; "
                                 "a file holds documents of one length: cut them, or store each length in a file of its own")
            if found != expected:
                raise ShapeError(f"{self._path}: document {number} has {name} of shape {found}; expected {expected}, as its other arrays or the "
                                 "documents before it")

    def _write(self, number: int, arrays: dict[str, np.ndarray]) -> None:
        for name, of in arrays.items():
            if name not in self._rows:
                self._rows[name] = self._new_rows(name, of)
            self._rows[name].resize(number + 1, 0)
            self._rows[name][number] = of

    def _new_rows(self, name: str, first: np.ndarray) -> Any:
        """Makes a dataset in chunks of one document, or of a part of a document, at most 1 MB each. Datasets of numbers have checksums."""
        text = first.dtype == object
        rows = max(1, 10**6 // (first.dtype.itemsize * (first.shape[1] if first.ndim == 2 else 1)))
        return self._new.file.create_dataset(
            name, (0, *first.shape), self._h5py.string_dtype() if text else first.dtype, maxshape=(None, *first.shape),
            chunks=(1, *(min(of, rows) if axis == 0 else of for axis, of in enumerate(first.shape))),
            fletcher32=not text)


def capture(module: Any, path: str | os.PathLike, *, layers: Sequence[int] | Mapping[int, Any] | None = None,
            what: str = "states", dtype: str = "float32", tokenizer: Any = None, overwrite: bool = False,
            heads: int | None = None, kv_heads: int | None = None, d_head: int | None = None, causal: bool | None = None,
            score_scale: float | None = None, window: int | None = None) -> Capture:
    """Stores what enters a model's attention, or its queries and keys, in a file while PyTorch runs the model.

    Example:
        >>> with headwave.capture(model, "states.h5", layers=[0, 5], dtype="float16"):
        ...     model(ids)

    docs/inputs.md describes the file. The file appears when the `with` ends, unless an exception is raised there. One batch is in memory at
    a time. Every call of the model must contain whole documents, from their first token on. Tokens that `attention_mask` (documents, T)
    hides are omitted.

    Args:
        module: a model of transformers whose family the program knows, or any module if `layers` names modules; it must be in eval() mode
        path: the file to write; all its documents must have one length
        layers: numbers of layers; None: all layers. Or a dict that gives the module of each layer by name. For what="states", such as
            {0: "blocks.0.attn"}, the module's input is stored. For what="projections", such as {0: ("blocks.0.query",
            "blocks.0.key")}, the outputs of two modules are stored, from which scores must follow directly. One name instead of two
            means a module whose output contains queries, keys and values one after another, or a torch.nn.MultiheadAttention
        what: "states": what enters attention, for a run with the model's weights, run(DIR, states=...); "projections": queries and
            keys after rotary positions, for a run without a model
        dtype: "float32" or "float16", as numbers are stored
        tokenizer: gives the text of each token, and says which tokens are special; None: neither is stored
        overwrite: replace an existing file
        heads, kv_heads, d_head, causal, score_scale, window: settings for modules given by name, which have no config. By default
            kv_heads equals heads, d_head is the width divided by heads, and score_scale is 1 / sqrt(d_head)

    Raises:
        FormatError: the family is unknown, the model is in training mode, a call continues documents, or a mask does not only mark padding
        ShapeError: documents differ in length, or there is no document
        NumericError: a number is not finite, or too large for float16
        IoError: the file exists, or cannot be written
    """
    about = {"heads": heads, "kv_heads": kv_heads, "d_head": d_head, "causal": causal, "score_scale": score_scale,
             "window": window}
    return Capture(module, as_path(path, "capture"), layers, what, dtype, tokenizer, about, overwrite)
