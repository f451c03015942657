"""A real model as a GGUF file, against the same model as safetensors; and GGUF files as input of the package."""

import importlib.util
import json
import pathlib

import numpy as np
import pytest

import headwave

from conftest import ROOT

FILES = ROOT / "tests" / "golden" / "gguf"
STORIES = ROOT.parent / "shared" / "data" / "stories260K"
SHAKESPEARE = ROOT.parent / "shared" / "data" / "text" / "tinyshakespeare" / "input.txt"


@pytest.fixture(scope="module")
def maker():
    """tests/golden/make_gguf.py, where the package gguf and transformers are there."""
    for name in ("gguf", "torch", "transformers"):
        pytest.importorskip(name, reason=f"{name} is not installed")
    spec = importlib.util.spec_from_file_location("make_gguf", ROOT / "tests" / "golden" / "make_gguf.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def stories(maker, tmp_path_factory):
    """Writes stories260K with its tokenizer, its weights in a type."""
    import gguf
    import transformers

    if not STORIES.is_dir():
        pytest.skip("shared data is not there")
    model = transformers.LlamaForCausalLM.from_pretrained(STORIES)
    pieces = json.loads((STORIES / "vocab_scores.json").read_text(encoding="utf-8"))

    def vocabulary(writer):
        kind = lambda i, piece: (gguf.TokenType.UNKNOWN if i == 0 else gguf.TokenType.CONTROL if i < 3
                                 else gguf.TokenType.BYTE if piece.startswith("<0x") else gguf.TokenType.NORMAL)
        writer.add_tokenizer_model("llama")
        writer.add_token_list([piece.encode() for piece in pieces["pieces"]])
        writer.add_token_scores(pieces["scores"])
        writer.add_token_types([kind(i, piece) for i, piece in enumerate(pieces["pieces"])])
        writer.add_bos_token_id(1)
        writer.add_eos_token_id(2)
        writer.add_unk_token_id(0)

    def written(kind):
        def convert(name, values):
            # As llama.cpp does: what has no whole blocks in a row stays, and so does what is no matrix.
            if kind == "F32" or values.ndim < 2 or values.shape[-1] % 32 != 0:
                return values, None
            of = gguf.GGMLQuantizationType[kind]
            return gguf.quants.quantize(values, of), of

        path = tmp_path_factory.mktemp("gguf") / f"stories-{kind}.gguf"
        maker.write_model(path, "llama", model, convert, vocabulary)
        return path

    return written


def weights(result):
    return np.asarray(result["measured_offset"].weight)


def test_a_real_model_as_gguf_gives_what_its_safetensors_give(stories):
    path = stories("F32")
    options = dict(text=SHAKESPEARE, documents=3, length=96, only=["measured_offset"])
    there, here = headwave.run(str(STORIES), **options), headwave.run(str(path), **options)
    assert np.array_equal(np.asarray(there["measured_offset"].offset), np.asarray(here["measured_offset"].offset), equal_nan=True)
    assert np.array_equal(weights(there), weights(here), equal_nan=True)  # the numbers are the same, and so are the ids
    assert here.provenance["weights_stored_as"] == "F32 47 tensors"
    assert here.provenance["tokenizer_sha256"] == here.provenance["model_sha256"]
    assert here.provenance["model"] == str(path)


@pytest.mark.parametrize("kind, apart", [("F16", 1e-3), ("BF16", 1e-2), ("Q8_0", 1e-2), ("Q4_0", 0.2)])
def test_a_quantised_model_attends_nearly_as_the_whole_one(stories, kind, apart):
    options = dict(text=SHAKESPEARE, documents=3, length=96, only=["measured_offset"])
    whole, here = headwave.run(str(STORIES), **options), headwave.run(str(stories(kind)), **options)
    difference = np.nanmax(np.abs(weights(whole) - weights(here)))
    assert 0 < difference < apart
    assert kind in here.provenance["weights_stored_as"]
    assert here.provenance["weights_stored_as"].endswith("dequantised to float32") == kind.startswith("Q")


def test_layers_read_one_by_one_give_the_same_digits(stories):
    options = dict(text=SHAKESPEARE, documents=2, length=64, only=["measured_offset"])
    path = str(stories("Q8_0"))
    assert np.array_equal(weights(headwave.run(path, **options)), weights(headwave.run(path, weights="layers", **options)), equal_nan=True)


def test_ids_and_random_tokens_need_no_tokenizer(ids):
    path = str(FILES / "llama.gguf")
    assert np.isfinite(weights(headwave.run(path, ids=ids % 20, only=["measured_offset"]))).any()
    headwave.run(path, random_tokens=8, only=["measured_offset"])
    headwave.atlas(path, passes=0, length=16, reach=8)
    with pytest.raises(headwave.FormatError, match="'tokenizer.ggml.model' is missing.* give ids=FILE"):
        headwave.run(path, text="a text of some words")


def test_what_is_not_there_or_not_known_is_said_of_the_file(tmp_path):
    with pytest.raises(headwave.IoError, match="model.gguf: not found; expected .* or a GGUF file"):
        headwave.run("model.gguf", text="a text of some words")
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    with pytest.raises(headwave.FormatError, match="model.gguf: ends within its header"):
        headwave.run(str(tmp_path / "model.gguf"), text="a text of some words")
    with pytest.raises(headwave.FormatError, match="give the path of the file itself as the model"):
        headwave.run(str(tmp_path), text="a text of some words")
