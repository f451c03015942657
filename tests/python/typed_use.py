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
    assert_type(headwave.run("minilm", TEXT, documents=20, length=256), headwave.Result)
    assert_type(headwave.run("minilm", text="a text of words", only="measured_offset", reach=32, threads=2), headwave.Result)
    assert_type(headwave.run(pathlib.Path("gpt2"), ids=[[1, 2, 3]], everything=True, progress=print), headwave.Result)
    assert_type(headwave.run("gpt2", ids=np.ones((2, 8), np.int64)), headwave.Result)
    assert_type(headwave.run("bart", text=TEXT, target=TEXT), dict[str, headwave.Result])
    assert_type(headwave.run("bart", ids=[{"source": [1, 2], "target": [3]}]), dict[str, headwave.Result])
    assert_type(headwave.run("bart", ids=pathlib.Path("pairs.json")), headwave.Result | dict[str, headwave.Result])
    assert_type(headwave.account("bart", ids="pairs.json"), headwave.Result | dict[str, headwave.Result])
    assert_type(headwave.run("bart", random_tokens=50), headwave.Result | dict[str, headwave.Result])
    assert_type(headwave.run(states=states), headwave.Result)
    assert_type(headwave.run("minilm", states="states.h5", apply_norm=True), headwave.Result | dict[str, headwave.Result])
    assert_type(headwave.run(model, tokenizer, text=TEXT), headwave.Result | dict[str, headwave.Result])
    assert_type(headwave.run(profiles="profiles.h5", only="head_types"), headwave.Result | dict[str, headwave.Result])

    headwave.run("minilm", txt=TEXT)  # type: ignore[call-overload]
    headwave.run("minilm", text=TEXT, documents="20")  # type: ignore[call-overload]
    headwave.run("minilm", text=TEXT, reech=32)  # type: ignore[call-overload]
    headwave.run("minilm", text=TEXT, weights="disk")  # type: ignore[call-overload]


def results() -> None:
    result = headwave.run("minilm", TEXT)
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
    assert_type(result, headwave.Result)
    assert_type(headwave.account("bart", text=TEXT, target=TEXT), dict[str, headwave.Result])
    assert_type(headwave.atlas("minilm", passes=0), headwave.Result | dict[str, headwave.Result])
    assert_type(headwave.compare(result, "other/results.h5"), headwave.Result)

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
