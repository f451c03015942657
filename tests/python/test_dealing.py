"""What headwave.watch(deal=True) keeps of queries and keys; the account of them is compared with the program's in test_stored_profiles.py."""

import os
import pathlib
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
transformers = pytest.importorskip("transformers", minversion="5.0", reason="transformers 5 is not installed")
if not hasattr(transformers, "PreTrainedModel"):
    pytest.skip("transformers cannot be used here", allow_module_level=True)

import headwave  # noqa: E402
from conftest import ROOT  # noqa: E402
from headwave.profiles.kept import Kept  # noqa: E402
from watched_models import MODELS, built  # noqa: E402

T, DOCUMENTS = 24, 7
IDS = torch.randint(3, 64, (DOCUMENTS, T), generator=torch.Generator().manual_seed(3))


def projections(model, names, width):
    """Queries and keys of layer 1, (documents, T, heads, d) each, before rotary positions, by hooks on the modules that make them."""
    found = {}
    hooks = [model.get_submodule(name).register_forward_hook(lambda _, args, out, name=name: found.__setitem__(name, out)) for name in names]
    with torch.no_grad():
        model(IDS)
    for hook in hooks:
        hook.remove()
    return [found[name].unflatten(-1, (-1, width)).numpy() for name in names]


@pytest.mark.parametrize(("name", "modules"), [
    ("bert", ("encoder.layer.1.attention.self.query", "encoder.layer.1.attention.self.key")),
    ("llama", ("layers.1.self_attn.q_proj", "layers.1.self_attn.k_proj"))])
def test_queries_and_keys_are_kept_before_rotary_positions(name, modules):
    model = built(MODELS[name][0](), "sdpa")
    with torch.no_grad():
        plain = [model(IDS[:3]).last_hidden_state, model(IDS[3:]).last_hidden_state]
        with headwave.watch(model, exact=T, deal=True) as watch:
            outputs = [model(IDS[:3]).last_hidden_state, model(IDS[3:]).last_hidden_state]
    assert torch.equal(torch.cat(plain), torch.cat(outputs))
    stack = next(iter(watch.result().stacks.values()))
    for side, of in zip(("query", "key"), projections(model, modules, 8)):
        np.testing.assert_allclose(getattr(stack, f"kept_{side}")[:, 1], of, atol=1e-5)
        for half in range(2):
            np.testing.assert_allclose(getattr(stack, f"half_{side}")[half, 1], of[half::2].sum(0), atol=1e-4)
    np.testing.assert_array_equal(stack.kept_token, IDS)
    np.testing.assert_array_equal(stack.account_documents[:DOCUMENTS], 1)
    assert stack.account_documents.sum() == DOCUMENTS and not stack.account_window.any()


def test_where_there_is_no_room_kept_documents_are_spread_evenly():
    kept = Kept.__new__(Kept)
    kept.length, kept.documents, kept._pairs, kept._whole = 4, 0, 6, {}
    kept.query = kept.key = torch.zeros(2, 4, 1, 2)
    vectors = type("Unturned", (), {"query": torch.zeros(1, 1, 4, 2), "key": torch.zeros(1, 1, 4, 2)})
    for number in range(100):
        span = headwave.profiles.tiles.Span([0], [number], 0, 4, 0, 4)
        kept.add(vectors, None, [span], False)
        assert len(kept._whole) <= 12
    there = sorted(kept._whole)   # of 50 pairs every eighth
    assert there == [number for pair in range(7, 50, 8) for number in (2 * pair, 2 * pair + 1)] and kept.dealt == there


def test_what_cannot_be_dealt_is_refused_by_name():
    for name, implementation, message in (("gptj", "sdpa", "watch cannot undo"), ("llama4", "sdpa", "does not see"),
                                          ("deepseek_v3", "sdpa", "does not see"), ("llama", "eager", "'sdpa'")):
        model = built(MODELS[name][0](), implementation)
        with torch.no_grad(), headwave.watch(model, deal=True), pytest.raises(headwave.FormatError, match=message):
            model(IDS)
    model = built(MODELS["llama"][0](), "sdpa")
    mask = torch.ones(1, 1, T, T, dtype=torch.bool).tril()
    mask[..., 9, 4] = False
    with torch.no_grad(), headwave.watch(model, deal=True), pytest.raises(headwave.FormatError, match="neither causal nor a window"):
        model(IDS[:1], attention_mask=mask)
    # 8 documents, 2 layers, 24 tokens, 4 heads and 2 key heads of 8 float32: 73,728 bytes.
    with torch.no_grad(), headwave.watch(model, deal=True, room=5e-5), pytest.raises(
            headwave.FormatError, match=r"2 layers at 24 tokens, take 6.9e-05 GiB, but deal=True has room=5e-05 GiB; give room=0.1, or documents of 17 tokens"):
        model(IDS[:1])


def test_an_account_of_minilm_is_that_of_the_program():
    """All 72 verdicts, and the account in bits, of a trained model."""
    from test_stored_profiles import require_same_account

    place = next((place for place in (pathlib.Path(os.environ.get("HEADWAVE_MINILM", "")), ROOT.parent / "shared" / "data" / "minilm")
                  if (place / "model.safetensors").is_file()), None)
    if place is None:
        pytest.skip("MiniLM is not there; name its folder: HEADWAVE_MINILM=...")
    tokenizer, model = transformers.AutoTokenizer.from_pretrained(place), transformers.AutoModel.from_pretrained(place).eval()
    words = sorted(token for token, _ in tokenizer.get_vocab().items() if token.isalpha() and len(token) > 3)
    random = np.random.default_rng(2)
    ids = [tokenizer(" ".join(random.choice(words[:400], 60)))["input_ids"][:63] + [tokenizer.sep_token_id] for _ in range(12)]
    with torch.no_grad(), headwave.watch(model, deal=True, tokenizer=tokenizer) as watch, warnings.catch_warnings():
        for document in ids:
            model(torch.tensor([document]))
    options = {"only": ["head_account", "attention_bits"], "reach": 31}
    require_same_account(headwave.run(profiles=watch.result(), **options), headwave.run(place, ids=ids, **options))


def test_rotary_functions_are_as_they_were():
    from transformers.models.llama import modeling_llama

    original = modeling_llama.apply_rotary_pos_emb
    model = built(MODELS["llama"][0](), "sdpa")
    with torch.no_grad(), headwave.watch(model, deal=True):
        assert modeling_llama.apply_rotary_pos_emb is not original
        model(IDS)
    assert modeling_llama.apply_rotary_pos_emb is original
