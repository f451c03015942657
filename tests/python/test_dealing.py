"""Dealt profiles of headwave.watch: against the equations, written out for one document at a time."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
transformers = pytest.importorskip("transformers", minversion="5.0", reason="transformers 5 is not installed")
if not hasattr(transformers, "PreTrainedModel"):
    pytest.skip("transformers cannot be used here", allow_module_level=True)

import headwave  # noqa: E402
from headwave.profiles.dealing import _dealt  # noqa: E402
from watched_models import MODELS, built  # noqa: E402

T, DOCUMENTS, LEAST = 24, 7, 2
IDS = torch.randint(3, 64, (DOCUMENTS, T), generator=torch.Generator().manual_seed(3))


def projections(model, names, width):
    """Queries and keys of layer 1, (documents, heads, T, d) each, before rotary positions, by hooks on the modules that make them."""
    found = {}
    hooks = [model.get_submodule(name).register_forward_hook(lambda _, args, out, name=name: found.__setitem__(name, out)) for name in names]
    with torch.no_grad():
        model(IDS)
    for hook in hooks:
        hook.remove()
    return [found[name].unflatten(-1, (-1, width)).transpose(1, 2).double() for name in names]


def turned(x, base=10000.0):
    """Rotary positions of a Llama, halves of the width together."""
    half = x.shape[-1] // 2
    angle = torch.arange(T)[:, None] * base ** (-torch.arange(half) / half)
    cos, sin = angle.cos().double(), angle.sin().double()
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


def expected(query, key, turn, causal):
    """Sums of dealt attention by term and offset, t = -(T-1) .. T-1, first token aside: (3, heads, 2 T - 1), and documents dealt."""
    heads, group = query.shape[1], query.shape[1] // key.shape[1]
    scale, sums, dealt = query.shape[-1] ** -0.5, torch.zeros(3, query.shape[1], 2 * T - 1, dtype=torch.float64), 0
    offsets = torch.arange(T)[None] - torch.arange(T)[:, None]
    by_half = ([], [])
    contents = ([], [])

    def scores(q, k):
        return scale * turn(q) @ turn(k).repeat_interleave(group, 0).transpose(1, 2)

    def by_offset(of):
        return torch.stack([of[:, offsets == t].sum(1) for t in range(-(T - 1), T)], 1)

    for n in range(DOCUMENTS):
        half = n % 2
        by_half[half].append(n)
        if min(len(by_half[half]) - 1, len(by_half[1 - half])) < LEAST:
            continue
        mean_query, mean_key = query[by_half[half]].mean(0), key[by_half[1 - half]].mean(0)
        dq, dk = query[n] - mean_query, key[n] - mean_key
        contents[half].append(by_offset(scores(dq, dk)) / (T - torch.arange(-(T - 1), T).abs()))
        c = torch.stack(contents[half]).mean(0)
        t = torch.arange(-(T - 1), T).abs()
        c = (c - c[:, (t > min(8, T / 8)) & (t < T / 2)].quantile(0.5, dim=1, keepdim=True)) * ((t > 0) & (t < T / 2))
        random = torch.Generator().manual_seed(1 + n)
        stays = torch.arange(T) == 0
        rho, pi = _dealt(stays, random), _dealt(stays, random)
        k = mean_key + dk[:, pi]
        order = c[:, offsets + T - 1]
        for term, s in enumerate((scores(mean_query + dq[:, rho], k), scores(mean_query + dq[:, pi], k), scores(mean_query + dq[:, pi], k) + order)):
            a = torch.softmax(s.masked_fill(offsets > 0, -np.inf) if causal else s, -1)
            a[:, 0], a[:, :, 0] = 0, 0
            sums[term] += by_offset(a)
        dealt += 1
    return sums.numpy(), dealt


@pytest.mark.parametrize(("name", "modules", "turn", "causal"), [
    ("bert", ("encoder.layer.1.attention.self.query", "encoder.layer.1.attention.self.key"), lambda x: x, False),
    ("gpt_neox", None, None, True),
    ("llama", ("layers.1.self_attn.q_proj", "layers.1.self_attn.k_proj"), turned, True)])
def test_dealt_profiles_are_those_of_the_equations(name, modules, turn, causal):
    model = built(MODELS[name][0](), "sdpa")
    with torch.no_grad():
        plain = model(IDS).last_hidden_state
        with headwave.watch(model, exact=T, deal=True, least=LEAST) as watch:
            outputs = [model(IDS[:3]).last_hidden_state, model(IDS[3:]).last_hidden_state]
        assert torch.equal(torch.cat([model(IDS[:3]).last_hidden_state, model(IDS[3:]).last_hidden_state]), torch.cat(outputs))
        torch.testing.assert_close(plain, torch.cat(outputs), rtol=1e-4, atol=1e-4)
    stack = next(iter(watch.result().stacks.values()))
    regular = stack.dealt_pairs[:, 1].sum()
    assert regular == stack.dealt_documents * ((T - 1) * T // 2 if causal else (T - 1) ** 2)
    np.testing.assert_allclose(stack.dealt_weight[:, 1, 0].sum((0, 2)) <= regular, True)
    if modules is None:   # partly rotary: that it is dealt at all is what is tested
        return
    want, dealt = expected(*projections(model, modules, 8), turn, causal)
    assert stack.dealt_documents == dealt
    got = stack.dealt_weight[:, 1].sum(0)
    columns = slice(0, T) if causal else slice(0, 2 * T - 1)
    np.testing.assert_allclose(got, want[:, :, columns], atol=1e-4)


def test_without_contents_position_is_all_there_is():
    model = built(MODELS["llama"][0](), "sdpa")
    with torch.no_grad(), headwave.watch(model, deal=True, least=2) as watch:
        model(IDS[:1].expand(8, T))
    stack = watch.result()["causal"]
    measured = stack.weight[0, :, 0] / stack.pairs[0, :, 0].clip(1)[:, None]
    for term in range(3):
        dealt = stack.dealt_weight[:, :, term].sum(0) / stack.dealt_pairs.sum(0).clip(1)[:, None]
        np.testing.assert_allclose(dealt, measured, atol=1e-4)


def test_what_cannot_be_dealt_is_refused_by_name():
    for name, implementation, message in (("gptj", "sdpa", "watch cannot undo"), ("llama4", "sdpa", "does not see"),
                                          ("deepseek_v3", "sdpa", "does not see"), ("llama", "eager", "'sdpa'")):
        model = built(MODELS[name][0](), implementation)
        with torch.no_grad(), headwave.watch(model, deal=True), pytest.raises(headwave.FormatError, match=message):
            model(IDS)
    from headwave.profiles import dealing
    with pytest.raises(dealing.CannotDeal, match="documents of 6 tokens or fewer"):
        dealing.require_room(type("Scores", (), {"query": torch.zeros(1, 4, 16, 8), "key": torch.zeros(1, 2, 16, 8)}), 400_000, 16)


def test_rotary_functions_are_as_they_were():
    from transformers.models.llama import modeling_llama

    original = modeling_llama.apply_rotary_pos_emb
    model = built(MODELS["llama"][0](), "sdpa")
    with torch.no_grad(), headwave.watch(model, deal=True):
        assert modeling_llama.apply_rotary_pos_emb is not original
        model(IDS)
    assert modeling_llama.apply_rotary_pos_emb is original
