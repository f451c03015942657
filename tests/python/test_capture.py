import json
import os
import shutil
import signal
import threading
import time

import numpy as np
import pytest

import headwave

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

SIZES = {
    "bert": ("BertModel", "BertConfig", dict(hidden_size=32, num_attention_heads=4, num_hidden_layers=3, intermediate_size=64,
                                             max_position_embeddings=64)),
    "gpt2": ("GPT2Model", "GPT2Config", dict(n_embd=32, n_head=4, n_layer=3, n_positions=64, bos_token_id=1, eos_token_id=2)),
    "llama": ("LlamaModel", "LlamaConfig", dict(hidden_size=32, num_attention_heads=4, num_key_value_heads=2, num_hidden_layers=3,
                                                intermediate_size=64, max_position_embeddings=64)),
}


@pytest.fixture(scope="module", params=list(SIZES))
def model(request):
    name, config, sizes = SIZES[request.param]
    torch.manual_seed(1)
    made = getattr(transformers, name)(getattr(transformers, config)(vocab_size=100, **sizes))
    for parameter in made.parameters():  # as it comes, attention is nearly the same everywhere
        if parameter.ndim > 1:
            torch.nn.init.normal_(parameter, std=0.3)
    made.set_attn_implementation("eager")
    return made.eval()


@pytest.fixture(scope="module")
def batch():
    return torch.randint(3, 100, (3, 40), generator=torch.Generator().manual_seed(1))


def eager(model, batch):
    """Attention of the first document as PyTorch computes it, (layers * heads, T, T)."""
    with torch.no_grad():
        layers = model(batch, output_attentions=True).attentions
    return torch.stack(layers)[:, 0].flatten(0, 1).numpy()


def map_of(result):
    return np.asarray(result["attention_map/weight"])


def passed(model, batch, file, **given):
    with headwave.capture(model, file, **given) as capture, torch.no_grad():
        model(batch[:2])
        model(batch[2:])
    assert capture.documents == 3
    return file


def test_captured_queries_and_keys_give_the_models_attention(model, batch, tmp_path):
    file = passed(model, batch, tmp_path / "p.h5", what="projections")
    result = headwave.run(states=file, only=["attention_map"])
    assert np.abs(map_of(result) - eager(model, batch)).max() < 1e-5


def test_captured_states_give_the_models_attention(model, batch, tmp_path):
    model.save_pretrained(tmp_path / "model")
    file = passed(model, batch, tmp_path / "s.h5")
    result = headwave.run(tmp_path / "model", states=file, only=["attention_map"])
    assert np.abs(map_of(result) - eager(model, batch)).max() < 1e-5
    half = passed(model, batch, tmp_path / "h.h5", dtype="float16", layers=[0, 2])
    result = headwave.run(tmp_path / "model", states=half, only=["measured_offset"])
    assert list(np.asarray(result["measured_offset/offset"].coords["layer"])) == [0, 2]


def test_a_model_is_run_and_followed_without_a_file(model, batch):
    result = headwave.run(model, ids=batch.numpy())
    assert np.abs(map_of(result) - eager(model, batch)).max() < 1e-5
    assert result.provenance["captured_from"] == type(model).__name__ and "position_split" in result


def test_weights_are_the_modules_own(model, batch, tmp_path):
    model.save_pretrained(tmp_path / "model")
    whole = ["qk_svd"]
    ours, theirs = headwave.run(model, ids=batch.numpy(), only=whole), headwave.run(tmp_path / "model", ids=batch.numpy(), only=whole)
    assert np.array_equal(ours["qk_svd/gain"], theirs["qk_svd/gain"], equal_nan=True)


def test_padding_is_left_out(model, batch, tmp_path):
    padded = torch.cat([batch, torch.zeros(3, 8, dtype=torch.long)], 1)
    mask = torch.cat([torch.ones_like(batch), torch.zeros(3, 8, dtype=torch.long)], 1)
    with headwave.capture(model, tmp_path / "p.h5", what="projections"), torch.no_grad():
        model(padded, attention_mask=mask)
    result = headwave.run(states=tmp_path / "p.h5", only=["attention_map"])
    assert np.abs(map_of(result) - eager(model, batch)).max() < 1e-5
    with pytest.raises(headwave.ShapeError, match="hides every token of document 0"):
        with headwave.capture(model, tmp_path / "q.h5"), torch.no_grad():
            model(padded, attention_mask=0 * mask)


def test_nothing_is_left_where_something_is_raised(model, batch, tmp_path):
    def hooks():
        return sum(len(module._forward_hooks) + len(module._forward_pre_hooks) for module in model.modules())

    with torch.no_grad():
        model(batch, output_attentions=True)  # which leaves hooks of transformers' own
    before = hooks()
    with pytest.raises(RuntimeError, match="enough"):
        with headwave.capture(model, tmp_path / "s.h5"):
            model(batch)
            raise RuntimeError("enough")
    with pytest.raises(headwave.ShapeError, match="did not run"):
        with headwave.capture(model, tmp_path / "s.h5"):
            pass
    with pytest.raises(headwave.ShapeError):
        with headwave.capture(model, tmp_path / "s.h5"):
            model(batch)
            model(batch[:, :30])
    assert list(tmp_path.iterdir()) == []
    assert hooks() == before


def test_nothing_is_left_while_the_error_is_kept(model, batch, tmp_path):
    kept = []  # as a notebook keeps the last one, with its frames
    for body in (lambda: None, lambda: model(batch + 1000), lambda: (model(batch), model(batch[:, :30]))):
        with pytest.raises(Exception) as raised, headwave.capture(model, tmp_path / "s.h5"):
            body()
        kept.append(raised.value)
        assert list(tmp_path.iterdir()) == []
    assert len(kept) == 3


def test_a_folder_that_is_gone_is_an_error(model, batch, tmp_path):
    (tmp_path / "gone").mkdir()
    with pytest.raises(headwave.IoError, match="No such file"):
        with headwave.capture(model, tmp_path / "gone" / "s.h5"), torch.no_grad():
            model(batch)
            shutil.rmtree(tmp_path / "gone")
            model(batch)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(headwave.IoError, match="No such file"):
        with headwave.capture(model, tmp_path / "gone" / "s.h5"), torch.no_grad():
            model(batch)


def test_ctrl_c_leaves_no_file_and_no_hooks(model, batch, tmp_path):
    with torch.no_grad():
        model(batch, output_attentions=True)  # which leaves hooks of transformers' own
    before = sum(len(part._forward_hooks) + len(part._forward_pre_hooks) for part in model.modules())
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        with headwave.capture(model, tmp_path / "s.h5"), torch.no_grad():
            while time.monotonic() - begun < 10:
                model(batch)
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        headwave.run(model, ids=np.tile(batch.numpy(), (2000, 1)), documents=6000)
    assert time.monotonic() - begun < 2.6
    assert sum(len(part._forward_hooks) + len(part._forward_pre_hooks) for part in model.modules()) == before
    assert list(tmp_path.iterdir()) == []


def test_a_capture_is_entered_once_and_others_stand_beside_it(model, batch, tmp_path):
    once = headwave.capture(model, tmp_path / "a.h5")
    with once, headwave.capture(model, tmp_path / "b.h5", layers=np.array([1])), torch.no_grad():
        model(batch)
        with pytest.raises(headwave.FormatError, match="entered already"), once:
            pass
    whole = (tmp_path / "a.h5").read_bytes()
    with pytest.raises(headwave.FormatError, match="entered already"), once:
        pass
    model(batch)  # nothing of it is written
    assert once.documents == 3 and (tmp_path / "a.h5").read_bytes() == whole
    late = headwave.capture(model, tmp_path / "c.h5")
    (tmp_path / "c.h5").write_text("came in between")
    with pytest.raises(headwave.IoError, match="already there"), late:
        pass
    assert (tmp_path / "c.h5").read_text() == "came in between"


@pytest.mark.parametrize("dtype, tolerance", [("float16", 1e-2), ("bfloat16", 1e-1), ("float64", 1e-5)])
def test_a_model_of_other_floats_is_captured(batch, tmp_path, dtype, tolerance):
    torch.manual_seed(1)
    name, config, sizes = SIZES["bert"]
    plain = transformers.BertModel(transformers.BertConfig(vocab_size=100, attn_implementation="eager", **sizes)).eval()
    plain.to(getattr(torch, dtype))
    file = passed(plain, batch, tmp_path / "p.h5", what="projections")
    result = headwave.run(states=file, only=["attention_map"])
    with torch.no_grad():
        want = torch.stack(plain(batch, output_attentions=True).attentions)[:, 0].flatten(0, 1).float().numpy()
    assert np.abs(map_of(result) - want).max() < tolerance
    assert np.abs(map_of(headwave.run(plain, ids=batch)) - want).max() < tolerance


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
def test_a_quantised_model_is_followed_by_what_its_weights_stand_for(batch, tmp_path):
    torch.manual_seed(1)
    plain = transformers.BertModel(transformers.BertConfig(vocab_size=100, **SIZES["bert"][2])).eval()
    quantised = torch.ao.quantization.quantize_dynamic(plain, {torch.nn.Linear}, dtype=torch.qint8)
    only = ["qk_svd", "attention_map"]
    ours, theirs = headwave.run(quantised, ids=batch, only=only), headwave.run(plain, ids=batch, only=only)
    assert 0 < np.abs(ours["qk_svd/gain"] - theirs["qk_svd/gain"]).max() < 0.02 * np.nanmax(theirs["qk_svd/gain"])
    assert np.abs(map_of(ours) - map_of(theirs)).max() < 1e-2
    passed(quantised, batch, tmp_path / "p.h5", what="projections")
    assert np.abs(map_of(headwave.run(states=tmp_path / "p.h5", only=["attention_map"])) - map_of(theirs)).max() < 1e-2


def test_ids_that_the_model_does_not_know_are_refused(model, batch):
    for bad, error, words in ((batch + 1000, headwave.FormatError, "the model knows the ids from 0 to 99"),
                              (-batch, headwave.FormatError, "holds -"), (batch * 1.5, headwave.ShapeError, "whole numbers"),
                              (3, headwave.ShapeError, "shape"), ([], headwave.ShapeError, "shape"), ("ids.json", headwave.FormatError, "read"),
                              (batch[None], headwave.ShapeError, "shape"), ([[5, 6], []], headwave.ShapeError, "without tokens"),
                              (np.full((1, 100), 5), headwave.ShapeError, "64 positions")):
        with pytest.raises(error, match=words) as raised:
            headwave.run(model, ids=bad)
        assert "\n" not in str(raised.value)
    with pytest.raises(headwave.FormatError, match="tokenizer"):
        headwave.run(model, 3, text="a")
    with pytest.raises(headwave.FormatError, match="map does not go"):
        headwave.run(model, ids=batch, map="map.toml")
    with pytest.raises(headwave.FormatError, match="random_tokens"):
        headwave.run(model, random_tokens=4)


def test_numbers_that_are_not_finite_are_refused(model, batch, tmp_path):
    first = next(parameter for parameter in model.parameters() if parameter.ndim > 1)
    kept = first.detach().clone()
    first.data[5:] = float("nan")
    try:
        with pytest.raises(headwave.NumericError):
            with headwave.capture(model, tmp_path / "s.h5"), torch.no_grad():
                model(batch)
        with pytest.raises(headwave.FormatError, match="NaN"):
            headwave.run(model, ids=batch.numpy())
    finally:
        first.data.copy_(kept)
    assert list(tmp_path.iterdir()) == []


def test_a_module_of_ones_own_is_captured_by_name(tmp_path):
    class Own(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = torch.nn.ModuleList(torch.nn.Linear(8, 8) for _ in range(2))

        def forward(self, x):
            for block in self.blocks:
                x = block(x)
            return x

    x = torch.randn(2, 10, 8, generator=torch.Generator().manual_seed(1))
    with headwave.capture(Own(), tmp_path / "s.h5", layers={0: "blocks.0", 1: "blocks.1"}, heads=2, d_head=4) as capture:
        capture._module(x)
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "s.h5") as file:
        assert np.array_equal(file["hidden_states/layer_0"][()], x.numpy()) and file.attrs["num_heads"] == 2
    with pytest.raises(headwave.FormatError, match="no module 'blocks.7'"):
        headwave.capture(Own(), tmp_path / "t.h5", layers={0: "blocks.7"}, heads=2)
    with pytest.raises(headwave.ShapeError, match="heads=12"):
        headwave.capture(Own(), tmp_path / "t.h5", layers={0: "blocks.0"})
    with pytest.raises(headwave.FormatError, match="no config of transformers"):
        headwave.capture(Own(), tmp_path / "t.h5")


def test_what_cannot_be_captured_is_refused(model, batch, tmp_path):
    def refused(words, error=headwave.FormatError, **given):
        with pytest.raises(error, match=words):
            headwave.capture(given.pop("module", model), tmp_path / "s.h5", **given)

    refused("expected 'states'", what="all")
    refused("float16", dtype="int8")
    refused("there is no layer 9", headwave.ShapeError, layers=[9])
    refused("torch.nn.Module", module=3)
    refused("says itself", heads=4)
    refused("expected a list of layers", layers=3)
    refused("expected a list of layers", layers="0")
    refused("whole number", layers=[1.5])
    refused("0 to 9", headwave.ShapeError, packing=10)
    refused("one of transformers", tokenizer="bert")
    for wrong in (dict(heads="2"), dict(heads=2, kv_heads=4), dict(heads=0), dict(heads=2, window="a"), dict(heads=2, score_scale=float("nan"))):
        refused("heads|window|score_scale", headwave.Error, module=torch.nn.Sequential(torch.nn.Linear(8, 8)), layers={0: "0"}, **wrong)
    (tmp_path / "there.h5").write_text("mine")
    with pytest.raises(headwave.IoError, match="overwrite=True"):
        headwave.capture(model, tmp_path / "there.h5")
    assert (tmp_path / "there.h5").read_text() == "mine"
    model.train()
    try:
        with pytest.raises(headwave.FormatError, match="call .eval"):
            headwave.run(model, ids=batch.numpy())
    finally:
        model.eval()


def test_a_text_is_cut_as_its_tokenizer_says(tmp_path):
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghij"]
    (tmp_path / "vocab.txt").write_text("\n".join(words))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": True, "tokenizer_class": "BertTokenizer"}))
    tokenizer = transformers.BertTokenizer.from_pretrained(tmp_path)
    torch.manual_seed(1)
    sizes = SIZES["bert"][2]
    made = transformers.BertModel(transformers.BertConfig(vocab_size=len(words), **sizes)).eval()
    made.save_pretrained(tmp_path)
    text = " ".join(np.random.default_rng(1).choice(list("abcdefghij"), 500))
    given = {"text": text, "documents": 5, "length": 32, "only": ["measured_offset", "attention_map"]}
    ours, theirs = headwave.run(made, tokenizer, **given), headwave.run(tmp_path, **given)
    assert np.array_equal(ours["attention_map/token"], theirs["attention_map/token"])
    assert np.abs(map_of(ours) - map_of(theirs)).max() < 1e-5
    for name in ("weight", "threshold"):
        assert np.allclose(ours["measured_offset"][name], theirs["measured_offset"][name], atol=1e-5, equal_nan=True)
