"""Comparing, re-aiming and losses give the numbers of the program."""

import json
import shutil

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


def test_re_aiming_is_that_of_the_program(program, tmp_path, ids, ids_file):
    program("re-aim", "--model", MODELS / "bert-mlm", "--ids", ids_file, "--heads", "L0H1,L1H0", "--furthest", 2,
            "--no-figures", "--out", tmp_path / "out")
    ours = headwave.re_aim(MODELS / "bert-mlm", ids=ids, heads=["L0H1", "L1H0"], furthest=2)
    same(ours, headwave.open(tmp_path / "out"))
    with pytest.raises(headwave.ShapeError, match="position"):
        headwave.re_aim(MODELS / "llama", ids=ids)
    with pytest.raises(headwave.FormatError, match="re_aim: nothing given; expected one of text, ids, random_tokens"):
        headwave.re_aim(MODELS / "bert-mlm")


@pytest.mark.parametrize("interventions", [[], ["without-heads=L0H1"]])
def test_losses_are_those_of_the_program(program, ids, ids_file, interventions):
    asked = ["--intervene", ",".join(interventions)] if interventions else []
    said = json.loads(program("loss", "--model", MODELS / "gpt2", "--ids", ids_file, "--json", *asked))
    said.pop("version")
    ours = headwave.loss(MODELS / "gpt2", ids=ids, interventions=interventions)
    assert ours == said
    assert ours["model"]["perplexity"] == pytest.approx(np.exp(ours["model"]["loss"]))


def changed_weights(model, folder, change):
    """A copy of a model whose weights, safetensors of float32, are all multiplied."""
    shutil.copytree(model, folder)
    stored = (model / "model.safetensors").read_bytes()
    header = 8 + int.from_bytes(stored[:8], "little")
    weights = np.frombuffer(stored[header:], "<f4") * np.float32(1 + change)
    (folder / "model.safetensors").write_bytes(stored[:header] + weights.astype("<f4").tobytes())


@pytest.fixture()
def steps(tmp_path):
    """Three checkpoints of a training run: the same model, of which two have other weights."""
    for step, change in ((20, 0.0), (3, 0.5), (100, 0.1)):
        changed_weights(MODELS / "bert-mlm", tmp_path / f"step-{step}", change)
    return [tmp_path / f"step-{step}" for step in (20, 3, 100)]


def test_a_sweep_is_that_of_the_program(program, tmp_path, steps, ids, ids_file):
    program("sweep", "--models", *steps, "--ids", ids_file, "--no-figures", "--out", tmp_path / "theirs")
    theirs, lines = headwave.open(tmp_path / "theirs"), []
    ours = headwave.sweep(steps, ids=ids, progress=lines.append)
    same(ours, theirs)
    assert list(np.asarray(ours["checkpoints/step"])) == [3, 20, 100]
    assert [line for line in lines if "of 3)" in line] == ["step-3 (1 of 3)", "step-20 (2 of 3)", "step-100 (3 of 3)"]
    same(headwave.sweep(steps, ids=ids, out=tmp_path / "ours"), theirs)
    same(headwave.open(tmp_path / "ours"), theirs)
    same(headwave.open(tmp_path / "ours" / "checkpoints" / "step-20"), headwave.open(tmp_path / "theirs" / "checkpoints" / "step-20"))
    # Either goes on with what the other wrote.
    same(headwave.sweep(steps, ids=ids_file, out=tmp_path / "theirs", resume=True), theirs)
    few = headwave.sweep(steps[:1], ids=ids, only=["head_types"], interventions=["words-only"])
    assert "checkpoints_head_types" in few and "checkpoints_head_account" not in few
    assert "models = [" in ours.provenance["job"] and "words-only" in str(few.provenance["interventions"])


def test_a_sweep_goes_on_where_it_was(tmp_path, steps, ids):
    out, given = tmp_path / "out", dict(ids=ids, only=["measured_offset"])
    whole = headwave.sweep(steps, out=out, **given)
    file = out / "checkpoints" / "step-20" / "results.h5"
    kept, gone = file.stat().st_mtime_ns, out / "checkpoints" / "step-3" / "results.h5"
    gone.unlink()
    (out / "results.h5").unlink()
    same(headwave.sweep(steps, out=out, resume=True, **given), whole)
    assert file.stat().st_mtime_ns == kept and gone.exists()
    with pytest.raises(headwave.IoError, match="results.h5: is there already; go on with that sweep with resume=True"):
        headwave.sweep(steps, out=out, **given)
    with pytest.raises(headwave.FormatError, match="another run"):
        headwave.sweep(steps, out=out, resume=True, **given | {"only": ["head_types"]})
    with pytest.raises(headwave.IoError, match="has 3 checkpoints, and step-100 is not one of those given"):
        headwave.sweep(steps[:2], out=out, resume=True, **given)
    same(headwave.sweep(steps, out=out, force=True, **given), whole)


def test_a_sweep_of_an_encoder_decoder_gives_three(tmp_path, ids):
    pairs = [{"source": one, "target": [2, *one[:10]]} for one in ids.tolist()]
    found = headwave.sweep([MODELS / "bart"], ids=pairs, only=["measured_offset"], out=tmp_path / "out")
    assert list(found) == ["self", "causal", "cross"] and (tmp_path / "out" / "checkpoints" / "bart" / "cross" / "results.h5").exists()
    again = headwave.sweep([MODELS / "bart"], ids=pairs, only=["measured_offset"], out=tmp_path / "out", resume=True)
    for kind, result in found.items():
        same(again[kind], result)


@pytest.mark.parametrize("models, given, error, words", [
    ("step-1", {}, headwave.FormatError, "models is of type str; expected a list"),
    ([], {}, headwave.FormatError, "models is empty"),
    ([MODELS / "bert-mlm", MODELS / "bert-mlm" / "."], {}, headwave.ShapeError, "told apart by the names of their folders"),
    ([MODELS / "bert-mlm", MODELS / "llama"], {}, headwave.ShapeError, "expected checkpoints of one model"),
    ([MODELS / "bert-mlm"], dict(resume=True), headwave.FormatError, "resume goes on with what out holds"),
    ([MODELS / "bert-mlm"], dict(ids=None), headwave.FormatError, "sweep: nothing given; expected one of text, ids"),
    ([MODELS / "bert-mlm"], dict(raech=3), TypeError, "did you mean 'reach'"),
])
def test_what_cannot_be_swept_is_refused(ids, models, given, error, words):
    with pytest.raises(error, match=words):
        headwave.sweep(models, **{"ids": ids, **given})


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
    with pytest.warns(UserWarning, match="left out, with more than max_rows=100: offset_trace"):
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


def test_a_page_shows_the_map_of_another_text(program, tmp_path, ids):
    result = headwave.run(MODELS / "bert-mlm", ids=ids)
    sentence = headwave.run(MODELS / "bert-mlm", ids=ids[:1, :9], only=["attention_map"])
    for name, of in (("result", result), ("sentence", sentence)):
        (tmp_path / name).mkdir()
        of.save(tmp_path / name / "results.h5")
    program("report", tmp_path / "result", "--beside", tmp_path / "sentence", "--out", tmp_path / "theirs.html")
    page = result.report(beside=sentence)
    assert page.text == (tmp_path / "theirs.html").read_text() and '"beside_0/weight"' in page.text
    assert '"beside_1/weight"' in result.report(beside=[tmp_path / "sentence", sentence]).text
    assert len(result.report().text) < len(page.text)
    changed = headwave.run(MODELS / "bert-mlm", ids=ids[:1, :9], only=["attention_map"], interventions=["positions-only"])
    with pytest.raises(headwave.FormatError, match="beside, result 0: interventions: positions-only; expected none"):
        result.report(beside=changed)
    with pytest.raises(headwave.FormatError, match="holds no attention map to show beside"):
        result.report(beside=headwave.run(MODELS / "bert-mlm", ids=ids, only=["measured_offset"]))
    with pytest.raises(headwave.FormatError, match="beside: int"):
        result.report(beside=[3])
