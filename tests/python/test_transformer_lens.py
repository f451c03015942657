"""TransformerLens itself: the attention in a cache of a TransformerBridge, and what is said of the bridge."""

import numpy as np
import pytest

import headwave

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
bridges = pytest.importorskip("transformer_lens.model_bridge", reason="TransformerLens 4 is not installed")
tokenizers = pytest.importorskip("tokenizers")

IDS = torch.randint(30, (3, 32), generator=torch.Generator().manual_seed(1))
MODELS = {
    "gpt2": lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=30, n_positions=40, n_embd=16, n_layer=2, n_head=4, initializer_range=0.4,
                                                                         bos_token_id=1, eos_token_id=2)),
    "llama": lambda: transformers.LlamaForCausalLM(transformers.LlamaConfig(vocab_size=30, hidden_size=32, intermediate_size=48, num_hidden_layers=2,
                                                                            num_attention_heads=4, num_key_value_heads=2, initializer_range=0.4)),
}


@pytest.fixture(scope="module", params=list(MODELS))
def bridge(request, tmp_path_factory):
    """A bridge over a tiny model, and the model itself."""
    torch.manual_seed(1)
    model, folder = MODELS[request.param]().eval(), tmp_path_factory.mktemp(request.param)
    model.save_pretrained(folder)
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({str(i): i for i in range(30)}, unk_token="0"))
    transformers.PreTrainedTokenizerFast(tokenizer_object=words, bos_token="1", eos_token="2", pad_token="2", unk_token="0").save_pretrained(folder)
    return bridges.TransformerBridge.boot_transformers(str(folder)).eval(), model


def difference(result, cache):
    want = torch.stack([cache["pattern", layer][0] for layer in range(2)]).flatten(0, 1).numpy()
    return np.abs(np.asarray(result["attention_map/weight"]) - want).max()


def test_attention_in_a_cache_of_a_bridge_is_taken(bridge):
    with torch.no_grad():
        cache = bridge[0].run_with_cache(IDS)[1]
    weights = [cache["pattern", layer] for layer in range(bridge[0].cfg.n_layers)]
    assert difference(headwave.run(states=weights, only=["attention_map"]), cache) < 1e-5
    assert difference(headwave.run(bridge[1], ids=IDS, only=["attention_map"]), cache) < 1e-5
    traces = headwave.run(states=(cache["pattern", 0],), only=["measured_offset"])["offset_trace"]
    assert np.isfinite(np.asarray(traces["mean_weight"])[..., 31]).all()


@pytest.mark.parametrize("call", [lambda model: headwave.run(model, ids=IDS), lambda model: headwave.watch(model)])
def test_a_bridge_is_refused_with_a_remedy(bridge, call):
    with pytest.raises(headwave.FormatError, match=r"TransformerBridge is a model of TransformerLens.*cache..pattern., layer"):
        call(bridge[0])
