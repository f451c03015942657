"""`headwave run --profiles`: what the program makes of sums that headwave.watch saved, against a run on the same model and documents."""

import itertools
import json
import os
import shutil
import subprocess

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
transformers = pytest.importorskip("transformers", minversion="5.0", reason="transformers 5 is not installed")
h5py = pytest.importorskip("h5py", reason="h5py is not installed")
if not hasattr(transformers, "PreTrainedModel"):
    pytest.skip("transformers cannot be used here", allow_module_level=True)

import headwave  # noqa: E402
from conftest import MODELS, program_file  # noqa: E402

SHARED = ("offset_trace", "measured_offset", "head_cluster")


def documents(lengths):
    random = np.random.default_rng(5)
    return [random.integers(3, 40, length).tolist() for length in lengths]


def saved(family, ids, path, **options):
    plain = {"attn_implementation": "eager", "experts_implementation": "eager"} if family == "gpt-oss" else {}
    model = transformers.AutoModel.from_pretrained(MODELS / family, **plain).float().eval()
    with torch.no_grad(), headwave.watch(model, exact=23, null=True, **options) as watch:
        for document in ids:
            model(torch.tensor([document]))
    watch.result().save(path)
    return path


def ran(program, tmp_path, name, *source, only="measured_offset,head_cluster"):
    program("run", *source, "--only", only, "--reach", 11, "--no-figures", "--out", tmp_path / name)
    return tmp_path / name / "results.h5"


def same(one, other, groups, skip=()):
    """Every array of some groups is the same in two results."""
    with h5py.File(one) as a, h5py.File(other) as b:
        compared = 0
        for group in groups:
            assert set(a[group]) == set(b[group])
            # Whether resampled clusters meet is decided by rounding where heads are alike, as those of random models are.
            for name in [name for name in a[group] if name not in skip and "stability" not in name]:
                x, y = a[group][name][()], b[group][name][()]
                if x.dtype.kind == "f":
                    scale = max(1.0, np.nanmax(np.abs(y), initial=0))
                    np.testing.assert_allclose(x, y, atol=1e-6 * scale, err_msg=f"{group}/{name}")
                else:
                    assert np.array_equal(x, y), f"{group}/{name}"
                compared += 1
        return compared


@pytest.mark.parametrize(("family", "lengths"), [("bert-mlm", [24] * 5), ("bert-mlm", [24, 24, 17, 24]), ("llama", [24] * 5), ("gpt2", [24, 9, 24]),
                                                 ("gemma2", [24] * 4)])
def test_measured_offsets_their_null_and_clusters_are_those_of_a_run_on_the_model(program, tmp_path, family, lengths):
    ids = documents(lengths)
    (tmp_path / "ids.json").write_text(json.dumps(ids))
    theirs = ran(program, tmp_path, "model", "--model", MODELS / family, "--ids", tmp_path / "ids.json")
    ours = ran(program, tmp_path, "profiles", "--profiles", saved(family, ids, tmp_path / "profiles.h5"))
    # Skewness is a quotient of small moments: its digits are fewer.
    assert same(ours, theirs, SHARED, skip=("null_skewness",)) > 20
    with h5py.File(ours) as a, h5py.File(theirs) as b:
        np.testing.assert_allclose(a["offset_trace/null_skewness"][()], b["offset_trace/null_skewness"][()], atol=1e-4)


@pytest.mark.parametrize(("family", "lengths", "special"), [("bert-mlm", [24] * 4, True), ("bert-mlm", [24, 24, 17], False), ("llama", [24] * 5, True),
                                                            ("gemma2", [24] * 4, False), ("gpt-oss", [24] * 3, False)])
def test_types_of_heads_are_those_of_a_run_on_the_model(program, tmp_path, family, lengths, special):
    """Every score, its baseline, where the largest weights lie, and what a head is called; documents hold copies of tokens."""
    random = np.random.default_rng(11)
    ids = [random.integers(3, 12, length).tolist() for length in lengths]
    (tmp_path / "ids.json").write_text(json.dumps(ids))
    named = {"special": [1, 2]} if special else {}
    theirs = ran(program, tmp_path, "model", "--model", MODELS / family, "--ids", tmp_path / "ids.json", only="head_types")
    ours = ran(program, tmp_path, "profiles", "--profiles", saved(family, ids, tmp_path / "profiles.h5", **named), only="head_types")
    with h5py.File(theirs) as file:
        assert np.isfinite(file["head_types/induction"][()]).all() and np.isfinite(file["head_types/duplicate_baseline"][()]).all()
    assert same(ours, theirs, ("head_types",), skip=("special_weight", "positional_offset")) > 15
    with h5py.File(ours) as file, h5py.File(theirs) as other:
        assert np.isnan(file["head_types/special_weight"][()]).all() != special
        # Of two offsets with as many queries, rounding may choose.
        share, found, expected = file["head_types/argmax_share"][()], file["head_types/positional_offset"][()], other["head_types/positional_offset"][()]
        for head in np.argwhere(found != expected):
            own, other_offset = found[tuple(head)], expected[tuple(head)]
            if not (np.isnan(own) and np.isnan(other_offset)):
                assert share[(*head, int(own) + 8)] == pytest.approx(share[(*head, int(other_offset) + 8)], abs=1e-6)


def test_several_files_hold_the_head_types_of_one(program, tmp_path):
    ids = np.random.default_rng(11).integers(3, 12, (5, 24)).tolist()
    whole = ran(program, tmp_path, "whole", "--profiles", saved("llama", ids, tmp_path / "whole.h5"), only="head_types")
    parts = [saved("llama", part, tmp_path / f"{i}.h5") for i, part in enumerate((ids[:2], ids[2:]))]
    (headwave.open(parts[0]) + headwave.open(parts[1])).save(tmp_path / "added.h5")
    assert same(ran(program, tmp_path, "added", "--profiles", tmp_path / "added.h5", only="head_types"), whole, ("head_types",)) > 15


@pytest.mark.parametrize("family", ["bart", "t5"])
def test_encoder_and_decoder_have_a_result_each(program, tmp_path, family):
    """Both kinds of self-attention of one file, and what becomes of cross-attention."""
    random = np.random.default_rng(3)
    pairs = [[(3 + random.permutation(37)[:24]).tolist() for _ in range(2)] for _ in range(4)]   # no token twice: T5 cannot tell copies apart
    (tmp_path / "ids.json").write_text(json.dumps([{"source": source, "target": target} for source, target in pairs]))
    model = transformers.AutoModel.from_pretrained(MODELS / family).float().eval()
    with torch.no_grad(), headwave.watch(model, exact=23, null=True) as watch:
        for source, target in pairs:
            model(input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([target]))
    watch.result().save(tmp_path / "profiles.h5")
    only = ("--only", "measured_offset,head_types,attention_distance", "--reach", 9, "--no-figures")
    program("run", "--profiles", tmp_path / "profiles.h5", *only, "--out", tmp_path / "ours")
    program("run", "--model", MODELS / family, "--ids", tmp_path / "ids.json", *only, "--out", tmp_path / "theirs")
    assert sorted(of.name for of in (tmp_path / "ours").iterdir() if of.is_dir()) == ["causal", "self"]
    for kind in ("self", "causal"):
        found, expected = (tmp_path / whose / kind / "results.h5" for whose in ("ours", "theirs"))
        assert same(found, expected, ("offset_trace", "measured_offset", "head_types"), skip=("null_skewness", "special_weight", "positional_offset")) > 20
        with h5py.File(found) as file:
            assert "cross" in str(file["provenance"].attrs["left_out_stacks"])
    # One kind of it by itself.
    watch.result().save(tmp_path / "one.h5", only=["causal"])
    one = ran(program, tmp_path, "one", "--profiles", tmp_path / "one.h5")
    with h5py.File(one) as file, h5py.File(tmp_path / "ours" / "causal" / "results.h5") as whole:
        np.testing.assert_array_equal(file["offset_trace/mean_weight"][()], whole["offset_trace/mean_weight"][()])
    with pytest.raises(headwave.FormatError, match="no stack 'causal_2'; expected one of self, causal, cross"):
        watch.result().save(tmp_path / "two.h5", only=["causal_2"])


def test_special_tokens_are_those_that_were_named(program, tmp_path):
    ids = [[1, *document, 2] for document in documents([22] * 4)]
    path = saved("bert-mlm", ids, tmp_path / "profiles.h5", special=[1, 2])
    ours = ran(program, tmp_path, "profiles", "--profiles", path)
    weights = []
    model = transformers.AutoModel.from_pretrained(MODELS / "bert-mlm", attn_implementation="eager").float().eval()
    with torch.no_grad():
        for document in ids:
            weights.append(torch.stack(model(torch.tensor([document]), output_attentions=True).attentions)[:, 0].double().numpy())
    offsets = np.arange(24)[None] - np.arange(24)[:, None]
    keep = np.ones(24, bool)
    keep[[0, -1]] = False
    with h5py.File(ours) as file:
        found = file["offset_trace/mean_weight"][1]
        for t in range(-23, 24):
            there = (offsets == t) & keep[:, None] & keep
            mean = np.mean([of[..., there].mean(-1) for of in weights], 0) if there.any() else np.full(found.shape[:2], np.nan)
            np.testing.assert_allclose(found[..., t + 23], mean, atol=1e-6)


def test_several_files_hold_the_documents_of_one(program, tmp_path):
    ids = documents([24] * 7)
    whole = ran(program, tmp_path, "whole", "--profiles", saved("llama", ids, tmp_path / "whole.h5"))
    parts = [saved("llama", part, tmp_path / f"{i}.h5") for i, part in enumerate((ids[:4], ids[4:]))]
    (headwave.open(parts[0]) + headwave.open(parts[1])).save(tmp_path / "added.h5")
    assert same(ran(program, tmp_path, "added", "--profiles", tmp_path / "added.h5"), whole, SHARED) > 20


WAYS = {"bert-mlm": "no positions in attention", "gpt2": "causal", "llama": "pairs (m, m + r/2), key heads", "cohere": "pairs (2m, 2m + 1)", "glm": "a part of them",
        "phi": "a part of a head", "phi3-longrope": "a gain", "modernbert": "two windows, two bases", "smollm3": "layers without positions", "t5": "biases"}


@pytest.mark.parametrize("family", WAYS)
def test_the_account_and_all_bits_are_those_of_a_run_on_the_model(family):
    """Watch keeps queries and keys, and the program's analyses finish them: every verdict is the same."""
    model = transformers.AutoModel.from_pretrained(MODELS / family, attn_implementation="sdpa").float().eval()
    ids, coder = documents([24] * 20 + [17] + [24] * 3), model.config.is_encoder_decoder
    with torch.no_grad(), headwave.watch(model, exact=23, deal=True) as watch:
        for document in ids:
            model(torch.tensor([document]), decoder_input_ids=torch.tensor([document])) if coder else model(torch.tensor([document]))
    options = {"only": ["head_account", "attention_bits"], "reach": 11}
    found = headwave.run(profiles=watch.result(), **options)
    expected = headwave.run(MODELS / family, ids=[{"source": one, "target": one} for one in ids] if coder else ids, **options)
    require_same_account(*((found["causal"], expected["causal"]) if coder else (found, expected)))


def require_same_account(found, expected):
    for group, names in (("head_account", ("measured_profile", "dealt_profile", "overlap", "part", "part_lower", "part_upper", "p_value")),
                         ("attention_bits", ("bits", "part", "gain", "sink_mass")), ("attention_words", ("word_id", "ratio", "found", "class_gain"))):
        assert set(found[group]) == set(expected[group])
        for name in names:
            np.testing.assert_allclose(found[group][name], expected[group][name], atol=1e-5, err_msg=f"{group}/{name}")
    assert found["head_account/dealt_profile"].attrs["dealt_documents"] == expected["head_account/dealt_profile"].attrs["dealt_documents"]
    np.testing.assert_array_equal(found["head_account/verdict"], expected["head_account/verdict"])


def test_words_that_draw_attention_have_the_texts_of_the_tokenizer(tmp_path):
    """As the program spells them, from memory and from a file; none without a tokenizer."""
    class Tokenizer:
        all_special_ids = [3]

        def convert_ids_to_tokens(self, ids):
            return [f"\u2581w{i}" for i in ids]

    model = transformers.AutoModel.from_pretrained(MODELS / "llama").float().eval()
    with torch.no_grad():
        model.layers[0].self_attn.q_proj.weight *= 30   # so that some words draw much attention
    for tokenizer in (Tokenizer(), None):
        with torch.no_grad(), headwave.watch(model, exact=23, deal=True, tokenizer=tokenizer) as watch:
            for document in documents([24] * 60):
                model(torch.tensor([document]))
        watch.result().save(tmp_path / "words.h5", overwrite=True)
        for profiles in (watch.result(), tmp_path / "words.h5"):
            found = headwave.run(profiles=profiles, only="attention_bits", reach=11)
            ids, texts = (np.ravel(found[f"attention_words/{name}"]).tolist() for name in ("word_id", "word"))
            named = {text for token, text in zip(ids, texts) if token >= 0}
            assert named and named == ({f" w{int(token)}" for token in ids if token >= 0} if tokenizer else {""})


def test_an_account_in_parts_and_from_files_is_that_of_one_watch(program, tmp_path):
    ids = documents([24] * 18)
    whole = saved("llama", ids, tmp_path / "whole.h5", deal=True)
    parts = [saved("llama", part, tmp_path / f"{i}.h5", deal=True) for i, part in enumerate((ids[:16], ids[16:]))]
    added = headwave.open(parts[0]) + headwave.open(parts[1])
    options = {"only": ["head_account", "attention_bits"], "reach": 11}
    expected = headwave.run(profiles=headwave.open(whole), **options)
    for given in (whole, added):
        require_same_account(headwave.run(profiles=given, **options), expected)
    added.save(tmp_path / "added.h5")
    ran(program, tmp_path, "program", "--profiles", tmp_path / "added.h5", only="head_account,attention_bits")
    require_same_account(headwave.open(tmp_path / "program"), expected)


def test_layers_that_attend_in_three_ways_have_no_account(tmp_path):
    profiles = headwave.open(saved("smollm3", documents([24] * 8), tmp_path / "profiles.h5", deal=True))
    profiles["causal"].account_window[:] = [0, 3, 4]
    with pytest.warns(UserWarning, match="no result of head_account: its layers attend in more than two ways"):
        headwave.run(profiles=profiles, only=["head_account", "measured_offset"], reach=11)


def test_profiles_in_memory_are_read_where_they_lie(tmp_path, monkeypatch):
    profiles = headwave.open(saved("llama", documents([24] * 8), tmp_path / "profiles.h5", deal=True))
    for name in ("TemporaryDirectory", "NamedTemporaryFile", "mkdtemp", "mkstemp"):
        monkeypatch.setattr(f"tempfile.{name}", None)
    monkeypatch.setattr("h5py.File", None)
    result = headwave.run(profiles=profiles, only=["head_account"], reach=11)
    assert "head_account" in result and result.provenance["source_file"] == "memory" and "source_sha256" not in result.provenance


@pytest.fixture()
def refused(tmp_path):
    program = program_file()
    if not program or not os.path.exists(program):
        pytest.skip("there is no program to compare with; name it: HEADWAVE_PROGRAM=build/release/headwave")

    def run(file, **options):
        arguments = [program, "-q", "run", "--out", str(tmp_path / "out"), "--profiles", str(file)]
        for name, value in options.items():
            arguments += [f"--{name}", str(value)]
        done = subprocess.run(arguments, capture_output=True, text=True)
        assert done.returncode != 0 and not (tmp_path / "out" / "results.h5").exists()
        return done.stderr

    return run


def test_files_that_are_no_profiles_are_refused_by_name(tmp_path, refused):
    good = saved("llama", documents([24] * 3), tmp_path / "good.h5")

    def changed(change):
        shutil.copy(good, tmp_path / "bad.h5")
        with h5py.File(tmp_path / "bad.h5", "a") as file:
            change(file)
        return refused(tmp_path / "bad.h5", reach=11)

    def replaced(name, values):
        def change(file):
            del file[name]
            file[name] = values
        return change

    with h5py.File(good) as file:
        trace = file["causal/trace"][()]
    assert "file of profiles" in changed(lambda file: file.attrs.modify("format", "other"))
    assert "is of format 1" in changed(lambda file: file.attrs.modify("format_version", 1))
    assert "null=True" in changed(lambda file: file.__delitem__("causal/null_root"))
    assert "expected (3, 2, 4, any)" in changed(replaced("causal/trace", trace[:1]))
    assert "'causal/trace_mean' has the shape" in changed(replaced("causal/trace", trace[..., 1:]))
    assert "tokens; expected 1" in changed(replaced("causal/length", np.array([24, 0, 24])))
    assert "several stacks of layers of one kind (causal, causal_2)" in changed(lambda file: file.copy("causal", "causal_2"))
    assert "holds no stack of self-attention (cross)" in changed(lambda file: file.move("causal", "cross"))
    assert "good.h5: the null reaches 11 tokens" in refused(good, reach=12)
    assert "does not apply to --profiles" in refused(good, documents=2)
    (tmp_path / "text.h5").write_text("no HDF5 file at all")
    assert "text.h5" in refused(tmp_path / "text.h5")


def test_numbers_that_no_watch_sums_end_no_program(tmp_path):
    """A file of profiles may be damaged: whatever an array holds, a run ends with a result or with words."""
    program = program_file()
    if not program or not os.path.exists(program):
        pytest.skip("there is no program to compare with; name it: HEADWAVE_PROGRAM=build/release/headwave")
    good = saved("llama", documents([24] * 6), tmp_path / "good.h5", deal=True)
    with h5py.File(good) as file:
        names = [name for name, of in file["causal"].items() if of.dtype.kind in "fi"]
    assert len(names) > 40
    for name, value in zip(names, itertools.cycle([np.nan, -3, 1e300, 0])):
        shutil.copy(good, tmp_path / "bad.h5")
        with h5py.File(tmp_path / "bad.h5", "a") as file:
            of = file["causal"][name]
            limits = (-np.inf, np.inf) if of.dtype.kind == "f" else (np.iinfo(of.dtype).min, np.iinfo(of.dtype).max)
            of[...] = np.full(of.shape, np.clip(np.nan_to_num(value, nan=0) if of.dtype.kind == "i" else value, *limits)).astype(of.dtype)
        done = subprocess.run([program, "-q", "run", "--profiles", tmp_path / "bad.h5", "--reach", "11", "--resamples", "9", "--no-figures", "--force", "--out",
                               tmp_path / "out"], capture_output=True, text=True)
        assert done.returncode in (0, 1), f"{name}: {done.returncode} {done.stderr}"
        assert done.returncode == 0 or "bad.h5" in done.stderr, f"{name}: {done.stderr}"


def test_python_runs_on_files_and_on_profiles_in_memory(program, tmp_path):
    file = saved("llama", documents([24] * 6), tmp_path / "profiles.h5")
    expected = headwave.open(ran(program, tmp_path, "theirs", "--profiles", file, only="measured_offset,head_types"))
    for given in (file, str(file), headwave.open(file)):
        found = headwave.run(profiles=given, only=["measured_offset", "head_types"], reach=11)
        assert found.computed_by == "watch" and set(found) == set(expected)
        for name in ("offset_trace/mean_weight", "measured_offset/offset", "head_types/induction"):
            np.testing.assert_array_equal(found[name], expected[name])
        found.save(tmp_path / "again.h5", overwrite=True)
        assert headwave.open(tmp_path / "again.h5").computed_by == "watch"
    assert found.provenance["source_file"] == "memory"
    for given, message in (({"profiles": 3}, "profiles is of type int; expected Profiles"), ({"profiles": [file]}, "list; expected .* add several of them: one . two"),
                           ({"profiles": file, "documents": 2}, "documents does not apply to profiles"),
                           ({"model": "llama", "profiles": file}, "model does not apply to profiles, .*; omit it"), ({"profiles": tmp_path / "none.h5"}, "none.h5"),
                           ({"profiles": file, "only": "wave_spectra"}, "wave_spectra: needs documents or weights")):
        with pytest.raises(headwave.Error, match=message):
            headwave.run(**given)


def test_encoders_of_other_texts_are_other_documents(program, tmp_path):
    """Decoders begin alike, as those that are prompted do; what the encoder reads tells documents apart."""
    random = np.random.default_rng(4)
    model = transformers.AutoModel.from_pretrained(MODELS / "bart").float().eval()
    for name in ("0", "1"):
        with torch.no_grad(), headwave.watch(model, exact=23, null=True) as watch:
            for document in range(3):
                model(input_ids=torch.tensor([random.integers(3, 40, 24).tolist()]), decoder_input_ids=torch.tensor([[2, 5, 6 + document, 7]]))
        watch.result().save(tmp_path / f"{name}.h5")
        program("run", "--profiles", tmp_path / f"{name}.h5", "--only", "measured_offset", "--reach", 9, "--no-figures", "--out", tmp_path / name)
    both = headwave.open(tmp_path / "0.h5") + headwave.open(tmp_path / "1.h5")
    assert both["self"].documents == 6
    assert headwave.run(profiles=both, only="measured_offset", reach=9)["causal"].provenance["documents"] == 6
    assert "3 others" in program("compare", tmp_path / "0" / "causal", tmp_path / "1" / "causal", returns=(0, 3))
    with pytest.raises(headwave.ShapeError, match="each counts once"):
        headwave.open(tmp_path / "0.h5") + headwave.open(tmp_path / "0.h5")
    # The decoder by itself is still told by what the encoder read.
    for name in ("0", "1"):
        headwave.open(tmp_path / f"{name}.h5").save(tmp_path / f"{name}.causal.h5", only="causal")
    assert (headwave.open(tmp_path / "0.causal.h5") + headwave.open(tmp_path / "1.causal.h5"))["causal"].documents == 6


def test_documents_are_known_again_after_they_are_added_up(program, tmp_path):
    ids = documents([24] * 8)
    ran(program, tmp_path, "one", "--profiles", saved("llama", ids, tmp_path / "whole.h5"))
    parts = [saved("llama", part, tmp_path / f"{i}.h5") for i, part in enumerate((ids[:3], ids[3:]))]
    (headwave.open(parts[0]) + headwave.open(parts[1])).save(tmp_path / "added.h5")
    ran(program, tmp_path, "two", "--profiles", tmp_path / "added.h5")
    assert "the same 8 documents" in program("compare", tmp_path / "one", tmp_path / "two", returns=(0, 3))
    whole, part = headwave.open(tmp_path / "whole.h5"), headwave.open(parts[0])
    with pytest.raises(headwave.ShapeError, match="both hold the same documents"):
        whole + part


def test_files_that_were_watched_otherwise_are_not_put_together(tmp_path):
    ids = documents([24] * 6)
    one = saved("llama", ids[:3], tmp_path / "one.h5", special=[1, 2])
    for other, message in ((saved("llama", ids[3:], tmp_path / "two.h5", special=[5]), r"special=\[1, 2\] in one and special=\[5\]"),
                           (saved("llama", ids[3:], tmp_path / "three.h5", special=[1, 2], deal=True), "deal=False in one and deal=True")):
        with pytest.raises(headwave.ShapeError, match=message):
            headwave.open(one) + headwave.open(other)


def test_a_model_that_looks_ahead_in_some_documents_is_refused():
    model = transformers.AutoModel.from_pretrained(MODELS / "llama").float().eval()
    ahead = torch.zeros(1, 1, 6, 6)
    said = "null=True: .* looked only back in the documents before, but ahead too in document 1"
    with torch.no_grad(), headwave.watch(model, null=True), pytest.raises(headwave.FormatError, match=said):
        model(torch.tensor([[5, 6, 7, 8, 9, 10]]))
        model(torch.tensor([[5, 6, 7, 8, 9, 11]]), attention_mask=ahead)


def test_special_tokens_are_unknown_where_ids_are():
    model = transformers.AutoModel.from_pretrained(MODELS / "llama").float().eval()
    with torch.no_grad(), headwave.watch(model, exact=23, null=True, special=[1, 2]) as watch:
        for document in documents([24] * 3):
            model(inputs_embeds=model.get_input_embeddings()(torch.tensor([document])))
    result = headwave.run(profiles=watch.result(), only="head_types", reach=11)
    found = result["head_types"]
    assert np.isnan(np.asarray(found["special_weight"])).all() and np.isnan(np.asarray(found["duplicate"])).all()
    assert result.provenance["ids_sha256"] == "not seen" and "documents without ids" in result.provenance["special_tokens"]


def test_profiles_of_the_same_documents_are_compared_document_by_document(program, tmp_path):
    model = transformers.AutoModel.from_pretrained(MODELS / "llama").float().eval()
    for name in ("before", "after"):
        with torch.no_grad(), headwave.watch(model, exact=23, null=True) as watch:
            for document in documents([24] * 8):
                model(torch.tensor([document]))
            for parameter in model.parameters():
                parameter.mul_(1.2)
        watch.result().save(tmp_path / f"{name}.h5")
        ran(program, tmp_path, name, "--profiles", tmp_path / f"{name}.h5")
    said = program("compare", tmp_path / "before", tmp_path / "after", returns=(0, 3))
    assert "two models of one shape, the same 8 documents" in said and "model_weights_digest" in said and "source_file" not in said
    # Further documents of other weights are no documents of this model.
    with pytest.raises(headwave.ShapeError, match="weights_digest"):
        headwave.open(tmp_path / "before.h5") + headwave.open(tmp_path / "after.h5")


@pytest.mark.parametrize("option", ["--draws", "--map-document", "--rows"])
def test_options_about_documents_are_refused(tmp_path, refused, option):
    good = saved("llama", documents([24] * 3), tmp_path / "good.h5")
    read = headwave.run(profiles=good, only="head_cluster", reach=11, sweep=2, clusters=2)   # of an analysis that profiles give
    assert read.provenance["sweep"] == 2
    name = option.removeprefix("--")
    assert f"the option {name.replace('-', '_')} needs documents or weights" in refused(good, **{name: 4})
    with pytest.raises(headwave.ShapeError, match="needs documents or weights, but profiles hold only sums"):
        headwave.run(profiles=good, **{name.replace("-", "_"): 4})


def test_a_job_file_of_a_run_on_profiles_is_run_again(program, tmp_path):
    good = saved("llama", documents([24] * 3), tmp_path / "good.h5")
    first = ran(program, tmp_path, "first", "--profiles", good)
    (tmp_path / "job.toml").write_text(program("inspect", first.parent, "--job"))
    program("run", "--job", tmp_path / "job.toml", "--no-figures", "--out", tmp_path / "again")
    assert same(tmp_path / "again" / "results.h5", first, SHARED) > 20


@pytest.mark.parametrize("family", ["bert-mlm", "llama"])
def test_sums_of_the_null_compute_no_weight_again(family, monkeypatch):
    from headwave.profiles.tiles import Scores

    model = transformers.AutoModel.from_pretrained(MODELS / family).float().eval()
    ids, computed, plain = torch.tensor(documents([24] * 3)), [], Scores.weights_of
    monkeypatch.setattr(Scores, "weights_of", lambda self, s, heads: computed.append(s.numel()) or plain(self, s, heads))
    weights = []
    for null in (False, True):
        computed.clear()
        with torch.no_grad(), headwave.watch(model, exact=23, null=null, kernel="torch"):
            model(ids)
        weights.append(sum(computed))
    assert weights[0] == weights[1] > 0


def test_what_the_null_cannot_be_summed_of_is_refused_by_name():
    model = transformers.AutoModel.from_pretrained(MODELS / "llama").float().eval()
    for options, inputs, message in (({"null": True, "first": 2}, [[5, 6, 7]], "null=True: .*first=2"), ({"null": True}, [[5]], "one token"),
                                     ({"deal": True}, [[5]], "watch: deal=True: .*one token")):
        with torch.no_grad(), headwave.watch(model, **options), pytest.raises(headwave.FormatError, match=message):
            model(torch.tensor(inputs))
    with torch.no_grad(), headwave.watch(model, null=True), pytest.raises(headwave.FormatError, match="without a cache"):
        cache = model(torch.tensor([[5, 6, 7]]), use_cache=True).past_key_values
        model(torch.tensor([[8]]), past_key_values=cache, use_cache=True)


def test_distances_are_those_of_the_sums_logarithmic_bins_and_errors_among_them(program, tmp_path):
    """A file's in the program, and those that Python asks for, over documents four times as long as `exact`."""
    model = transformers.AutoModel.from_pretrained(MODELS / "llama").float().eval()
    random = np.random.default_rng(7)
    with torch.no_grad(), headwave.watch(model, exact=23, null=True) as watch:
        for _ in range(5):
            model(torch.tensor([random.integers(3, 40, 96).tolist()]))
    watch.result().save(tmp_path / "profiles.h5")
    path = ran(program, tmp_path, "profiles", "--profiles", tmp_path / "profiles.h5", only="attention_distance")
    stack = headwave.open(tmp_path / "profiles.h5")["causal"]
    own = stack.distances()
    with h5py.File(path) as file:
        found = {name: of[()] for name, of in file["attention_distance"].items() if name not in ("layer", "head", "key_head")}
    assert len(found["distance"]) < 40 and found["recent"].tolist() == [64]
    assert set(found) == {*own.data_vars, "distance", "recent", "slash"} if hasattr(own, "data_vars") else True
    for name in set(found) & set(own):
        np.testing.assert_allclose(found[name], own[name], rtol=1e-12, err_msg=name)
    np.testing.assert_allclose(found["weight"], stack.mean_weight()[..., ::-1], rtol=1e-6)
    # A run on the model has the same distances where all have bins of their own, and no blocks.
    (tmp_path / "ids.json").write_text(json.dumps(ids := documents([24] * 5)))
    ours = ran(program, tmp_path, "short", "--profiles", saved("llama", ids, tmp_path / "short.h5"), only="attention_distance")
    theirs = ran(program, tmp_path, "model", "--model", MODELS / "llama", "--ids", tmp_path / "ids.json", only="attention_distance")
    with h5py.File(ours) as a, h5py.File(theirs) as b:
        for name in ("weight", "held", "window_95", "key_head_window_95"):
            np.testing.assert_allclose(a["attention_distance"][name][()], b["attention_distance"][name][()], rtol=1e-5)
        assert np.isnan(b["attention_distance/window_95_error"][()]).all()


def test_a_file_beside_profiles_is_neither_written_through_nor_removed(tmp_path):
    """save() wrote to NAME.unfinished: through a link of that name, and removed a file of that name."""
    path = saved("llama", documents([24] * 2), tmp_path / "made.h5")
    profiles = headwave.open(path)
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "linked.h5.headwave-partial").symlink_to(tmp_path / "precious")
    (tmp_path / "there.h5.unfinished").write_text("mine too")
    (tmp_path / "pattern").mkdir()
    (tmp_path / "pattern" / "config.json.headwave-partial").symlink_to(tmp_path / "precious")
    for refused in (lambda: profiles.save(tmp_path / "linked.h5"), lambda: profiles.export("duo_attention", tmp_path / "pattern")):
        with pytest.raises(headwave.IoError, match="headwave-partial: cannot be written"):
            refused()
    profiles.save(tmp_path / "there.h5")
    assert (tmp_path / "precious").read_text() == "mine" and (tmp_path / "there.h5.unfinished").read_text() == "mine too"
    assert (tmp_path / "linked.h5.headwave-partial").is_symlink() and len(list((tmp_path / "pattern").iterdir())) == 1
    assert headwave.open(tmp_path / "there.h5")["causal"].documents == 2
    umask = os.umask(0)
    os.umask(umask)
    assert (tmp_path / "there.h5").stat().st_mode & 0o777 == 0o666 & ~umask
    (tmp_path / "left.h5.headwave-partial").write_text("of a process that died")
    profiles.save(tmp_path / "left.h5")
    assert not (tmp_path / "left.h5.headwave-partial").exists() and headwave.open(tmp_path / "left.h5")["causal"].documents == 2


def test_profiles_that_were_changed_are_refused_by_their_digest(program, tmp_path, refused):
    path = saved("llama", documents([24] * 3), tmp_path / "profiles.h5")
    assert "intact: all bytes" in program("validate", path)
    with h5py.File(path) as file:
        at = file["causal/trace"].id.get_chunk_info(0).byte_offset
    damaged = bytearray(path.read_bytes())
    damaged[at + 20] ^= 4
    (tmp_path / "damaged.h5").write_bytes(damaged)
    assert "was changed or damaged after it was written: the digest at its end" in program("validate", tmp_path / "damaged.h5", returns=(3,))
    with pytest.raises(headwave.FormatError, match="damaged.h5: was changed or damaged after it was written: the digest at its end does not match its content"):
        headwave.open(tmp_path / "damaged.h5")
    assert "was changed or damaged after it was written: the digest at its end does not match its content" in refused(tmp_path / "damaged.h5")
    shutil.copy(path, tmp_path / "edited.h5")
    with h5py.File(tmp_path / "edited.h5", "r+") as file:   # HDF5 cuts the digest off
        file.attrs["remark"] = '"mine"'
    assert "the digest at its end is missing" in program("validate", tmp_path / "edited.h5", returns=(3,))
    assert headwave.open(tmp_path / "edited.h5")["causal"].documents == 3


@pytest.mark.parametrize("engine", ["h5netcdf", "netcdf4"])
def test_xarray_opens_every_group_of_profiles(tmp_path, engine):
    """One axis without a dimension scale made a whole group unreadable."""
    xarray = pytest.importorskip("xarray", reason="xarray is not installed")
    pytest.importorskip({"netcdf4": "netCDF4"}.get(engine, engine), reason=f"{engine} is not installed")
    path = saved("llama", documents([24] * 5), tmp_path / "profiles.h5", deal=True, queries=True)
    coder = transformers.AutoModel.from_pretrained(MODELS / "bart").float().eval()
    with torch.no_grad(), headwave.watch(coder) as watch:
        coder(input_ids=torch.tensor(documents([24])), decoder_input_ids=torch.tensor(documents([20])))
    watch.result().save(tmp_path / "coder.h5")
    for file, groups in ((path, ["causal"]), (tmp_path / "coder.h5", ["self", "causal", "cross"])):
        profiles = headwave.open(file)
        with xarray.open_datatree(file, engine=engine) as opened:
            assert sorted(opened.children) == sorted(groups) and opened.attrs["model"] == profiles.model
        for group in groups:
            with xarray.open_dataset(file, group=group, engine=engine) as opened:
                assert all(dim in opened.coords for dim in opened.dims) and opened.attrs["heads"] == profiles[group].heads
                assert opened.entropy.dims == ("block", "layer", "head")
                np.testing.assert_allclose(opened.weight.sel(kind="apart"), profiles[group].weight[:, :, 1], rtol=1e-6)
    with xarray.open_dataset(path, group="causal", engine=engine) as opened:
        stack = headwave.open(path)["causal"]
        for axis, name in (("offset", "trace"), ("near", "null_weight"), ("near_offset", "argmax_share")):
            assert list(opened[axis].values) == list(range(-(opened.sizes[axis] // 2), opened.sizes[axis] // 2 + 1)) and axis in opened[name].dims
        # Weights one token back of all pairs, by two ways.
        of_bins = opened.weight.sum(["block", "kind"]).isel(bin=list(stack.first_offset).index(-1))
        np.testing.assert_allclose(opened.trace.sel(pairs_kind="all", offset=-1), of_bins, rtol=1e-5)
        assert opened.kept_query.dims == ("kept_document", "layer", "position", "head", "component")
