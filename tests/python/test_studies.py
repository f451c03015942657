"""Comparing and exporting give what the program gives."""

import numpy as np
import pytest

import headwave
from conftest import MODELS
from test_jobs import same


def test_a_comparison_is_that_of_the_program(program, tmp_path, ids):
    plain, words = tmp_path / "plain.h5", tmp_path / "words.h5"
    results = [headwave.run(MODELS / "bert-mlm", ids=ids, interventions=changed) for changed in ([], ["words-only"])]
    for result, file in zip(results, (plain, words)):
        result.save(file)
    program("compare", plain, words, "--out", tmp_path / "out", "--no-figures", "--seed", 3, returns=(0, 3))
    theirs = headwave.open(tmp_path / "out")
    ours = headwave.compare(*results, seed=3)
    same(ours, theirs)
    same(headwave.compare(plain, str(words), seed=3), theirs)
    changed = int(np.asarray(ours["comparison"]["changed"]).sum())
    assert f"{changed} of " in str(ours) and "heads changed beyond the intervals" in " ".join(ours._repr_html_().split())


def test_what_cannot_be_compared_is_refused(ids):
    result = headwave.run(MODELS / "bert-mlm", ids=ids, only=["measured_offset"])
    shorter = headwave.run(MODELS / "bert-mlm", ids=[one[:20] for one in ids], only=["measured_offset"])
    with pytest.raises(headwave.ShapeError, match="length"):
        headwave.compare(result, shorter)
    with pytest.raises(headwave.FormatError, match="compare: second is of type int; expected a Result"):
        headwave.compare(result, 3)
