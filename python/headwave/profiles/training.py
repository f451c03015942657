"""headwave.watch(every=, to=): records measures of every head while a model is trained, one row per head and recorded step."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import os
import warnings
from typing import Any, Callable, Iterable

import numpy as np
import torch

from .. import _core
from ..arguments import path
from ..errors import FormatError, IoError
from .bins import FIRST_BAND, OffsetBins, row_tiles
from .head_scores import SCORES, DocumentScores, HeadScores
from .passes import Frame
from .tiles import MASKED, Scores, Span, weight_tiles
from .watching import BUDGET, OTHER_BUDGET, Call, Watch

MEANS = ("entropy", "sink_first", "induction", "previous")   # of SCORES: means over the queries of a document, then over documents
MEASURES = ("largest_score", "window_95", *MEANS)


class StepSums:
    """Sums of one layer over the documents of one step. `flat` contains the sums that processes add up.

    Attributes:
        mean, documents: (heads, MEANS) sum of the means of single documents, and number of documents for which the mean is defined
        weight, kept: (heads, 2, bins), (heads, 1) as in TileSums, over all documents
        largest: (heads) largest score before softmax
    """

    def __init__(self, heads: int, bins: OffsetBins, sinks: bool, device: torch.device) -> None:
        self.flat = torch.zeros(heads, 2 * len(MEANS) + 1 + 2 * bins.count, dtype=torch.float64, device=device)
        self.mean, self.documents, self.kept, weight = self.flat.split([len(MEANS), len(MEANS), 1, 2 * bins.count], 1)
        self.weight = weight.unflatten(1, (2, bins.count))
        self.largest = torch.full((heads,), -math.inf, dtype=torch.float64, device=device)
        self._like = HeadScores(heads, True, False, sinks, device)
        self._chosen = [SCORES.index(name) for name in MEANS]

    def add(self, scores: Scores, span: Span, cross: bool, tiles: list[tuple[int, int, float]], bins: OffsetBins, budget: int) -> None:
        """Adds documents.

        Args:
            tiles: first query row, end, and number of rows that each row stands for
        """
        whole = not cross and scores.shift == 0 and (span.q0, span.q1) == (span.k0, span.k1)   # otherwise ids do not tell the tokens of keys
        one = DocumentScores(self._like, span.ids if whole else [], [], len(span.rows), span.k1 - span.k0)
        total, count = torch.zeros_like(one.sum), torch.zeros_like(one.count)
        for r0, r1, factor in tiles:
            def see(padded: torch.Tensor, entropy: torch.Tensor, r0: int, r1: int, kb: int, ke: int, heads: slice) -> None:
                allowed = scores.allowed(span.index, r0, r1, kb, ke)[:, :1]
                i = torch.arange(r1 - 1, r0 - 1, -1, device=padded.device) + scores.shift - span.k0
                j = torch.arange(kb, ke, device=padded.device) - span.k0
                one.see(padded, entropy, allowed, allowed[:, 0].sum(-1).to(one.sum.dtype), i, j, heads)

            added = weight_tiles(scores, span, r0, r1, bins, budget, see, self._scored)
            if added is None:
                continue
            one.sum[:, SCORES.index("sink_first")], one.count[:, SCORES.index("sink_first")] = one.columns[..., 0], one.live
            total += factor * one.sum
            count += factor * one.count
            self.weight += factor * added.weight.sum(0).transpose(0, 1)
            self.kept += factor * added.kept.sum(0)[:, None]
            for of in (one.sum, one.count, one.columns, one.live):
                of.zero_()
        if cross:   # queries and keys are different sequences
            count[:, SCORES.index("previous")] = 0
        total, count = (of[:, self._chosen].transpose(1, 2) for of in (total, count))
        self.mean += torch.where(count > 0, total / count, 0).sum(0)
        self.documents += (count > 0).sum(0)

    def _scored(self, scores: torch.Tensor, heads: slice) -> None:
        self.largest[heads] = torch.maximum(self.largest[heads], scores.amax((0, 2, 3)).to(self.largest.dtype))


@dataclasses.dataclass
class Place:
    """A layer whose sums processes add up."""

    layer: str
    heads: int
    kv_heads: int
    cross: bool


class TrainingWatch(Watch):
    """A recording of a training run. It starts when it is created, and ends with close() or at the end of its `with`."""

    _before_dropout = True

    def __init__(self, model: Any, every: int, to: Any, exact: int, rows: int, first: int, tokenizer: Any, special: Iterable[int], seed: int) -> None:
        self.every, self.step = every, -1
        self._write = _writer(to)
        self._watched: Frame | None = None
        self._across = False   # whether that warning was given
        self._sums: dict[str, StepSums] = {}
        self._ran: dict[str, Place] = {}
        self._places: list[Place] = []
        super().__init__(model, exact, 1, rows, first, tokenizer, special, "torch", seed, False, 0, False, False)
        if (getattr(model, "tp_size", None) or 1) > 1:
            self.close()
            raise FormatError("watch: every= needs every head in each process, but tensor parallelism divides the heads between processes; "
                              "train with data parallelism (DistributedDataParallel, FSDP)")

    def result(self) -> Any:
        """Raises:
            FormatError: always, since rows are written while the model is trained
        """
        raise FormatError("watch: every= writes rows to to= and keeps no sums, so there is no result; omit every= and to= to get one")

    def close(self) -> None:
        """Ends the recording and restores the model. Written rows stay."""
        if self._closed.alive and self.step < 0:
            warnings.warn("watch: nothing was recorded, since the model made no forward pass in train(); call model.train() before training", stacklevel=2)
        super().close()

    def _origin_of(self, model: torch.nn.Module) -> dict[str, Any]:
        return {}   # weights change

    # -- steps -------------------------------------------------------------------------------------------------------------------------

    def _begin(self, module: torch.nn.Module, args: tuple, kwargs: dict[str, Any]) -> None:
        if getattr(module, "_is_replica", False):
            raise FormatError("watch: every= counts the forward passes of one model, but DataParallel runs copies of it; use DistributedDataParallel")
        super()._begin(module, args, kwargs)
        if len(self._calls.frames) == 1 and module.training:
            self.step += 1
            if self.step % self.every == 0:
                self._watched = self._calls.frames[0]
                self._documents, self._sums, self._ran, self._miscounted = {}, {}, {}, None

    def _looks(self) -> bool:
        return bool(self._calls.frames) and self._calls.frames[0] is self._watched

    def _end(self, module: torch.nn.Module, output: Any) -> None:
        outermost = self._calls.frames[0] if self._calls.frames else None
        super()._end(module, output)
        if outermost is not None and outermost is self._watched and not self._calls.frames:
            self._watched = None
            if output is not None:
                with torch.inference_mode(False), torch.no_grad():
                    self._end_step()
                self._sums, self._documents = {}, {}

    def _sum(self, call: Call) -> None:
        scores, name = call.scores, call.path if call.times == 1 else f"{call.path}#{call.times}"
        heads, device = scores.query.shape[1], scores.query.device
        self._ran[name] = Place(name, heads, scores.key.shape[1], call.cross)
        sums = self._sums[name] = StepSums(heads, self.bins, scores.sinks is not None or call.given.get("s_aux") is not None, device)
        for span in call.spans:
            of = (scores if span.shift is None else dataclasses.replace(scores, shift=span.shift)).contiguous()
            if span.q1 - span.q0 > self.rows:   # in one step, the same rows for documents of one length, in all processes
                tiles = self._sampled(of, span, self.step)
            else:
                tiles = [(r0, r1, 1.0) for r0, r1 in row_tiles(span.q0, span.q1, FIRST_BAND)]
            sums.add(of, span, call.cross, tiles, self.bins, BUDGET.get(device.type, OTHER_BUDGET))

    # -- rows --------------------------------------------------------------------------------------------------------------------------

    def _end_step(self) -> None:
        """Adds up the sums of all processes, and writes a row for every head."""
        if self._miscounted is not None:
            warnings.warn(f"{self._miscounted}; step {self.step} is recorded without the documents of this batch", stacklevel=2)
            self._sums = {}
        self._across = self._across or self._warn_across(3)
        world, rank = (torch.distributed.get_world_size(), torch.distributed.get_rank()) if _distributed() else (1, 0)
        self._places = self._agreed(world)
        count = max((of.count for of in self._documents.values()), default=0) if self._sums else 0
        device = next(self._model().parameters()).device
        sums = [self._sums.get(of.layer) or StepSums(of.heads, self.bins, False, device) for of in self._places]
        # One reduction adds everything. Each process has its own entries for its largest scores, so that the sum gathers them.
        top = torch.cat([one.largest for one in sums] or [torch.zeros(0, dtype=torch.float64, device=device)])
        tops = torch.zeros(world, len(top), dtype=torch.float64, device=device)
        tops[rank] = top
        parts = [torch.tensor([float(count)], dtype=torch.float64, device=device), *(one.flat.flatten() for one in sums), tops.flatten()]
        packed = torch.cat(parts)
        if world > 1:
            torch.distributed.all_reduce(packed)
        documents, *flat, tops = packed.cpu().split([len(part) for part in parts])
        if rank == 0 and float(documents):
            largest = tops.view(world, -1).amax(0).split([of.heads for of in self._places])
            rows = [row for place, of, top in zip(self._places, flat, largest)
                    for row in self._rows(place, of.view(place.heads, -1).numpy(), top.numpy())]
            self._write([{"step": self.step, "documents": int(documents), **row} for row in rows])

    def _agreed(self, world: int) -> list[Place]:
        """Lists the layers that ran in any process in any recorded step so far, in the model's order."""
        ran = [self._ran]
        if world > 1:
            ran = [{}] * world
            torch.distributed.all_gather_object(ran, self._ran)
        every = {of.layer: of for of in self._places} | {name: place for one in ran for name, place in one.items()}
        order = list(self._names.values())
        return sorted(every.values(), key=lambda of: (int(of.layer.partition("#")[2] or 1), order.index(of.layer.partition("#")[0])))

    def _rows(self, place: Place, sums: np.ndarray, largest: np.ndarray) -> list[dict[str, Any]]:
        """Makes the rows of a layer's heads from its sums."""
        n, bins = len(MEANS), self.bins
        finite = np.isfinite(sums).all(1)   # a head with NaN or infinite attention has no valid mean
        sums = np.where(finite[:, None], sums, 0)
        with np.errstate(invalid="ignore"):
            means = sums[:, :n] / sums[:, n:2 * n]
        kept, weight = sums[:, 2 * n], sums[:, 2 * n + 1:].reshape(place.heads, 2, bins.count).transpose(1, 0, 2)
        window = np.full(place.heads, np.nan)
        if not place.cross and kept.any():
            arrays = {"first_offset": bins.first, "last_offset": bins.last, "weight": weight[None, None], "kept": kept[None, None],
                      "pairs": np.zeros((1, 1, 2, bins.count))}
            fields = _core.distances({name: np.ascontiguousarray(of, np.float64) for name, of in arrays.items()}, [place.layer], place.heads,
                                     place.kv_heads, [0.95], [bins.exact]).fields()
            window = np.ravel(next(of["values"] for of in fields if of["name"] == "attention_distance/window_95"))
            window = np.where(finite, window, np.nan)
        largest = np.where(largest > MASKED, largest, np.nan)   # undefined: no document, or every key is forbidden
        return [{"layer": place.layer, "head": head, **{name: float(f"{value:.9g}") for name, value in zip(MEASURES, (top, far, *mean))}}
                for head, (top, far, mean) in enumerate(zip(largest, window, means))]


def _distributed() -> bool:
    return torch.distributed.is_available() and torch.distributed.is_initialized()


def _writer(to: Any) -> Callable[[list[dict[str, Any]]], None]:
    """Makes a function that writes the rows of a step.

    Raises:
        FormatError: `to` is neither a path, a SummaryWriter nor a run of W&B
    """
    def scalars(rows: list[dict[str, Any]]) -> dict[str, float]:
        return {f"headwave/{name}/{row['layer']}/{row['head']}": row[name] for row in rows for name in MEASURES if math.isfinite(row[name])}

    if isinstance(to, (str, os.PathLike)):
        return _Lines(path(to, "to")).write
    if callable(getattr(to, "add_scalar", None)):
        def add(rows: list[dict[str, Any]]) -> None:
            for name, value in scalars(rows).items():
                to.add_scalar(name, value, rows[0]["step"])
        return add
    if callable(getattr(to, "log", None)):
        if callable(getattr(to, "define_metric", None)):   # W&B's own step belongs to the caller
            to.define_metric("headwave/step")
            to.define_metric("headwave/*", step_metric="headwave/step")
        # Not committed: W&B stores these with what the caller logs next, so that its steps stay the caller's.
        return lambda rows: to.log({**scalars(rows), "headwave/step": rows[0]["step"]}, commit=False)
    if to is None and _distributed() and torch.distributed.get_rank() > 0:
        return lambda rows: None
    raise FormatError(f"watch: to= is {None if to is None else f'of type {type(to).__name__}'}; expected a path ('run.jsonl'), a "
                      "SummaryWriter of torch.utils.tensorboard, or a run of W&B "
                      "(wandb.init())")


class _Lines:
    """A new JSON Lines file with a line for each row. Numbers that are not finite are written as null."""

    def __init__(self, path: str) -> None:
        self._path, self._mode, self._size = path, "x", 0
        folder, name = os.path.split(path)
        if _distributed() and torch.distributed.get_rank() > 0:
            return   # another process writes, perhaps on another machine
        if not name:
            raise IoError(f"'{path}': expected the path of a file")
        if os.path.lexists(path):
            raise IoError(f"{path}: is already there; choose another name")
        if not os.path.isdir(folder or "."):
            raise IoError(f"{path}: there is no folder {folder}")

    def write(self, rows: list[dict[str, Any]]) -> None:
        """Raises:
            IoError: the first rows cannot be written. A later failure only warns, because the training run is worth more than its record
        """
        if self._mode == "":
            return
        lines = [json.dumps({name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in row.items()})
                 for row in rows]
        try:
            with open(self._path, self._mode, encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")
        except FileExistsError:
            raise IoError(f"{self._path}: is already there; choose another name") from None
        except OSError as error:
            if self._mode == "x":
                raise IoError(f"{self._path}: cannot be written: {error}") from error
            with contextlib.suppress(OSError):
                os.truncate(self._path, self._size)   # keeps whole lines
            warnings.warn(f"{self._path}: cannot be written: {error}; nothing is recorded from step {rows[0]['step']} on", stacklevel=2)
            self._mode = ""
            return
        self._mode, self._size = "a", os.path.getsize(self._path)
