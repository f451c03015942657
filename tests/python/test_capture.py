import json

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
