"""headwave.watch: sums attention weights inside the user's own forward pass, in addition to the attention that the model computes."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import re
import sys
import threading
import warnings
import weakref
from typing import Any, Callable, Iterable, Iterator

import numpy as np
import torch

from ..arguments import real, whole, whole_or_none
from ..documents import words_of
from ..errors import FormatError, ShapeError
from .bins import FIRST_BAND, OffsetBins, row_tiles
from .implementations import named, read
from .kept import Kept, attending, room_for, window_of
from .layers import Layer
from .moments import moments
from .origin import origin
from .passes import FINISHED, Documents, Frame, MaskRecord, Miscounted, length_of, mask_record, rejected, text_of
from .result import Profiles
from .rotary import CannotDeal, Rotations, Unturned, unturned
from .tiles import LayerSums, Scores, Span, TileSums, count_rows, count_tiles, sampled_tiles, weight_tiles
from .traces import TracedDocuments, Traces, require_whole

CELL = 64                           # number of neighbouring query rows that are sampled together
BUDGET = {"cpu": 6 << 20}           # bytes of weights in a tile
OTHER_BUDGET = 96 << 20             # ... on other devices, where a call costs more than its bytes
_CROSS = re.compile(r"cross|encoder_attn|EncDecAttention|encdec", re.IGNORECASE)


class _Calls(threading.local):
    """The calls of a watched model in one thread."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []        # running models, the outermost first
        self.masks: list[MaskRecord] = []    # of masks made since the last call of the model ended


@dataclasses.dataclass
class Call:
    """One call of an attention function, and the documents in it.

    Args:
        name: name of the implementation
        given: arguments of the function, by name
        path: path of the module; times: number of the module's call in one pass, from 1
        cross: whether the keys are of another sequence
        own: the model that reads the queries' tokens
    """

    name: str
    given: dict[str, Any]
    path: str
    times: int
    cross: bool
    own: Frame
    scores: Scores
    spans: list[Span]
    documents: Documents


class Watch:
    """A running watch. It starts when it is created, and ends with close() or at the end of its `with`."""

    _before_dropout = False   # whether weights before dropout are acceptable

    def __init__(self, model: Any, exact: int, blocks: int, rows: int | None, first: int, tokenizer: Any, special: Iterable[int],
                 kernel: str, seed: int, deal: bool, room: float, queries: bool, null: bool) -> None:
        if not isinstance(model, torch.nn.Module):
            raise FormatError(f"watch: the model is of type {type(model).__name__}; expected a torch.nn.Module")
        if kernel not in ("auto", "torch", "triton"):
            raise FormatError(f"watch: kernel='{kernel}'; expected 'auto', 'torch' or 'triton'")
        self._interfaces = _Interfaces.require()
        self.bins = OffsetBins(whole(exact, "exact", 1, 4096))
        self.blocks = whole(blocks, "blocks", 1, 4096)
        self.rows = whole_or_none(rows, "rows", 2 * CELL)
        self._first, self._seed = whole(first, "first", 0, 64), whole(seed, "seed")
        self._kernel = _kernel(kernel)
        self._deals, self._queries, self._null = bool(deal), bool(queries), bool(null or deal)
        self._whole = "deal=True" if deal else "null=True"   # what needs whole documents, in messages
        self._room, self._pairs = real(room, "room", 0, 2**20), 0
        self._special = [int(token) for token in (*getattr(tokenizer, "all_special_ids", ()), *special)]
        self._tokenizer = tokenizer
        self._name = type(model).__name__
        self._model = weakref.ref(model)
        self._origin = self._origin_of(model)
        self._names, self.skipped = _attention_modules(model)
        self._lock = threading.RLock()   # threads share sums and documents
        self._calls = _Calls()
        self._documents: dict[int, Documents] = {}
        self._layers: dict[tuple[str, int], Layer] = {}
        self._broken: str | None = None
        self._miscounted: Miscounted | None = None
        attention = [module for module in model.modules() if id(module) in self._names]
        self._rotations = Rotations(attention) if deal or queries else None
        self._handles = self._hook(model)
        self._closed = weakref.finalize(self, _detach, self._handles, self._interfaces, id(self), self._rotations)
        if self._rotations is not None:
            self._rotations.begin()
        self._interfaces.add(self)
        _forget_compiled()

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Ends the watch and restores the model. The sums stay available."""
        if self._closed.alive:
            self._closed()
            self._calls = _Calls()
            _forget_compiled()

    @property
    def documents(self) -> int:
        """The number of documents that were summed so far."""
        return max((those.count for those in self._documents.values()), default=0)

    def result(self) -> Profiles:
        """Gives the sums so far.

        Raises:
            ShapeError: no attention ran
            FormatError: a call ended with an exception, calls contained tokens that cannot be counted, or attention was NaN or infinite
        """
        with self._lock:
            return self._result()

    def _result(self) -> Profiles:
        if self._broken:
            raise FormatError(f"watch: a call of {self._broken} ended with an exception, so some layers hold documents that others do not; "
                              "watch again")
        if self._miscounted:
            raise FormatError(str(self._miscounted))
        if not self._layers:
            raise ShapeError("watch: no attention ran; call the model while it is watched")
        for layer in self._layers.values():
            if not layer.sums.finite:
                raise FormatError(f"watch: {layer.path} has NaN or infinite attention; find the document that the model fails on, or run it in bfloat16 "
                                  "or float32")
        self._warn_across(4)
        ran = {name for name, _ in self._layers}
        missing = [f"{name} (did not run)" for name in self._names.values() if name not in ran]
        settings = {"exact": self.bins.exact, "blocks": self.blocks, "rows": self.rows or 0, "first": self._first, "seed": self._seed,
                    "special": sorted(set(self._special)), "deal": self._deals, "queries": self._queries, "null": self._null, **self._origin}
        return Profiles.of(self._name, self.bins, settings, list(self._layers.values()), self.skipped + missing,
                           functools.partial(words_of, self._tokenizer))

    def _warn_across(self, stacklevel: int) -> bool:
        """Warns of packed sequences that were counted as one document, and returns whether there are such sequences."""
        found = [documents.across for documents in self._documents.values() if documents.across]
        for across in found:
            warnings.warn(f"watch: position_ids begin anew at {across}, but the mask lets later tokens look back across it, so they count as one document; "
                          "transformers keeps packed sequences apart only without attention_mask and with use_cache=False", stacklevel=stacklevel)
        return bool(found)

    def _origin_of(self, model: torch.nn.Module) -> dict[str, Any]:
        return origin(model)

    # -- hooks -------------------------------------------------------------------------------------------------------------------------

    def _hook(self, model: torch.nn.Module) -> list[Any]:
        from transformers import PreTrainedModel

        this = weakref.ref(self)   # hooks must not keep the watch alive
        handles = []

        def seeing() -> "Watch | None":   # what a backward pass recomputes was seen before
            return this() if torch._C._current_graph_task_id() == -1 else None

        def begins(module: Any, args: tuple, kwargs: dict[str, Any]) -> None:
            if (watch := seeing()) is not None:
                watch._begin(module, args, kwargs)

        def ends(module: Any, args: tuple, output: Any) -> None:
            if (watch := seeing()) is not None:
                watch._end(module, output)

        def attends(module: Any, args: tuple) -> None:
            if (watch := seeing()) is not None and watch._calls.frames:
                top = watch._calls.frames[0]
                top.calls[id(module)] = top.calls.get(id(module), 0) + 1

        begins, ends, attends = (torch.compiler.disable(hook) for hook in (begins, ends, attends))
        for module in model.modules():
            if module is model or isinstance(module, PreTrainedModel):
                handles.append(module.register_forward_pre_hook(begins, with_kwargs=True))
                handles.append(module.register_forward_hook(ends, always_call=True))
            if id(module) in self._names:
                handles.append(module.register_forward_pre_hook(attends))
        return handles

    def _begin(self, module: torch.nn.Module, args: tuple, kwargs: dict[str, Any]) -> None:
        self._calls.frames.append(Frame(module, args, kwargs))

    def _end(self, module: torch.nn.Module, output: Any) -> None:
        frames = self._calls.frames
        while frames:
            frame = frames.pop()
            if frame.module is module:
                break
        else:
            return   # began before the watch
        if not frames:
            self._calls.masks.clear()
        if output is None:
            self._broken = type(module).__name__
        elif not frames and not frame.calls:
            raise FormatError(f"watch: {type(module).__name__} ran, but none of its layers called attention where watch could see it; "
                              "compile the model after watch(...), or not at all")
        with self._lock:
            frame.end(output)

    def _masked(self, given: dict[str, Any], mask: Any) -> None:
        """Notes a mask that transformers made."""
        self._calls.masks = [record for record in self._calls.masks[-31:] if record.mask is None or record.mask() is not None]
        if "q_length" in given and "kv_length" in given:
            self._calls.masks.append(mask_record(given, mask))

    def _rearranged(self, cache: Any, how: str) -> None:
        """Notes the call of a cache's method that removes tokens or moves rows."""
        with self._lock:
            for documents in self._documents.values():
                cached = documents.caches.get(cache)
                if cached is None or self._miscounted:
                    continue
                left = length_of(cache)
                if how != "crop":
                    self._miscounted = Miscounted(f"watch: rows of the cache were moved or copied ({how}), as beam search does, so the sums hold "
                                                  f"beams that were discarded; {FINISHED}, or generate with num_beams=1")
                elif left == 0:
                    del documents.caches[cache]
                elif left < cached.read:
                    self._miscounted = rejected(cached.read, left)

    def _looks(self) -> bool:
        """Whether attention that is computed now should be summed."""
        return bool(self._calls.frames)

    def _saw(self, function: Callable[..., Any], name: str, args: tuple, kwargs: dict[str, Any], output: Any, cast: torch.dtype | None) -> None:
        """Counts attention that was just computed. `cast` is the dtype of autocast; None: no autocast."""
        with self._lock:
            if self._miscounted is None:
                try:
                    self._count(function, name, args, kwargs, output, cast)
                except Miscounted as reason:   # the model's call goes on; result() raises the error
                    self._miscounted = reason

    def _count(self, function: Callable[..., Any], name: str, args: tuple, kwargs: dict[str, Any], output: Any, cast: torch.dtype | None) -> None:
        given = named(args, kwargs)
        module, query = given["module"], given["query"]
        path = self._names[id(module)]
        outermost = self._calls.frames[0]
        times = outermost.calls.get(id(module), 1)
        cross = self._crosses(module, path)
        own = self._frame_of(query.shape[2], query.shape[0])
        record = None if cross else self._record(given, own)
        past = own.past if record is None else record.query_offset
        key_offset = 0 if record is None else record.key_offset
        shift = self._shift(module, given, cross, record, own)
        scores = read(function, name, given, output, shift, cast, self._before_dropout)
        documents = self._documents.setdefault(id(own.module), Documents(self._special, self._first,
                                                                        getattr(outermost.module, "generation_config", None)))
        spans = self._spans(own, scores, documents, record, key_offset, past, cross)
        if (path, times) in outermost.seen:
            raise FormatError(f"watch: {path} ({type(module).__name__}) calls attention several times in one pass, but watch sums one call of each "
                              f"layer; {self._instead_of(path)}")
        outermost.seen.add((path, times))
        self._sum(Call(name, given, path, times, cross, own, scores, spans, documents))

    def _sum(self, call: Call) -> None:
        """Adds the documents of a call to the sums of its layer."""
        given, path, times, cross, own, scores, spans = call.given, call.path, call.times, call.cross, call.own, call.scores, call.spans
        module, query = given["module"], given["query"]
        layer = self._layers.get((path, times))
        if layer is None:
            layer = self._layers[path, times] = Layer.of(path, times, cross, call.name, type(module).__name__, scores, given,
                                                         LayerSums(self.blocks, query.shape[1], self.bins, query.device), call.documents)
        layer.see(scores, given)
        before = None
        if self._rotations is not None:
            last, self._rotations.last = self._rotations.last, None
            if last is None and self._rotations.misses(module):
                raise CannotDeal(f"watch: {path} ({type(module).__name__}) turns queries and keys in a way that watch does "
                                  "not see, as deal=True and queries=True need; omit both")
            before = unturned(last, scores, path)
            if self._queries and (more := moments(before, spans)) is not None:
                layer.moments = more if layer.moments is None else layer.moments + more
        if self._deals and not cross:
            self._keep(own, layer, scores, spans, before)
        self._add(own, scores, spans, layer)
        if layer.kept is not None:
            layer.kept.add(before, scores, spans, layer.traces.causal)

    def _instead_of(self, path: str) -> str:
        """Gives advice for a model with a module that cannot be watched."""
        model = self._model()
        text = next((name for name, _ in model.named_modules() if name.endswith("language_model") and not path.startswith(f"{name}.")), None) if model else None
        if text is not None:
            return f"watch the rest of the model: headwave.watch(model.{text})"
        return "load the model with attn_implementation='eager' and give its attention: headwave.run(states=model(ids, output_attentions=True).attentions)"

    def _crosses(self, module: torch.nn.Module, path: str) -> bool:
        return bool(_CROSS.search(path)) or bool(getattr(module, "is_cross_attention", False))

    def _frame_of(self, queries: int, batch: int) -> Frame:
        """Finds the innermost running model that reads as many tokens as there are queries. If there is none, gives the innermost model."""
        for frame in reversed(self._calls.frames):
            if frame.shape is not None and frame.shape[1] == queries:
                return frame
        return self._calls.frames[-1]

    def _record(self, given: dict[str, Any], own: Frame) -> MaskRecord | None:
        mask, shape = given.get("attention_mask"), (given["query"].shape[2], given["key"].shape[2])
        for record in reversed(self._calls.masks):
            if mask is not None and record.mask is not None and record.mask() is mask:
                return record
        for record in () if own.masks else reversed(self._calls.masks):   # given a mask, transformers makes none
            if (record.queries, record.keys) == shape:
                return record
        return None

    def _shift(self, module: torch.nn.Module, given: dict[str, Any], cross: bool, record: MaskRecord | None, own: Frame) -> int:
        queries, keys = given["query"].shape[2], given["key"].shape[2]
        if cross:
            return own.past
        if record is not None:
            return record.query_offset - record.key_offset
        if queries == keys:
            return 0
        if own.past + queries == keys or own.masks and own.past + queries < keys:
            return own.past
        raise FormatError(f"watch: {type(module).__name__} reads {keys} keys for {queries} queries, so the position of a query among the keys is unknown; "
                          "call the model without a cache")

    def _spans(self, own: Frame, scores: Scores, documents: Documents, record: MaskRecord | None, key_offset: int, past: int,
               cross: bool) -> list[Span]:
        at = (cross, scores.query.shape[0], scores.query.shape[2], scores.key.shape[2], scores.shift)
        if at not in own.spans:
            if cross:
                batch, _, queries, _ = scores.query.shape
                padding = scores.allowed(slice(0, batch), 0, queries, 0, scores.key.shape[2]).any((1, 2)) if own.crossed_masks else own.crossed_padding
                own.spans[at] = documents.crossed(own, scores, padding, own.padding, past)
            elif own.shape is None or own.shape[1] != scores.query.shape[2]:
                own.spans[at] = documents.whole(own, scores)
            else:
                if own.padding is None and record is None and own.masks and scores.mask is not None:
                    cached = documents.cached(own)
                    own.padding = text_of(scores, None if cached is None else cached.text)
                padding = own.padding if own.padding is not None else None if record is None else record.padding
                frames = self._calls.frames[::-1]
                ids = next((frame.ids for frame in frames if frame.ids is not None and frame.ids.shape[1] == own.shape[1]), None)
                if own.cache is None and past > 0:
                    own.cache = next((frame.cache for frame in frames if frame.cache is not None), None)
                own.spans[at] = documents.spans(own, ids, scores, padding, key_offset, past)
        return own.spans[at]

    # -- sums --------------------------------------------------------------------------------------------------------------------------

    def _add(self, own: Frame, scores: Scores, spans: list[Span], layer: Layer) -> None:
        whole, sums = scores, layer.sums
        for s, span in enumerate(spans):
            scores = whole if span.shift is None else dataclasses.replace(whole, shift=span.shift)
            blocks = torch.tensor([d % self.blocks for d in span.documents], device=sums.device)
            key = self._counts_key(s, scores, span)
            if key not in own.counts:
                own.counts[key] = self._tiles(scores, span), scores.mask   # the mask is kept, so that its id is not used again
            tiles, counted = own.counts[key][0]
            for counts, factor in counted:
                sums.add(counts, blocks, factor)
            traced = self._traced(layer, scores, span, counted) if self._null and not layer.cross else None
            for added, factor in self._parts(scores, span, tiles, None if traced is None else traced.see):
                sums.add(added, blocks, factor)
                if traced is not None:
                    traced.add_offsets(added.weight)
            if traced is not None:
                layer.traces.add(traced, span)
            if layer.kept is not None:
                layer.kept.add_weights(traced.without_first, spans, span)

    def _traced(self, layer: Layer, scores: Scores, span: Span, counted: list[Any]) -> Any:
        """Prepares the documents of a span for the tiles of a layer."""
        require_whole(scores, span, self._first, self.rows, layer.path, self._whole)
        ahead = any(bool((counts.pairs[..., self.bins.centre + 1:] > 0).any()) for counts, _ in counted)
        if layer.traces is not None and layer.traces.causal == ahead:
            before, now = ("only back", "ahead too") if ahead else ("ahead too", "only back")
            raise FormatError(f"watch: {self._whole}: {layer.path} looked {before} in the documents before, but {now} in document "
                              f"{span.documents[0]}; watch documents with one kind of mask at a time")
        if layer.traces is None:
            layer.traces = Traces(scores, self.bins.exact, span.q1 - span.q0, not ahead, bool(self._special), layer.sinks)
        return TracedDocuments(layer.traces, scores, span, BUDGET.get(scores.query.device.type, OTHER_BUDGET) // 4)

    def _counts_key(self, s: int, scores: Scores, span: Span) -> Any:
        """Everything that the counts of a span's pairs depend on."""
        return s, scores.shift, scores.causal, scores.window, id(scores.mask), scores.query.shape[2], scores.key.shape[2], scores.query.device

    def _parts(self, scores: Scores, span: Span, tiles: Any, see: Callable[..., None] | None = None) -> Iterator[tuple[TileSums, float]]:
        """Computes sums over query rows of a span, each with the number of rows that a row stands for.

        Args:
            tiles: query rows from sampled_tiles(); None: all
            see: function that is called with every tile of weights
        """
        budget = BUDGET.get(scores.query.device.type, OTHER_BUDGET)
        if see is None and self._kernel is not None and self._kernel.takes(scores, span):
            yield from self._kernel.sums(scores, span, self.bins, tiles)
            return
        if tiles is None:
            heads, scores = scores.query.shape[1] * len(span.rows), scores.contiguous()
            most = max(16, min(FIRST_BAND, budget // (4 * heads * (span.k1 - span.k0 + FIRST_BAND))))
            tiles = [(r0, r1, 1.0) for r0, r1 in row_tiles(span.q0, span.q1, most)]
        for r0, r1, factor in tiles:
            if (added := weight_tiles(scores, span, r0, r1, self.bins, budget, see)) is not None:
                yield added, factor

    def _keep(self, own: Frame, layer: Layer, scores: Scores, spans: list[Span], before: Unturned) -> None:
        """Prepares a layer to keep queries and keys of the documents of a call."""
        if scores.weights is not None:
            raise CannotDeal(f"watch: {layer.path} returns finished weights, but deal=True needs queries and keys; call "
                             "model.set_attn_implementation('sdpa')")
        for s, span in enumerate(spans):
            require_whole(scores, span, self._first, self.rows, layer.path, self._whole)
            length = span.q1 - span.q0
            if layer.kept is None:
                depth = max(len(self._names), int(getattr(getattr(self._model(), "config", None), "num_hidden_layers", 0) or 0))
                self._pairs = self._pairs or room_for(scores, length, depth, self._room)
                layer.kept = Kept(scores, length, self._pairs, attending(scores, before, span, layer.path), self.bins.exact // 2, depth)
            key = (self._counts_key(s, scores, span), "window")
            if key not in own.counts:
                own.counts[key] = window_of(scores, span, layer.path), scores.mask
            if length == layer.kept.length and own.counts[key][0] != layer.kept.attending.window:
                raise CannotDeal(f"watch: {layer.path} has another mask in document {span.documents[0]} than in those before, which "
                                 "deal=True cannot follow; omit deal")

    def _tiles(self, scores: Scores, span: Span) -> tuple[list[tuple[int, int, float]] | None, list[Any]]:
        """Samples query rows (None: all rows), and counts their pairs. All layers with the same mask share these counts."""
        tiles = None
        if self.rows is not None and span.q1 - span.q0 > self.rows:
            tiles = self._sampled(scores, span, span.documents[0])
        most = span.q1 if scores.mask is None else FIRST_BAND
        every = [(*rows, 1.0) for rows in row_tiles(span.q0, span.q1, most)] if tiles is None else tiles
        count = count_rows if scores.mask is None else count_tiles
        return tiles, [(counts, factor) for r0, r1, factor in every if (counts := count(scores, span, r0, r1, self.bins)) is not None]

    def _sampled(self, scores: Scores, span: Span, number: int) -> list[tuple[int, int, float]]:
        """Samples query rows of a span, from the seed and a number."""
        return sampled_tiles(span.q0, span.q1, span.position(0, scores.shift), self.rows, np.random.default_rng((self._seed, number)), CELL)


def _kernel(name: str) -> Any:
    if name == "torch":
        return None
    try:
        from . import triton_tiles
    except ImportError as error:
        if name == "triton":
            raise FormatError("watch: kernel='triton', but Triton is not installed; pip install triton, or give kernel='torch'") from error
        return None
    return triton_tiles.Kernel(always=name == "triton")


def _attention_modules(model: torch.nn.Module) -> tuple[dict[int, str], list[str]]:
    """Finds the modules that call transformers' attention functions, by id, and the names of layers without attention.

    Raises:
        FormatError: a module computes attention by itself, or no module calls these functions
    """
    names: dict[int, str] = {}
    modules = list(model.named_modules())
    for path, module in modules:
        if "ALL_ATTENTION_FUNCTIONS" in _source(type(module)):
            names[id(module)] = path or type(module).__name__
            if getattr(module, "reorder_and_upcast_attn", False) and getattr(module.config, "_attn_implementation", None) == "eager":
                raise FormatError(f"watch: {path} ({type(module).__name__}) computes eager attention by itself (its config has "
                                  "reorder_and_upcast_attn), so watch cannot see it; call model.set_attn_implementation('sdpa')")
    for path, module in modules:
        kind = type(module)
        if id(module) in names or not re.search("Attention|Attn", kind.__name__):
            continue
        within = [m for m in module.modules() if m is not module]
        if any(id(m) in names or re.search("Attention|Attn", type(m).__name__) for m in within):
            continue
        if isinstance(module, torch.nn.MultiheadAttention) or re.search(r"softmax|scaled_dot_product_attention", _source(kind)):
            raise FormatError(f"watch: {path} ({kind.__name__}) computes attention by itself, not by transformers' attention functions, so "
                              "watch cannot see it; capture its queries and keys (headwave.capture), or watch another part of the model")
    skipped: list[str] = []
    lists: list[str] = []   # lists of layers; lists within a layer do not count
    for path, module in modules:
        if isinstance(module, torch.nn.ModuleList) and not any(path.startswith(f"{outer}.") for outer in lists):
            there = [any(id(m) in names for m in layer.modules()) for layer in module]
            if any(there):
                lists.append(path)
                skipped += [f"{path}.{i} ({_mixer(layer)})" for i, layer in enumerate(module) if not there[i]]
    if not names:
        raise FormatError(f"watch: {type(model).__name__} has no layer that calls transformers' attention functions; expected a model of "
                          "transformers")
    return names, skipped


def _mixer(layer: torch.nn.Module) -> str:
    """Gives the type of the part that a layer has instead of attention: its first part that is not a norm."""
    return next((type(child).__name__ for child in layer.children() if "Norm" not in type(child).__name__), type(layer).__name__)


_NO_MODELS = ("torch.", "transformers.modeling_utils", "transformers.generation", "transformers.integrations", "transformers.utils")
_sources: dict[type, str] = {}


def _source(kind: type) -> str:
    if kind not in _sources:
        text = ""
        for each in kind.__mro__:
            if each is object or each.__module__.startswith(_NO_MODELS):
                continue
            try:
                text += inspect.getsource(each)
            except (OSError, TypeError):
                pass
        _sources[kind] = text
    return _sources[kind]


_REARRANGING = ("crop", "reorder_cache", "batch_repeat_interleave", "batch_select_indices")


class _Interfaces:
    """Replaces look-ups in transformers' registries of attention and mask functions, and methods of its caches, while a watch runs.

    Names of implementations stay as they are, and so does every decision of a model that depends on them. A look-up returns the function that
    the registry holds, wrapped so that the watches see its calls.
    """

    _one: "_Interfaces | None" = None

    @classmethod
    def require(cls) -> "_Interfaces":
        try:
            from transformers.cache_utils import Cache
            from transformers.masking_utils import AttentionMaskInterface
            from transformers.modeling_utils import AttentionInterface

            AttentionInterface.get_interface   # transformers 4 has none
        except (ImportError, AttributeError) as error:
            raise FormatError("watch: needs transformers 5 or newer") from error
        if cls._one is None:
            cls._one = cls(AttentionInterface, AttentionMaskInterface, Cache)
        return cls._one

    def __init__(self, attention: type, masks: type, caches: type) -> None:
        self._attention, self._masks, self._caches = attention, masks, caches
        self._watches: dict[int, Any] = {}
        self._lock = threading.RLock()

    def add(self, watch: Watch) -> None:
        with self._lock:
            if not self._watches:
                self._install()
            self._watches[id(watch)] = weakref.ref(watch)

    def remove(self, watch: int) -> None:
        with self._lock:
            if self._watches.pop(watch, None) is not None and not self._watches:
                self._attention.get_interface = self._get_interface
                del self._masks.__getitem__
                for how, method in self._rearranging.items():
                    setattr(self._caches, how, method)

    def watching(self, module: Any = None) -> list[Watch]:
        there = [watch for reference in list(self._watches.values()) if (watch := reference()) is not None]
        return there if module is None else [watch for watch in there if id(module) in watch._names]

    def _install(self) -> None:
        interfaces = self
        self._get_interface = original = self._attention.get_interface
        inherited = self._masks.__getitem__

        def get_interface(registry: Any, attn_implementation: str, default: Callable[..., Any]) -> Callable[..., Any]:
            function = original(registry, attn_implementation, default)

            @torch.compiler.disable
            def seen(*args: Any, **kwargs: Any) -> Any:
                watches = [watch for watch in interfaces.watching(args[0] if args else kwargs["module"]) if watch._looks()]
                if not watches:
                    return function(*args, **kwargs)
                output = function(*args, **kwargs)
                device = named(args, kwargs)["query"].device.type
                cast = torch.get_autocast_dtype(device) if torch.amp.is_autocast_available(device) and torch.is_autocast_enabled(device) else None
                with torch.inference_mode(False), torch.no_grad(), _without_autocast(device):
                    for watch in watches:
                        watch._saw(function, attn_implementation, args, kwargs, output, cast)
                return output

            return seen

        def get_mask(registry: Any, name: str) -> Callable[..., Any]:
            function = inherited(registry, name)

            def seen(*args: Any, **kwargs: Any) -> Any:
                mask = function(*args, **kwargs)
                _note_mask(interfaces, kwargs, mask)
                return mask

            return seen

        self._attention.get_interface = get_interface
        self._masks.__getitem__ = get_mask
        self._rearranging = {how: vars(self._caches)[how] for how in _REARRANGING if how in vars(self._caches)}
        for how, method in self._rearranging.items():
            setattr(self._caches, how, self._noting(how, method))

    def _noting(self, how: str, method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def seen(cache: Any, *args: Any, **kwargs: Any) -> Any:
            output = method(cache, *args, **kwargs)
            for watch in self.watching():
                watch._rearranged(cache, how)
            return output

        return seen


@contextlib.contextmanager
def _without_autocast(device: str) -> Iterator[None]:
    """Turns autocast off, so that sums keep their own dtype."""
    with contextlib.ExitStack() as stack:
        for each in {device, "cpu"}:
            if torch.amp.is_autocast_available(each):
                stack.enter_context(torch.autocast(each, enabled=False))
        yield


@torch.compiler.disable
def _note_mask(interfaces: _Interfaces, given: dict[str, Any], mask: Any) -> None:
    for watch in interfaces.watching():
        watch._masked(given, mask)


def _detach(handles: list[Any], interfaces: _Interfaces, watch: int, rotations: Rotations | None) -> None:
    for handle in handles:
        handle.remove()
    handles.clear()
    interfaces.remove(watch)
    if rotations is not None:
        rotations.end()


def _forget_compiled() -> None:
    """Makes torch.compile trace models again, since it does not notice that hooks come or go."""
    dynamo = sys.modules.get("torch._dynamo")
    if dynamo is not None and dynamo.utils.counters["frames"]:
        dynamo.reset()
