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
    assert f"{changed} of " in str(ours) and "heads changed beyond the intervals" in ours._repr_html_()


def test_what_cannot_be_compared_is_refused(ids):
    result = headwave.run(MODELS / "bert-mlm", ids=ids, only=["measured_offset"])
    shorter = headwave.run(MODELS / "bert-mlm", ids=[one[:20] for one in ids], only=["measured_offset"])
    with pytest.raises(headwave.ShapeError, match="length"):
        headwave.compare(result, shorter)
    with pytest.raises(headwave.FormatError, match="compare: second is of type int; expected a Result"):
        headwave.compare(result, 3)


def test_an_export_is_that_of_the_program(program, tmp_path, ids):
    result = headwave.run(MODELS / "bert-mlm", ids=ids)
    result.save(tmp_path / "results.h5")
    for number, only in enumerate(([], ["measured_offset", "head_account"])):
        theirs, ours = tmp_path / f"theirs-{number}", tmp_path / f"ours-{number}"
        program("export", tmp_path / "results.h5", "--csv", theirs, *(["--only", ",".join(only)] if only else []))
        written = headwave.export(result, ours, only=only)
        assert sorted(written.values()) == sorted(ours.iterdir()) and len(written) > 2
        assert [file.name for file in sorted(ours.iterdir())] == [file.name for file in sorted(theirs.iterdir())]
        assert all((theirs / file.name).read_bytes() == file.read_bytes() for file in written.values())
        assert written["all-columns"] == ours / "all-columns.csv"


def test_an_export_says_what_it_leaves_out_and_replaces_nothing(tmp_path, ids):
    result = headwave.run(MODELS / "bert-mlm", ids=ids, only=["measured_offset"])
    result.save(tmp_path / "results.h5")
    with pytest.warns(UserWarning, match="omitted, with more than max_rows=100: offset_trace"):
        written = headwave.export(tmp_path / "results.h5", tmp_path / "tables", max_rows=100)
    assert "all-columns" in written and not any("offset_trace.pairs.layer.head.offset" == name for name in written)
    with pytest.raises(headwave.IoError, match="is already there; choose another csv, or replace it with force=True"):
        headwave.export(result, tmp_path / "tables")
    headwave.export(result, tmp_path / "tables", force=True)
    with pytest.raises(headwave.FormatError, match="more than 10 rows; give max_rows"):
        headwave.export(result, tmp_path / "none", only=["offset_trace"], max_rows=10)
    with pytest.raises(headwave.FormatError, match="has no 'mesured_offset'; did you mean 'measured_offset'"):
        headwave.export(result, tmp_path / "none", only=["mesured_offset"])
    with pytest.raises(headwave.FormatError, match="export: result is of type int"):
        headwave.export(3, tmp_path / "none")
    assert not (tmp_path / "none").exists()
