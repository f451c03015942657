"""TransformerLens itself: its models with their own weights, and its caches."""

import numpy as np
import pytest

import headwave

torch = pytest.importorskip("torch")
lens = pytest.importorskip("transformer_lens")
try:
    from transformer_lens import HookedTransformer, HookedTransformerConfig
except ImportError:
    pytest.skip("this TransformerLens has no HookedTransformer (4.0 removed it)", allow_module_level=True)


def made(**other):
    sizes = dict(n_layers=2, d_model=16, n_ctx=40, d_head=4, n_heads=4, d_vocab=30, act_fn="gelu_new", normalization_type="LN", seed=1)
    model = HookedTransformer(HookedTransformerConfig(**{**sizes, **other}))
    for name, parameter in model.named_parameters():
        torch.nn.init.normal_(parameter, mean=float(name.endswith(".w")), std=0.4)
    return model.eval()


IDS = torch.randint(30, (3, 32), generator=torch.Generator().manual_seed(1))
FOLDED = dict(fold_ln=True, center_writing_weights=True, center_unembed=True)


def patterns(model):
    with torch.no_grad():
        return model.run_with_cache(IDS)[1]


def difference(result, cache):
    want = torch.stack([cache["pattern", layer][0] for layer in range(2)]).flatten(0, 1).numpy()
    return np.abs(np.asarray(result["attention_map/weight"]) - want).max()


@pytest.mark.parametrize("other", [{}, {"attn_only": True}, {"use_attn_scale": False}, {"act_fn": "relu"}])
def test_a_hooked_transformer_is_followed(other):
    model = made(**other)
    result = headwave.run(model, ids=IDS.numpy(), everything=True)
    assert difference(result, patterns(model)) < 1e-5
    assert result.provenance["captured_from"] == "HookedTransformer" and "qk_svd" in result


def test_folding_changes_weights_and_not_attention(tmp_path):
    model = made()
    plain = headwave.run(model, ids=IDS.numpy())
    model.process_weights_(**FOLDED)
    folded = headwave.run(model, ids=IDS.numpy())
    assert model.cfg.normalization_type == "LNPre"
    assert difference(folded, patterns(model)) < 1e-5
    assert np.abs(np.asarray(plain["attention_map/weight"]) - np.asarray(folded["attention_map/weight"])).max() < 1e-5
    assert np.allclose(plain["measured_offset"].weight, folded["measured_offset"].weight, atol=1e-5, equal_nan=True)


@pytest.mark.parametrize("other", [{}, {"positional_embedding_type": "rotary", "rotary_dim": 4}, {"normalization_type": None}])
def test_a_cache_of_its_own_is_taken(other):
    cache = patterns(made(**other))
    assert difference(headwave.run(states=cache, only=["attention_map", "measured_offset"]), cache) < 1e-5
    traces = headwave.offset_traces(cache["pattern", 0])
    assert np.isfinite(np.asarray(traces["mean_weight"])[..., 31]).all()
    if not other:
        q, k, v = (cache[name, 0][0].transpose(0, 1) for name in "qkv")
        z = headwave.attend(q, k, v, mask="causal")
        assert np.abs(z - cache["z", 0][0].transpose(0, 1).numpy()).max() < 1e-5


def test_what_a_gpt2_is_not_is_refused():
    model = made(positional_embedding_type="rotary", rotary_dim=4)
    with pytest.raises(headwave.FormatError, match="positional_embedding_type='rotary'.*run_with_cache"):
        headwave.run(model, ids=IDS.numpy())
    with pytest.raises(headwave.FormatError, match="heads of 8"):
        headwave.run(made(d_head=8), ids=IDS.numpy())
