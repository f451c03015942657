"""What a program with types may say, and what it may not: test_types.py has mypy and pyright read this file, nothing runs it.

A line that must be refused says which error is expected; mypy --strict complains of an ignored error that does not occur.
"""

from __future__ import annotations

import pathlib
from typing import Any, assert_type

import numpy as np

import headwave
from headwave.profiles.result import Profiles

TEXT = pathlib.Path("text.txt")


def runs(model: object, tokenizer: object, states: dict[str, np.ndarray[Any, Any]]) -> None:
    result: headwave.Result = headwave.run("minilm", TEXT, documents=20, length=256)
    headwave.run(pathlib.Path("gpt2"), ids=[[1, 2, 3]], everything=True, progress=print).save("results.h5")
    several = headwave.run("bart", text=TEXT, target=TEXT)
    print(result["measured_offset"], several["cross"].title)
    headwave.run(states=states)
    headwave.run(model, tokenizer, text=TEXT)
    headwave.run(profiles="profiles.h5", only="head_types")

    headwave.run("minilm", text=3)  # type: ignore[arg-type]


def results() -> None:
    result: headwave.Result = headwave.run("minilm", TEXT)
    assert_type(result.title, str)
    assert_type(list(result), list[str])
    assert_type(result.provenance, dict[str, Any])
    result.figure("offset_profile", heads=["L0H2"], format="png", width="column").save("profile.png")
    result.save(pathlib.Path("results.h5"), overwrite=True)
    for name, group in result.items():
        print(name, group.attrs)
    result.measured_offset  # type: ignore[attr-defined]
    result.save("results.h5", replace=True)  # type: ignore[call-arg]


def studies() -> None:
    result = headwave.account("minilm", text=TEXT, seed=3)
    several = headwave.atlas("bart", passes=0)
    headwave.compare(result, several["self"])
    assert_type(headwave.compare(headwave.atlas("minilm"), "other/results.h5"), headwave.Result)

    headwave.compare(result, 3)  # type: ignore[arg-type]


def arrays(q: np.ndarray[Any, Any]) -> None:
    def look(tile: headwave.Tile) -> None:
        print(tile.first_row, tile.weights.sum())

    out = headwave.attend(q, q, q, mask="causal", probe=look)
    assert out is not None
    print(out.shape)
    headwave.attend(q, q, q, probe=lambda weights, row: None)  # type: ignore[misc, arg-type]


def watched(model: Any, batches: list[Any]) -> None:
    with headwave.watch(model, deal=True) as watch, headwave.capture(model, "states.h5", dtype="float16"):
        for batch in batches:
            model(batch)
    profiles = watch.result()
    assert_type(profiles, Profiles)
    assert_type(watch.documents, int)
    (profiles + profiles).save("profiles.h5")


def errors() -> None:
    try:
        headwave.open("results.h5")
    except headwave.IoError as error:
        print(error, headwave.__version__)
    except (headwave.ShapeError, headwave.NumericError, headwave.FormatError) as error:
        value: ValueError = error
        print(value)
