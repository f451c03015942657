"""The keyword arguments that several functions share, for type checkers and editors: what each means stands in run()."""

from __future__ import annotations

import os
from typing import Any, Callable, Literal, Mapping, Sequence, TypedDict

Text = str | os.PathLike[str]
Progress = bool | Callable[[str], Any]
Pairs = Sequence[Mapping[str, Any]]   # of an encoder-decoder: ids under "source" and "target"


class JobOptions(TypedDict, total=False):
    """Options of analyses (docs/commands.md, Analysis)."""

    only: str | Sequence[str]
    everything: bool
    window: int
    reach: int
    level: float
    draws: int
    resamples: int
    fdr: float
    clusters: int
    sweep: int
    atlas_draws: int
    rows: int
    map_document: int
    seed: int
    threads: int
    parallel_documents: int


class RunInput(JobOptions, total=False):
    """What run() takes beside a model, a tokenizer and what decides the type of its answer."""

    text: Text | None
    documents: int | None
    length: int | None
    special_tokens: bool
    map: Text | None
    layers: str
    weights: Literal["auto", "memory", "layers"]
    allow_unknown: bool
    interventions: Sequence[str]
    shuffles: int
    heads: int
    layer: int | None
    dataset: str
    axes: str
    apply_norm: bool
    any_states: bool
    progress: Progress


class ListedInput(RunInput, total=False):
    """The same with token ids, whose type decides, too: a file may hold an encoder-decoder's pairs."""

    ids: Any


class AnyInput(ListedInput, total=False):
    """All that run() takes beside a model and a tokenizer."""

    states: Any
    profiles: Any
    target: Text | None
    random_tokens: int | None
