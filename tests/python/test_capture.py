import copy
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import headwave
from test_jobs import same

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
h5py = pytest.importorskip("h5py")

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


def test_a_file_that_was_changed_afterwards_is_known(model, batch, tmp_path, program):
    file = passed(model, batch, tmp_path / "states.h5", what="projections")
    assert "states.h5: intact: all bytes" in program("validate", file)
    stored = file.read_bytes()
    file.write_bytes(stored.replace(b"of a model, stored by", b"of a model, Stored by"))
    assert "states.h5" in program("validate", file, returns=(3,))
    with pytest.raises(headwave.FormatError, match="was changed or damaged after it was written: the digest at its end does not match its content"):
        headwave.run(states=file)
    file.write_bytes(stored[:-81])
    assert "the digest at its end is missing" in program("validate", file, returns=(3,))


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


def test_float16_is_the_nearest_and_what_it_cannot_hold_is_refused(tmp_path):
    own = torch.nn.Sequential(torch.nn.Identity()).eval()
    given = dict(layers={0: "0"}, heads=2, dtype="float16")
    x = torch.zeros(1, 2, 4)
    x[0] = torch.tensor([[2049, 2051, 65504, 2.0**-24], [2.0**-25, 1.5 * 2.0**-25, -(2.0**-14), 1 / 3]])
    with headwave.capture(own, tmp_path / "half.h5", **given):
        own(x)
    with h5py.File(tmp_path / "half.h5") as file:
        stored = file["hidden_states/layer_0"]
        assert stored.dtype == np.float16 and np.array_equal(stored[()], x.numpy().astype(np.float16))
    with pytest.raises(headwave.NumericError, match="hold 70504, more than float16 can hold"), headwave.capture(own, tmp_path / "large.h5", **given):
        own(x + 5000)
    assert not (tmp_path / "large.h5").exists()


def test_tokens_ids_and_marks_are_stored_beside_the_states(batch, tmp_path):
    class Spelled:
        all_special_ids = [3]

        def convert_ids_to_tokens(self, ids):
            return ["zero\0byte" if i == 3 else f"t\u00f6k\u00e9n{i}" for i in ids]

    torch.manual_seed(1)
    made = transformers.BertModel(transformers.BertConfig(vocab_size=100, **SIZES["bert"][2])).eval()
    ids = batch.clone()
    ids[:, 5] = 3
    with headwave.capture(made, tmp_path / "s.h5", tokenizer=Spelled()), torch.no_grad():
        made(ids)
    with h5py.File(tmp_path / "s.h5") as file:
        assert np.array_equal(file["ids"], ids) and np.array_equal(file["special"], ids == 3)
        assert file["tokens"].asstr()[0, 5] == "zero\u2400byte" and file["tokens"].asstr()[1, 0] == f"t\u00f6k\u00e9n{ids[1, 0]}"
        assert file["document_name"].asstr()[2] == "document 2" and file["hidden_states/layer_0"].shape == (3, 40, 32)
        assert file["hidden_states/layer_0"].fletcher32
        assert dict(file.attrs)["num_heads"] == 4 and "turned" not in file.attrs and file["provenance"].attrs["captured_from"] == "BertModel"


def test_a_call_without_ids_after_one_with_ids_is_refused(model, batch, tmp_path):
    with pytest.raises(headwave.ShapeError, match="document 3 has ids of shape .0,.; expected .40,."):
        with headwave.capture(model, tmp_path / "s.h5"), torch.no_grad():
            model(batch)
            model(inputs_embeds=model.get_input_embeddings()(batch))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("what", ["capture", "profiles"])
def test_a_full_disk_is_an_error_that_leaves_nothing_and_no_crash(tmp_path, what):
    """The HDF5 library crashes when it closes a file that it could not write."""
    program = f"""
import os, resource, torch, transformers, headwave
model = transformers.BertModel(transformers.BertConfig(vocab_size=100, hidden_size=128, num_attention_heads=4, num_hidden_layers=2,
                                                       intermediate_size=64)).eval()
ids = torch.randint(3, 100, (10, 200), generator=torch.Generator().manual_seed(1))
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
try:
    with torch.no_grad():
        if {what == "capture"}:
            with headwave.capture(model, "full.h5"):
                model(ids)
        else:
            with headwave.watch(model, deal=True) as watch:
                model(ids)
            watch.result().save("full.h5")
except headwave.IoError as error:
    assert "full.h5: cannot be written: " in str(error) and "File too large" in str(error) and "\\n" not in str(error), error
    assert os.listdir() == [], os.listdir()
    print("refused")
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "refused\n"), done.stderr


def test_a_model_is_run_and_followed_without_a_file(model, batch):
    result = headwave.run(model, ids=batch.numpy(), everything=True)
    assert np.abs(map_of(result) - eager(model, batch)).max() < 1e-5
    assert result.provenance["captured_from"] == type(model).__name__ and "position_split" in result


def test_equal_documents_count_once_and_the_model_runs_once_for_each(model, batch):
    calls = []
    hook = model.register_forward_pre_hook(lambda *_: calls.append(1))
    ids = [*batch.tolist(), batch[0].tolist(), batch[2].tolist()]
    found = headwave.run(model, ids=[ids[0], *ids], only=["attention_map", "measured_offset"])
    hook.remove()
    assert found.provenance["documents"] == 3 and found.provenance["equal_documents"] == 3 and len(calls) <= 6  # two analyses of each
    assert np.array_equal(map_of(found), map_of(headwave.run(model, ids=batch, only=["attention_map"])))


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
        headwave.run(model, ids=np.random.default_rng(1).integers(3, 100, (6000, 40)), documents=6000)
    assert time.monotonic() - begun < 2.6
    assert sum(len(part._forward_hooks) + len(part._forward_pre_hooks) for part in model.modules()) == before
    assert list(tmp_path.iterdir()) == []


def test_a_capture_is_entered_once_and_others_stand_beside_it(model, batch, tmp_path):
    once = headwave.capture(model, tmp_path / "a.h5")
    with once, headwave.capture(model, tmp_path / "b.h5", layers=np.array([1])), torch.no_grad():
        model(batch)
        with pytest.raises(headwave.FormatError, match="used already"), once:
            pass
    whole = (tmp_path / "a.h5").read_bytes()
    with pytest.raises(headwave.FormatError, match="used already"), once:
        pass
    model(batch)  # nothing of it is written
    assert once.documents == 3 and (tmp_path / "a.h5").read_bytes() == whole
    late = headwave.capture(model, tmp_path / "c.h5")
    (tmp_path / "c.h5").write_text("came in between")
    with pytest.raises(headwave.IoError, match="already there"), late:
        pass
    assert (tmp_path / "c.h5").read_text() == "came in between"


def test_a_file_that_appears_meanwhile_is_not_replaced(model, batch, tmp_path):
    with pytest.raises(headwave.IoError, match="s.h5: is already there; give overwrite=True"), torch.no_grad():
        with headwave.capture(model, tmp_path / "s.h5"):
            model(batch)
            (tmp_path / "s.h5").write_text("came in between")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("s.h5", "came in between")]
    with headwave.capture(model, tmp_path / "s.h5", overwrite=True), torch.no_grad():
        model(batch)
    assert h5py.is_hdf5(tmp_path / "s.h5")


def test_a_capture_that_is_never_left_ends_with_python(tmp_path):
    script = f"""
import torch, transformers, headwave
model = transformers.BertModel(transformers.BertConfig(vocab_size=100, **{SIZES["bert"][2]!r})).eval()
kept = headwave.capture(model, "s.h5")
kept.__enter__()
with torch.no_grad():
    model(torch.randint(100, (2, 20)))
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done
    assert list(tmp_path.iterdir()) == []


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


def test_weights_of_unknown_types_are_refused_by_name(model, batch):
    model = copy.deepcopy(model)   # other tests share it
    model.register_buffer("table", torch.zeros(2, dtype=torch.int16))
    with pytest.raises(headwave.FormatError, match="tensor 'table' is of type torch.int16; expected one of float32, float16, .*int64, .*bool; dequantise"):
        headwave.run(model, ids=batch)


def test_ids_that_the_model_does_not_know_are_refused(model, batch):
    for bad, error, words in ((batch + 1000, headwave.FormatError, "the model knows the ids 0 to 99"),
                              (-batch, headwave.FormatError, "is not a token id"), (batch * 1.5, headwave.FormatError, "whole numbers"),
                              (3, headwave.FormatError, "a JSON list"), ([], headwave.FormatError, "0 tokens"), ("ids.json", headwave.FormatError, "read"),
                              (batch[None], headwave.FormatError, "is not a token id"), ([[5, 6], []], headwave.FormatError, "has no token ids"),
                              (np.full((1, 100), 5), headwave.FormatError, "64 positions")):
        with pytest.raises(error, match=words) as raised:
            headwave.run(model, ids=bad)
        assert "\n" not in str(raised.value)
    with pytest.raises(headwave.FormatError, match="tokenizer"):
        headwave.run(model, 3, text="a")
    with pytest.raises(headwave.FormatError, match="map does not apply"):
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


class Own(torch.nn.Module):
    """Attention of nobody's family: modules for queries and keys, one module for both and values, and PyTorch's own."""

    def __init__(self, width=8, heads=2):
        super().__init__()
        torch.manual_seed(1)
        self.heads = heads
        self.query, self.key = torch.nn.Linear(width, width), torch.nn.Linear(width, width // 2)  # two query heads share a key head
        self.fused = torch.nn.Linear(width, 3 * width)
        self.blocks = torch.nn.ModuleList(torch.nn.MultiheadAttention(width, heads, batch_first=first) for first in (True, False))
        self.weights = {}

    def forward(self, x):
        def attend(q, k):
            q, k = (of.unflatten(-1, (-1, 4)).transpose(1, 2) for of in (q, k))
            k = k.repeat_interleave(q.shape[1] // k.shape[1], 1)
            return (q @ k.transpose(2, 3) / 2).softmax(-1)
        self.weights["pair"] = attend(self.query(x), self.key(x))
        self.weights["fused"] = attend(*self.fused(x).chunk(3, -1)[:2])
        for block, turn in zip(self.blocks, (lambda of: of, lambda of: of.transpose(0, 1))):
            self.weights[f"batch_first={block.batch_first}"] = block(turn(x), turn(x), turn(x), average_attn_weights=False)[1]
        return x


@pytest.mark.parametrize("name, kv_heads, of", [(("query", "key"), 1, "pair"), ("fused", 2, "fused"), ("blocks.0", 2, "batch_first=True"),
                                                ("blocks.1", 2, "batch_first=False")])
def test_queries_and_keys_of_a_module_of_ones_own_are_captured_by_name_and_run(tmp_path, name, kv_heads, of):
    own, x = Own().eval(), torch.randn(3, 10, 8, generator=torch.Generator().manual_seed(1))
    with headwave.capture(own, tmp_path / "p.h5", what="projections", layers={0: name}, heads=2, kv_heads=kv_heads), torch.no_grad():
        own(x)
    result = headwave.run(states=tmp_path / "p.h5")
    assert np.abs(map_of(result) - own.weights[of][0].numpy()).max() < 1e-6
    assert result["measured_offset/offset"].shape == (3, 1, 2)
    assert headwave.run(states=tmp_path / "p.h5", only=["attention_map"], documents=3).provenance["documents"] == 3


def test_states_of_modules_by_name_are_run_with_their_model(model, batch, tmp_path):
    names = {"BertModel": "encoder.layer.{}.attention.self", "GPT2Model": "h.{}.attn", "LlamaModel": "layers.{}.self_attn"}
    name = names[type(model).__name__]
    said = dict(heads=4, kv_heads=2) if "Llama" in type(model).__name__ else dict(heads=4)
    model.save_pretrained(tmp_path / "model")
    file = passed(model, batch, tmp_path / "s.h5", layers={layer: name.format(layer) for layer in range(3)}, **said,
                  causal=type(model).__name__ != "BertModel")
    result = headwave.run(tmp_path / "model", states=file, only=["attention_map"])
    assert np.abs(map_of(result) - eager(model, batch)).max() < 1e-5
    with pytest.raises(headwave.Error, match="model"):
        headwave.run(states=file)


def test_names_that_cannot_be_captured_are_refused(tmp_path):
    own, x = Own().eval(), torch.randn(2, 10, 8, generator=torch.Generator().manual_seed(1))

    def refused(words, x=x, call=None, **given):
        with pytest.raises(headwave.Error, match=words):
            with headwave.capture(own, tmp_path / "t.h5", **{"heads": 2, "what": "projections", **given}):
                own(x) if call is None else call()
        assert list(tmp_path.iterdir()) == []

    refused("no module 'blocks.7'", layers={0: "blocks.7"})
    refused("heads=12", layers={0: "fused"}, heads=None)
    refused("no config of transformers; name its modules", layers=None, heads=None)
    refused("layers: found .*two names", layers={0: ("query", "key", "query")})
    refused("layers: found .*two names", layers={0: ("query", "key")}, what="states")
    refused("24 columns does not divide into queries of 3 heads, and keys and values of 3", layers={0: "fused"}, heads=3)
    refused("3 heads of equal width; give d_head", layers={0: ("query", "key")}, heads=3)
    refused("another sequence", layers={0: "blocks.0"}, call=lambda: own.blocks[0](x, x + 1, x + 1))
    hides = torch.zeros(2, 10, dtype=torch.bool)
    hides[1, 8:] = True
    refused("key_padding_mask", layers={0: "blocks.0"}, call=lambda: own.blocks[0](x, x, x, key_padding_mask=hides))


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_pytorchs_own_encoder_is_captured_by_name_and_its_padding_refused(tmp_path):
    torch.manual_seed(1)
    x, hides = torch.randn(3, 12, 8), torch.zeros(3, 12, dtype=torch.bool)
    hides[1, 9:] = True
    for nested in (True, False):  # PyTorch strings documents together where it may
        encoder = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2, enable_nested_tensor=nested).eval()
        file = tmp_path / f"{nested}.h5"
        layers = {layer: f"layers.{layer}.self_attn" for layer in range(2)}
        with headwave.capture(encoder, file, what="projections", layers=layers, heads=2), torch.no_grad():
            encoder(x)
        with torch.no_grad():
            want = encoder.layers[0].self_attn(x, x, x, average_attn_weights=False)[1][0].numpy()
        assert np.abs(map_of(headwave.run(states=file, only=["attention_map"]))[:2] - want).max() < 1e-6
        for what in ("states", "projections"):
            for call in (lambda: encoder(x, src_key_padding_mask=hides), lambda: encoder(x, None, hides)):
                with pytest.raises(headwave.ShapeError, match="src_key_padding_mask hides tokens.*a file of its own"):
                    with headwave.capture(encoder, tmp_path / "s.h5", what=what, layers=layers, heads=2), torch.no_grad():
                        call()
            with pytest.raises(headwave.ShapeError, match="documents of different lengths|key_padding_mask hides"):
                with headwave.capture(torch.nn.Sequential(encoder).eval(), tmp_path / "s.h5", what=what, heads=2,
                                      layers={0: "0.layers.0.self_attn"}) as capture, torch.no_grad():
                    encoder(x, src_key_padding_mask=hides)
                    capture._module(x)


def test_a_model_in_training_is_not_captured(model, batch, tmp_path):
    model.train()
    try:
        with pytest.raises(headwave.FormatError, match="is in training mode.*call .eval"):
            headwave.capture(model, tmp_path / "s.h5")
    finally:
        model.eval()
    with pytest.raises(headwave.FormatError, match="is in training"):
        try:
            with headwave.capture(model, tmp_path / "s.h5"):
                model(batch)
                model.train()
                model(batch)
        finally:
            model.eval()
    dropouts = [part for part in model.modules() if isinstance(part, torch.nn.Dropout)]
    for part in dropouts[:1]:
        part.train()
        with pytest.raises(headwave.FormatError, match="is in training"):
            headwave.run(model, ids=batch)
        part.eval()
    assert list(tmp_path.iterdir()) == []


def padded(batch, before=0, after=8):
    widths = (before, after)
    return torch.nn.functional.pad(batch, widths), torch.nn.functional.pad(torch.ones_like(batch), widths)


def test_a_mask_is_understood_wherever_it_stands_in_the_call(model, batch, tmp_path):
    ids, mask = padded(batch)
    for number, call in enumerate((lambda: model(ids, mask) if "Llama" in type(model).__name__ or "Bert" in type(model).__name__
                                   else model(ids, None, mask), lambda: model(ids, attention_mask=mask.bool()),
                                   lambda: model(input_ids=ids, attention_mask=mask.float()))):
        file = tmp_path / f"{number}.h5"
        with headwave.capture(model, file, what="projections"), torch.no_grad():
            call()
        result = headwave.run(states=file, only=["attention_map"])
        assert np.abs(map_of(result) - eager(model, batch)).max() < 1e-5


def test_a_mask_that_says_more_than_padding_is_refused(model, batch, tmp_path):
    ids, mask = padded(batch)
    for bad, words in ((mask[:, None, None].bool().expand(3, 1, 48, 48), "attention_mask has shape .3, 1, 48, 48.; expected shape .documents, T."),
                       ({"full_attention": None}, "attention_mask is of type dict"), (2 * mask, "numbers other than 0 and 1"),
                       (torch.where(mask > 0, 0.0, -1e9), "numbers other than 0 and 1")):
        with pytest.raises(headwave.FormatError, match=words):
            with headwave.capture(model, tmp_path / "s.h5"), torch.no_grad():
                model(ids, attention_mask=bad)
    gaps = mask.clone()
    gaps[1, 7] = 0
    with pytest.raises(headwave.ShapeError, match="attention_mask puts gaps between the positions of document 1"):
        with headwave.capture(model, tmp_path / "s.h5"), torch.no_grad():
            model(ids, attention_mask=gaps)
    assert list(tmp_path.iterdir()) == []


def test_padding_before_a_text_is_left_out_where_it_moves_no_positions(model, batch, tmp_path):
    ids, mask = padded(batch, 8, 0)
    places = (mask.cumsum(1) - 1).clamp(min=0)

    def captured(name, **given):
        with headwave.capture(model, tmp_path / name, what="projections"), torch.no_grad():
            model(ids, attention_mask=mask, **given)
        return map_of(headwave.run(states=tmp_path / name, only=["attention_map"]))

    assert np.abs(captured("places.h5", position_ids=places) - eager(model, batch)).max() < 1e-5
    if "Llama" in type(model).__name__:
        assert np.abs(captured("none.h5") - eager(model, batch)).max() < 1e-5
    else:
        with pytest.raises(headwave.ShapeError, match="begins document 0 at position 8, expected 0; put padding after"):
            captured("none.h5")


def test_positions_of_the_callers_own_are_refused(model, batch, tmp_path):
    own = torch.arange(40)[None]
    for bad, words in ((2 * own.clamp(max=30), "position_ids puts gaps"), (own.flip(1), "puts gaps"), (own[..., None], "expected whole numbers")):
        with pytest.raises(headwave.Error, match=words):
            with headwave.capture(model, tmp_path / "s.h5"), torch.no_grad():
                model(batch, position_ids=bad) if bad.ndim == 2 else model(batch, position_ids=bad.expand(3, 40, 1))
    with headwave.capture(model, tmp_path / "s.h5", what="projections"), torch.no_grad():
        model(batch, position_ids=own)
    assert np.abs(map_of(headwave.run(states=tmp_path / "s.h5", only=["attention_map"])) - eager(model, batch)).max() < 1e-5


def test_a_continuation_is_no_document(batch, tmp_path):
    name, config, sizes = SIZES["llama"]
    torch.manual_seed(1)
    made = transformers.LlamaForCausalLM(transformers.LlamaConfig(vocab_size=100, **sizes)).eval()
    with pytest.raises(headwave.FormatError, match="already holds 20 tokens, so the call continues documents"):
        with headwave.capture(made, tmp_path / "s.h5"), torch.no_grad():
            past = made(batch[:, :20], use_cache=True).past_key_values
            made(batch[:, 20:], past_key_values=past)
    with pytest.raises(headwave.FormatError, match="generate first, then call the model with whole documents"):
        with headwave.capture(made, tmp_path / "s.h5"), torch.no_grad():
            made.generate(batch[:, :20], max_new_tokens=3, do_sample=False)
    assert list(tmp_path.iterdir()) == []


def test_documents_strung_together_are_refused(batch, tmp_path):
    torch.manual_seed(1)
    name, config, sizes = SIZES["bert"]
    made = transformers.BertModel(transformers.BertConfig(vocab_size=100, **sizes)).eval()
    layer = made.encoder.layer[0].attention
    layer.self.register_forward_pre_hook(lambda part, args: (args[0].flatten(0, 1)[None], *args[1:]))  # as without padding
    layer.register_forward_hook(lambda part, args, out: (out[0].reshape(3, 40, -1), *out[1:]) if isinstance(out, tuple) else out.reshape(3, 40, -1))
    layer.output.register_forward_pre_hook(lambda part, args: (args[0].reshape(3, 40, -1), args[1]))
    with pytest.raises(headwave.ShapeError, match="input_ids has shape .3, 40., but attention saw 1 documents of 120 tokens; expected .1, 120."):
        with headwave.capture(made, tmp_path / "s.h5", layers=[0]), torch.no_grad():
            made(batch)


def test_documents_of_other_lengths_are_refused(model, batch, tmp_path):
    with pytest.raises(headwave.ShapeError, match="document 3 has 25 tokens, but the documents before it have 40; .* in a file of its own"):
        with headwave.capture(model, tmp_path / "s.h5"), torch.no_grad():
            model(batch)
            model(batch[:, :25])
    assert not list(tmp_path.iterdir())


def test_padding_at_the_end_of_ids_is_taken_off(model, batch, tmp_path):
    ids, _ = padded(batch)
    model.save_pretrained(tmp_path / "model")
    for place in (model, tmp_path / "model"):
        result = headwave.run(place, ids=ids, only=["attention_map"])
        if model.config.pad_token_id is None:  # nobody says which id it is
            assert result.provenance["length"] == 48
        else:
            assert result.provenance["length"] == 40 and result.provenance["padding_removed"] == 24
            assert np.abs(map_of(result) - eager(model, batch)).max() < 1e-5
            with pytest.raises(headwave.Error, match="has no token ids|without tokens"):
                headwave.run(place, ids=torch.zeros(2, 8, dtype=torch.long))


def test_a_token_that_pads_and_closes_documents_stays_once(batch, tmp_path):
    name, config, sizes = SIZES["gpt2"]
    made = transformers.GPT2Model(transformers.GPT2Config(vocab_size=100, **{**sizes, "eos_token_id": 2, "pad_token_id": 2})).eval()
    made.save_pretrained(tmp_path / "model")
    for place in (made, tmp_path / "model"):
        for more, length in ((0, 40), (1, 41), (5, 41)):
            ids = torch.nn.functional.pad(batch, (0, more), value=2)
            assert headwave.run(place, ids=ids, only=["measured_offset"]).provenance["length"] == length


def test_attention_of_padding_is_refused(model, batch):
    for before, after in ((0, 8), (8, 0)):
        ids, mask = padded(batch, before, after)
        mask[0], ids[0] = 1, 5  # the first document has none
        with torch.no_grad():
            attentions = model(ids, attention_mask=mask, output_attentions=True).attentions
        keys = "0 to 7" if before else "40 to 47"
        with pytest.raises(headwave.FormatError, match=f"no head looks at key {keys} of document 1, so it is padding"):
            headwave.run(states=attentions)
        with pytest.raises(headwave.FormatError, match="'attentions/layer_1'"):
            headwave.run(states={"attentions/layer_1": attentions[1]})
        assert headwave.run(states=tuple(of[:1] for of in attentions), only=["attention_map"]).provenance["documents"] == 1


def test_what_a_model_gives_beside_attention_is_told_apart(model, batch, tmp_path):
    model.save_pretrained(tmp_path)
    with torch.no_grad():
        given = model(batch, output_hidden_states=True, output_attentions=True)
    norm = {} if "Bert" in type(model).__name__ else {"apply_norm": True}
    result = headwave.run(tmp_path, states=given.hidden_states, only=["attention_map"], **norm)
    assert np.abs(map_of(result) - eager(model, batch)).max() < 1e-5
    with pytest.raises(headwave.FormatError, match="give model=DIR"):
        headwave.run(states=given.hidden_states)
    one = tuple(of[0] for of in given.attentions)  # of one document
    assert np.abs(map_of(headwave.run(states=one, only=["attention_map"])) - eager(model, batch)).max() < 1e-6
    for nothing in ((), (None, None, None)):
        with pytest.raises(headwave.FormatError, match="set_attn_implementation..eager"):
            headwave.run(states=nothing)


def test_what_cannot_be_captured_is_refused(model, batch, tmp_path):
    def refused(words, error=headwave.FormatError, **given):
        with pytest.raises(error, match=words):
            headwave.capture(given.pop("module", model), tmp_path / "s.h5", **given)

    refused("expected 'states'", what="all")
    refused("float16", dtype="int8")
    refused("there is no layer 9", headwave.ShapeError, layers=[9])
    refused("torch.nn.Module", module=3)
    refused("has a config that gives heads", heads=4)
    refused("expected a list of layers", layers=3)
    refused("expected a list of layers", layers="0")
    refused("an empty list", layers=[])
    refused("whole number", layers=[1.5])
    refused("a tokenizer of transformers", tokenizer="bert")
    for wrong in (dict(heads="2"), dict(heads=2, kv_heads=4), dict(heads=0), dict(heads=2, window="a"), dict(heads=2, score_scale=float("nan"))):
        refused("heads|window|score_scale", headwave.Error, module=torch.nn.Sequential(torch.nn.Linear(8, 8)).eval(), layers={0: "0"}, **wrong)
    (tmp_path / "there.h5").write_text("mine")
    with pytest.raises(headwave.IoError, match="overwrite=True"), headwave.capture(model, tmp_path / "there.h5"):
        pass
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


def test_wrapped_models_are_those_that_they_wrap(model, batch):
    ours = headwave.run(model, ids=batch.numpy(), only=["measured_offset"])
    for wrapped in (torch.nn.DataParallel(model), torch.compile(model)):
        same(headwave.run(wrapped, ids=batch.numpy(), only=["measured_offset"]), ours)
