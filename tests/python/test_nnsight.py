"""nnsight itself: tensors and attentions that a trace saves, and models that it wraps."""

import numpy as np
import pytest

import headwave

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
nnsight = pytest.importorskip("nnsight")

IDS = torch.randint(3, 100, (3, 40), generator=torch.Generator().manual_seed(1))


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(1)
    made = transformers.GPT2Model(transformers.GPT2Config(n_embd=32, n_head=4, n_layer=3, n_positions=64, vocab_size=100, bos_token_id=1,
                                                          eos_token_id=2, attn_implementation="eager"))
    for parameter in made.parameters():
        if parameter.ndim > 1:
            torch.nn.init.normal_(parameter, std=0.3)
    return nnsight.NNsight(made.eval())


@pytest.fixture(scope="module")
def saved(model):
    """Queries, keys and values of every layer, and attentions."""
    fused = {}
    with torch.no_grad(), model.trace(IDS, output_attentions=True):
        for layer in range(3):
            fused[layer] = model.h[layer].attn.c_attn.output.save()
        attentions = model.output.attentions.save()
    return fused, attentions


def difference(result, saved):
    want = torch.stack(saved[1])[:, 0].flatten(0, 1).numpy()
    return np.abs(np.asarray(result["attention_map/weight"]) - want).max()


def test_what_a_trace_saves_is_taken(saved):
    states = {"num_heads": 4, "causal": 1}
    for layer, of in saved[0].items():
        states[f"queries/layer_{layer}"], states[f"keys/layer_{layer}"], _ = of.split(32, -1)
    assert difference(headwave.run(states=states, only=["attention_map"]), saved) < 1e-5
    assert difference(headwave.run(states=saved[1], only=["attention_map"]), saved) < 1e-5


def test_a_model_that_it_wraps_is_followed_and_captured(model, saved, tmp_path):
    assert difference(headwave.run(model, ids=IDS, only=["attention_map"]), saved) < 1e-5
    with headwave.capture(model, tmp_path / "p.h5", what="projections"), torch.no_grad():
        model._module(IDS)
    assert difference(headwave.run(states=tmp_path / "p.h5", only=["attention_map"]), saved) < 1e-5


def test_a_model_that_it_wraps_is_watched(model):
    with torch.no_grad(), headwave.watch(model) as wrapped:
        model._module(IDS)
    with torch.no_grad(), headwave.watch(model._module) as plain:
        model._module(IDS)
    assert np.array_equal(wrapped.result().stacks["causal"].weight, plain.result().stacks["causal"].weight)
