import json
import os
import pathlib
import shutil
import signal
import threading
import time
import warnings

import numpy as np
import pytest

import headwave
from conftest import MODELS


def arrays_of(result):
    """Every array of a result, as bytes."""
    found = {}
    for group in result:
        node = result[group]
        for name in (node if isinstance(node, dict) else node.data_vars):
            array = np.asarray(node[name])
            found[f"{group}/{name}"] = array.tolist() if array.dtype == object else array.tobytes()
    return found


def same(ours, theirs):
    ours, theirs = arrays_of(ours), arrays_of(theirs)
    assert list(ours) == list(theirs)
    assert [name for name in ours if ours[name] != theirs[name]] == []


@pytest.mark.parametrize("family", ["bert-mlm", "gpt2", "llama", "bloom"])
def test_a_job_gives_the_numbers_of_the_program(program, tmp_path, ids, ids_file, family):
    program("run", "--model", MODELS / family, "--ids", ids_file, "--everything", "--no-figures", "--out", tmp_path / "out")
    theirs = headwave.open(tmp_path / "out" / "results.h5")
    ours = headwave.run(MODELS / family, ids=ids, everything=True)
    same(ours, theirs)
    same(headwave.run(MODELS / family, ids=ids_file, everything=True, threads=1), theirs)
    differ = {name for name in theirs.provenance if ours.provenance.get(name) != theirs.provenance[name]}
    # Program and package may be built of different commits that change no number.
    assert differ <= {"commit", "command", "started", "wall_time_s", "source_file", "source_sha256", "job", "run_sha256"}


def test_options_are_those_of_the_program_and_stand_in_the_command(program, tmp_path, ids_file, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = ["--documents", 2, "--only", "measured_offset,attention_map", "--level", 0.02, "--fdr", 1, "--map-document", 1,
               "--intervene", "shuffled-words", "--shuffles", 2, "--seed", 5]
    program("run", "--model", MODELS / "bert-mlm", "--ids", "ids.json", *options, "--no-figures", "--out", "out")
    theirs = headwave.open("out/results.h5")
    given = dict(documents=2, only=["measured_offset", "attention_map"], level=0.02, fdr=1, map_document=1,
                 interventions=["shuffled-words"], shuffles=2, seed=np.int64(5))
    ours = headwave.run(MODELS / "bert-mlm", ids=pathlib.Path("ids.json"), **given)
    same(ours, theirs)
    for said in ("documents=2", "interventions=['shuffled-words']", "shuffles=2", "fdr=1", "map_document=1"):
        assert said in ours.provenance["command"]
    assert "special_tokens" not in ours.provenance["command"]


def test_every_option_of_an_input_is_that_of_the_program(program, tmp_path):
    program("demo", "--write-model", tmp_path / "planted")
    words = (tmp_path / "planted" / "vocab.txt").read_text().split()[5:]
    (tmp_path / "text.txt").write_text(" ".join(np.random.default_rng(1).choice(words, 600)))
    options = ["--length", 64, "--no-special-tokens", "--only", "measured_offset"]
    program("run", "--model", tmp_path / "planted", "--text", tmp_path / "text.txt", *options, "--no-figures", "--out", tmp_path / "t")
    ours = headwave.run(tmp_path / "planted", text=tmp_path / "text.txt", length=64, special_tokens=False,
                        only="measured_offset")
    theirs = headwave.open(tmp_path / "t" / "results.h5")
    same(ours, theirs)
    np.savez(tmp_path / "states.npz", x=np.random.default_rng(1).standard_normal((3, 20, 24)).astype("f4"))
    options = ["--layer", 1, "--dataset", "x", "--axes", "document,token,width", "--any-states", "--only", "measured_offset"]
    program("run", "--model", MODELS / "bert-mlm", "--states", tmp_path / "states.npz", *options, "--no-figures", "--out", tmp_path / "s")
    ours = headwave.run(MODELS / "bert-mlm", states=tmp_path / "states.npz", layer=1, dataset="x", axes="document,token,width", any_states=True,
                        only="measured_offset")
    theirs = headwave.open(tmp_path / "s" / "results.h5")
    same(ours, theirs)
    ours = headwave.run(MODELS / "gpt2", random_tokens=5, documents=2, only="measured_offset")
    assert ours.provenance["command"].endswith("random_tokens=..., documents=2, only='measured_offset')")


def test_a_text_gives_the_numbers_of_the_program(program, tmp_path):
    program("demo", "--write-model", tmp_path / "planted")
    words = (tmp_path / "planted" / "vocab.txt").read_text().split()[5:]
    text = " ".join(np.random.default_rng(1).choice(words, 2000))
    (tmp_path / "text.txt").write_text(text)
    options = ["--documents", 4, "--length", 64, "--only", "measured_offset,head_types", "--reach", 20]
    program("run", "--model", tmp_path / "planted", "--text", tmp_path / "text.txt", *options, "--no-figures", "--out", tmp_path / "out")
    theirs = headwave.open(tmp_path / "out" / "results.h5")
    given = {"documents": 4, "length": 64, "only": ["measured_offset", "head_types"], "reach": 20}
    same(headwave.run(tmp_path / "planted", text=text, **given), theirs)
    same(headwave.run(tmp_path / "planted", text=tmp_path / "text.txt", **given), theirs)
    with pytest.raises(headwave.FormatError, match="pathlib.Path"):
        headwave.run(tmp_path / "planted", text=str(tmp_path / "text.txt"))


def test_a_tokenizer_beside_a_model_directory_is_refused():
    with pytest.raises(headwave.FormatError, match="has its own tokenizer; omit tokenizer, or give ids"):
        headwave.run(MODELS / "bert-mlm", lambda text: {"input_ids": [3, 4]}, text="a text of words")


def test_random_tokens_give_the_numbers_of_the_program(program, tmp_path):
    program("run", "--model", MODELS / "gpt2", "--random-tokens", 8, "--documents", 3, "--only", "measured_offset", "--no-figures",
            "--out", tmp_path / "out")
    ours = headwave.run(MODELS / "gpt2", random_tokens=8, documents=3, only=["measured_offset"])
    same(ours, headwave.open(tmp_path / "out" / "results.h5"))


def test_first_layers_and_weights_by_layer_give_the_numbers_of_the_program(program, tmp_path, ids, ids_file):
    options = ["--layers", "0-0", "--weights", "layers", "--only", "measured_offset"]
    program("run", "--model", MODELS / "llama", "--ids", ids_file, *options, "--no-figures", "--out", tmp_path / "out")
    theirs = headwave.open(tmp_path / "out" / "results.h5")
    ours = headwave.run(MODELS / "llama", ids=ids_file, layers="0-0", weights="layers", only="measured_offset")
    same(ours, theirs)
    assert ours.provenance["first_layers"] == 1 and ours["measured_offset"].offset.shape[1] == 1
    model = MODELS / "llama"
    same(headwave.run(model, ids=ids, weights="layers"), headwave.run(model, ids=ids, weights="memory"))
    same(headwave.atlas(model, passes=1, length=20, weights="layers"), headwave.atlas(model, passes=1, length=20))


def test_the_atlas_is_that_of_the_program(program, tmp_path):
    program("atlas", "--model", MODELS / "bert-mlm", "--passes", 2, "--draws", 5, "--no-figures", "--out", tmp_path / "out")
    same(headwave.atlas(MODELS / "bert-mlm", passes=2, draws=5), headwave.open(tmp_path / "out" / "results.h5"))


def test_states_in_memory_are_those_of_a_file(tmp_path):
    rng = np.random.default_rng(1)
    states = {"queries/layer_0": rng.standard_normal((3, 40, 16)).astype("f4"), "num_heads": 2,
              "keys/layer_0": rng.standard_normal((3, 40, 16)).astype("f4"), "causal": 1,
              "tokens": np.array([[f"t{i}" for i in range(40)]] * 3)}
    np.savez(tmp_path / "states.npz", **states)
    theirs = headwave.run(states=tmp_path / "states.npz")
    same(headwave.run(states=states), theirs)
    turned = {name: np.asfortranarray(of) if np.ndim(of) == 3 else of for name, of in states.items()}
    same(headwave.run(states=turned), theirs)
    one_by_one = {name: of.astype(">f8") if np.ndim(of) == 3 else of for name, of in states.items()}
    same(headwave.run(states=one_by_one), theirs)


def test_an_encoder_decoder_gives_three(ids):
    pairs = [{"source": one, "target": [2, *one[:10]]} for one in ids.tolist()]
    found = headwave.run(MODELS / "bart", ids=pairs, only=["measured_offset"])
    assert list(found) == ["self", "causal", "cross"]
    assert "measured_offset" in found["cross"]


def test_an_intervention_changes_what_it_should(ids):
    plain = headwave.run(MODELS / "bert-mlm", ids=ids, only=["measured_offset"])
    changed = headwave.run(MODELS / "bert-mlm", ids=ids, only=["measured_offset"], interventions=["words-only"])
    assert not np.array_equal(plain["measured_offset/weight"], changed["measured_offset/weight"])
    assert "words-only" in str(changed.provenance["interventions"])


def test_a_run_answers_by_default_and_does_everything_when_asked(ids):
    found = headwave.run(MODELS / "bert-mlm", ids=ids)
    assert {"head_account", "head_types", "head_cluster", "position_spectrum"} <= set(found) and "qk_svd" not in found
    assert "qk_svd" in headwave.run(MODELS / "bert-mlm", ids=ids, everything=True)


def test_an_account_is_the_analysis_of_that_name(ids):
    found = headwave.account(MODELS / "bert-mlm", ids=ids)
    assert "head_account" in found and "wave_spectra" not in found
    same({"head_account": found["head_account"]}, {"head_account": headwave.run(MODELS / "bert-mlm", ids=ids)["head_account"]})


def test_progress_is_told():
    lines = []
    ids = np.random.default_rng(1).integers(3, 40, (60, 24))
    headwave.run(MODELS / "bert-mlm", ids=ids, documents=60, progress=lines.append, resamples=2000)
    assert any("attention: " in line and " of 60" in line for line in lines)


@pytest.mark.parametrize("threads", [1, 4])
def test_what_a_progress_function_raises_ends_the_job(ids, threads):
    def full(line):
        raise OSError(f"no room for {line}")

    with pytest.raises(OSError, match="no room for preparation"):
        headwave.run(MODELS / "bert-mlm", ids=ids, threads=threads, progress=full)


def refused(words, error=headwave.FormatError, **given):
    with pytest.raises(error, match=words) as raised:
        headwave.run(**given)
    assert "\n" not in str(raised.value)


def test_what_cannot_be_run_is_refused_in_one_line(tmp_path, ids):
    model = MODELS / "bert-mlm"
    refused("expected one of text, ids", model=model)
    refused("text and ids given", model=model, ids=ids, text="a")
    refused("ids needs model, which reads it", ids=ids)
    refused("the option reach is 'far', expected", model=model, ids=ids, reach="far")
    refused("reach", headwave.ShapeError, model=model, ids=ids, reach=-1)
    refused("the option everything is 1, expected True or False", model=model, ids=ids, everything=1)
    refused("nothing", headwave.IoError, model=tmp_path / "nothing", ids=ids)
    refused("expected whole numbers", model=model, ids=ids.astype(float))
    refused("ids: has 0 tokens", model=model, ids=[])
    refused("the model knows the ids", model=model, ids=ids + 100000)
    refused("layers='3-7': expected 0-N", model=model, ids=ids, layers="3-7")
    refused("weights='disk': expected auto, memory or layers", model=model, ids=ids, weights="disk")
    refused("layers does not apply to states", states=np.ones((2, 4, 4)), layers="0-1")
    refused("an empty dict", states={})
    refused("'hidden_states' is empty", headwave.ShapeError, states={"hidden_states": np.zeros((0, 4, 4))})
    refused("NaN", states={"attentions": np.full((1, 1, 1, 4, 4), np.nan)})
    refused("axes says the axes of dataset", states=np.ones((2, 4, 4)), axes="document,token,width")
    refused("any_states uses a norm of the model; give model too", states=np.ones((2, 4, 4)), any_states=True)
    refused("interventions does not apply to states", states=np.ones((2, 4, 4)), interventions=["words-only"])
    refused("heads does not apply with model, which says", model=model, states=np.ones((2, 4, 4)), heads=2)
    refused("length does not apply", states=np.ones((2, 4, 4)), length=3)
    refused("holds 3 documents, but 7 are requested", model=model, ids=ids, documents=7)


def test_ctrl_c_ends_a_job_within_a_second():
    ids = np.random.default_rng(1).integers(3, 40, (6000, 24))
    threading.Timer(0.7, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        headwave.run(MODELS / "bert-mlm", ids=ids, documents=6000)
    assert time.monotonic() - begun < 1.7


def test_a_thousand_calls_leave_nothing_behind(ids):
    def resident():
        return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def calls(count):
        for _ in range(count):
            result = headwave.run(MODELS / "gpt2", ids=ids[:1], only=["measured_offset"], threads=1)
            np.asarray(result["measured_offset"]["weight"])
            headwave.attend(ids[:, :, None], ids[:, :, None], ids[:, :, None], probe=lambda tile: None)
            with pytest.raises(headwave.Error):
                headwave.attend(ids, ids[:, :3])

    calls(100)
    before = resident()
    calls(1000)
    assert resident() - before < 8e6


@pytest.fixture()
def translator(tmp_path):
    """An encoder-decoder that reads single letters."""
    folder = tmp_path / "t5"
    shutil.copytree(MODELS / "t5", folder)
    vocabulary = {"[UNK]": 0, **{letter: 3 + i for i, letter in enumerate("abcdefgh")}}
    tokenizer = {"version": "1.0", "added_tokens": [], "pre_tokenizer": {"type": "Whitespace"},
                 "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                           "max_input_chars_per_word": 100, "vocab": vocabulary}}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    return folder


def test_two_texts_give_the_numbers_of_the_program_line_by_line(program, tmp_path, translator):
    text, target = "a b c d e\nf g h\n", "c b a\nd e f g h a\n"
    (tmp_path / "text").write_text(text)
    (tmp_path / "target").write_text(target)
    program("run", "--model", translator, "--text", tmp_path / "text", "--target", tmp_path / "target", "--no-figures", "--out", tmp_path / "out")
    from_files = headwave.run(translator, text=tmp_path / "text", target=tmp_path / "target")
    in_memory = headwave.run(translator, text=text, target=target)
    for kind in ("self", "causal", "cross"):
        theirs = headwave.open(tmp_path / "out" / kind / "results.h5")
        same(from_files[kind], theirs)
        same(in_memory[kind], theirs)


@pytest.mark.parametrize("given, problem", [
    (dict(text="a b\n", target="a\nb\n"), "expected equal numbers of lines"),
    (dict(text="a b\n", target="a\n", length=8), "length does not apply to target"),
    (dict(random_tokens=8, target="a\n"), "target belongs to a text, but random_tokens is not a text"),
])
def test_a_target_that_does_not_fit_is_refused(translator, given, problem):
    with pytest.raises(headwave.FormatError, match=problem):
        headwave.run(translator, **given)


@pytest.mark.parametrize("family", ["bert-mlm", "llama", "gpt2"])
def test_a_model_in_memory_has_the_evidence_and_the_sources_of_its_folder(family):
    """Its documents came with states, so both were left out, for the reason that states are stored."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    ids = np.random.default_rng(1).integers(3, 40, (6, 24)).tolist()
    of_folder = headwave.run(MODELS / family, ids=ids, reach=11)
    model = transformers.AutoModel.from_pretrained(MODELS / family).float().eval()
    with torch.inference_mode():
        found = headwave.run(model, ids=ids, reach=11)
    assert set(found) == set(of_folder) and {"score_sources", "account_evidence"} <= set(found)
    assert "undefined_evidence" not in found.provenance
    for group in ("account_evidence", "score_sources"):
        for name in of_folder[group].data_vars:
            one, other = found[group][name].values, of_folder[group][name].values
            if one.dtype.kind == "f":
                np.testing.assert_allclose(one, other, atol=1e-4, err_msg=f"{group}/{name}")
            else:
                np.testing.assert_array_equal(one, other, err_msg=f"{group}/{name}")


def test_documents_longer_than_the_files_of_a_checkpoint_name_get_a_warning(program, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(MODELS / "bert-mlm", folder)
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 20}')
    ids = np.random.default_rng(1).integers(3, 40, (3, 24)).tolist()
    said = "longer than the model was made for: 20 in sentence_bert_config.json .max_seq_length.; give "
    with pytest.warns(UserWarning, match="run: documents of up to 24 tokens are " + said + "length=20 or less"):
        result = headwave.run(folder, ids=ids, only=["measured_offset"], reach=5)
    assert result.provenance["named_length"] == 20
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        headwave.run(folder, ids=[one[:20] for one in ids], only=["measured_offset"], reach=5)
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    with pytest.warns(UserWarning, match=said):
        headwave.run(transformers.AutoModel.from_pretrained(folder).float().eval(), ids=ids, only=["measured_offset"], reach=5)


def test_literal_unk_strings_in_a_text_get_a_warning():
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")

    class Words:   # of a tokenizer what a run asks for
        all_special_ids, unk_token_id, bos_token_id, eos_token_id = [], None, None, None

        def __call__(self, text, **_):
            return {"input_ids": [3 + ord(one) % 30 for one in text]}

        def convert_ids_to_tokens(self, ids):
            return [str(one) for one in ids]

    model = transformers.AutoModel.from_pretrained(MODELS / "llama").float().eval()
    with pytest.warns(UserWarning, match="text: contains the string <unk> 6 times, which this tokenizer does not read as one token"):
        headwave.run(model, Words(), text="the <unk> of a <unk> " * 3, length=10, only=["measured_offset"], reach=5)
