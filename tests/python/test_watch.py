"""headwave.watch: sums of attention beside the attention that a model of transformers computes."""

import gc
import os
import pathlib
import subprocess
import sys
import threading
import types

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
transformers = pytest.importorskip("transformers", minversion="5.0", reason="transformers 5 is not installed")
if not hasattr(transformers, "PreTrainedModel"):
    pytest.skip("transformers cannot be used here", allow_module_level=True)

import headwave  # noqa: E402
from watched_models import MODELS, REFUSED, batch, built, given, verdicts  # noqa: E402

SPANS = [(0, 40), (7, 40), (0, 30)]   # of the documents of batch()


def tensors(output):
    """Every tensor of a model's output, in order."""
    if isinstance(output, torch.Tensor):
        return [output]
    if hasattr(output, "to_tuple"):
        output = output.to_tuple()
    return [tensor for part in output for tensor in tensors(part)] if isinstance(output, (tuple, list)) else []


def same(a, b):
    """Equal to the bit, NaN included."""
    a, b = tensors(a), tensors(b)
    return len(a) == len(b) > 0 and all(torch.equal(x.isnan(), y.isnan()) and torch.equal(x.nan_to_num(), y.nan_to_num()) for x, y in zip(a, b))


def with_attention_seen(model, inputs, seen):
    """Runs a model; `seen` is given the module's name, what its attention function takes, and what it returns."""
    from transformers.modeling_utils import AttentionInterface

    names = {id(module): name for name, module in model.named_modules()}
    original = AttentionInterface.get_interface

    def get_interface(registry, implementation, default):
        function = original(registry, implementation, default)

        def call(module, *args, **kwargs):
            output = function(module, *args, **kwargs)
            seen(names[id(module)], args, kwargs, output)
            return output

        return call

    AttentionInterface.get_interface = get_interface
    try:
        with torch.no_grad():
            model(**inputs)
    finally:
        AttentionInterface.get_interface = original


def eager_weights(model, inputs):
    """Finished attention of every layer, by module: what eager attention functions return."""
    found = {}

    def seen(name, args, kwargs, output):
        times = sum(key.split("#")[0] == name for key in found)
        found[name + (f"#{times + 1}" if times else "")] = output[1]

    with_attention_seen(model, inputs, seen)
    return found


def by_bin(weights, stack):
    """Sums along diagonals of (heads, queries, keys), by the bins of a stack: (heads, bins), the oracle."""
    i, j = np.indices(weights.shape[1:])
    return np.stack([np.where((j - i >= first) & (j - i <= last), weights, 0).sum((1, 2))
                     for first, last in zip(stack.first_offset, stack.last_offset)], -1)


def require_same_sums(stack, layer, document, weights):
    """Compares what was summed with finished weights, to 1e-5 per weight: a sum over T rows to T times as much."""
    tolerance = 1e-5 * weights.shape[1]
    np.testing.assert_allclose(stack.weight[document, layer].sum(0), by_bin(weights, stack), atol=tolerance)
    np.testing.assert_allclose(stack.kept[document, layer], weights.sum((1, 2)), atol=tolerance)
    logs = np.log(np.where(weights > 0, weights, 1))
    np.testing.assert_allclose(stack.entropy[document, layer], -(weights * logs).sum((1, 2)), atol=10 * tolerance)
    apart = weights[:, :, 0].sum(1) + weights[:, 0, 1:].sum(1)
    np.testing.assert_allclose(stack.weight[document, layer, 1].sum(1), apart, atol=tolerance)


def require_all(result, weights, spans=SPANS):
    """Compares a result with the finished weights of a batch."""
    seen = 0
    for stack in result.stacks.values():
        for layer, name in enumerate(stack.layers):
            seen += 1
            for d, (first, end) in enumerate(spans):
                of = weights[name][d].double().numpy()
                queries = slice(first, end) if of.shape[1] == 40 else slice(None)
                keys = slice(first, end) if of.shape[2] == 40 else slice(None)
                require_same_sums(stack, layer, d, of[:, queries, keys])
    assert seen == len(weights)


@pytest.mark.parametrize(("name", "implementation"), [(name, each) for name, (_, those, _) in MODELS.items() for each in those])
def test_profiles_are_those_of_eager_attention(name, implementation, monkeypatch):
    from torch.nn.attention import flex_attention
    from transformers.integrations import flex_attention as integration

    if implementation == "flex_attention" and name not in ("llama", "llama4", "bert", "vit") and "HEADWAVE_TEST_FLEX" not in os.environ:
        pytest.skip("flex attention makes its masks slowly on a CPU; HEADWAVE_TEST_FLEX=1 tests all models with it")

    def uncompiled(*args, training=False, **kwargs):   # the same numbers without minutes of compiling
        return flex_attention.flex_attention(*args, **kwargs)

    monkeypatch.setattr(integration, "compile_friendly_flex_attention", uncompiled)
    monkeypatch.setattr(flex_attention, "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG", True)
    config, _, layers = MODELS[name]
    model, inputs = built(config(), implementation), given(name)
    with torch.no_grad():
        before = model(**inputs)
        with headwave.watch(model, exact=16) as watch:
            watched = model(**inputs)
        after = model(**inputs)
    assert same(before, watched) and same(before, after)
    weights = eager_weights(built(config(), "eager"), inputs)
    assert len(weights) == layers and max(float(w.max()) for w in weights.values()) > 0.9   # heads look somewhere
    require_all(watch.result(), weights)


def test_the_page_shows_the_verdicts_of_these_tests():
    assert verdicts() in (pathlib.Path(__file__).parents[2] / "docs" / "profiles.md").read_text()


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_followed_is_refused_by_name(name):
    config, named = REFUSED[name]
    with pytest.raises(headwave.FormatError, match=named):
        headwave.watch(built(config()))


def weights_of_queries(model, inputs):
    """Weights of every layer in double, by module, of the queries, keys and masks that sdpa is given."""
    found = {}

    def seen(name, args, kwargs, output):
        query, key, _, attention_mask = args
        group, scaling = query.shape[1] // key.shape[1], kwargs.get("scaling")
        s = query.double() @ key.double().repeat_interleave(group, 1).transpose(2, 3) * (scaling or query.shape[-1] ** -0.5)
        found[name] = torch.softmax(s.masked_fill(~attention_mask, -1e300), -1)

    with_attention_seen(model, inputs, seen)
    return found


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize(("name", "implementation"), [("llama", "sdpa"), ("bert", "sdpa"), ("gemma2", "eager"), ("gpt_oss", "eager")])
def test_half_precision_is_summed_in_single(name, implementation, dtype):
    """Of sdpa, attention of the rounded queries and keys; of eager, the weights that it rounded itself."""
    model, inputs = built(MODELS[name][0](), implementation).to(dtype), given(name)
    with torch.no_grad():
        before = model(**inputs)
        with headwave.watch(model, exact=16) as watch:
            assert same(before, model(**inputs))
    assert before.last_hidden_state.dtype == dtype
    require_all(watch.result(), (weights_of_queries if implementation == "sdpa" else eager_weights)(model, inputs))


def test_layers_without_attention_are_named():
    model = built(MODELS["qwen3_5"][0]())
    with torch.no_grad(), headwave.watch(model) as watch:
        model(**given("qwen3_5"))
    assert watch.result().skipped == [f"layers.{i} (Qwen3_5GatedDeltaNet)" for i in range(3)]


def test_two_towers_and_three_kinds_of_attention_are_told_apart():
    for name, kinds in (("clip", ["self", "causal"]), ("t5", ["self", "causal", "cross"]), ("bert", ["self"]), ("gpt2", ["causal"])):
        model = built(MODELS[name][0]())
        with torch.no_grad(), headwave.watch(model) as watch:
            model(**given(name))
        result = watch.result()
        assert sorted(result.stacks) == sorted(kinds)
        assert all(stack.documents == 3 and list(stack.block_documents) == [1, 1, 1] for stack in result.stacks.values())


def test_packed_sequences_are_documents():
    model = built(MODELS["llama"][0](), "sdpa")
    lengths = [11, 17, 12]
    ids = batch()[0][:1]
    positions = torch.cat([torch.arange(n) for n in lengths])[None]
    with torch.no_grad():
        before = model(input_ids=ids, position_ids=positions, use_cache=False)
        with headwave.watch(model, exact=16) as watch:
            assert same(before, model(input_ids=ids, position_ids=positions, use_cache=False))
    stack = watch.result()["causal"]
    assert stack.documents == 3 and list(stack.rows[:, 0]) == lengths
    eager = built(MODELS["llama"][0](), "eager")
    weights = eager_weights(eager, {"input_ids": ids, "position_ids": positions, "use_cache": False})
    first = 0
    for d, n in enumerate(lengths):
        for layer, name in enumerate(stack.layers):
            require_same_sums(stack, layer, d, weights[name][0].double().numpy()[:, first:first + n, first:first + n])
        first += n


@pytest.mark.parametrize("name", ["llama", "mistral", "gemma3", "gpt2"])
@pytest.mark.parametrize("cache", [None, "static"])
def test_generating_with_a_cache_gives_the_profile_of_the_whole_text(name, cache):
    config = MODELS[name][0]()
    torch.manual_seed(1)
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    ids, mask = batch()
    ids, mask = ids[:2, :20], mask[:2, :20]
    options = {"attention_mask": mask, "max_new_tokens": 9, "min_new_tokens": 9, "do_sample": False, "cache_implementation": cache,
               "disable_compile": True}
    before = model.generate(ids, **options)
    with headwave.watch(model, exact=16) as watch:
        written = model.generate(ids, **options)
    assert torch.equal(before, written)
    whole, stack = written[:, :-1], watch.result()["causal"]   # the last token is never read
    full = torch.cat([mask, torch.ones_like(whole[:, 20:])], 1)
    model.set_attn_implementation("eager")
    positions = (full.cumsum(1) - 1).clamp(min=0)
    weights = eager_weights(model, {"input_ids": whole, "attention_mask": full, "position_ids": positions, "use_cache": False})
    assert stack.documents == 2 and list(stack.rows[:, 0]) == [28, 21]
    for d, first in enumerate((0, 7)):
        for layer, path in enumerate(stack.layers):
            of = weights[path][d].double().numpy()[:, first:, first:]
            np.testing.assert_allclose(stack.weight[d, layer].sum(0), by_bin(of, stack), atol=1e-4)
    np.testing.assert_array_equal(stack.pairs[0, 0].sum(0)[stack.last_offset == 0], 28)


def test_an_encoder_decoder_that_generates_keeps_its_three_kinds():
    torch.manual_seed(1)
    model = transformers.BartForConditionalGeneration(MODELS["bart"][0]()).eval()
    ids, mask = batch()
    with headwave.watch(model) as watch:
        model.generate(ids, attention_mask=mask, max_new_tokens=5, min_new_tokens=5, do_sample=False, num_beams=1)
    result = watch.result()
    assert {name: stack.documents for name, stack in result.stacks.items()} == {"self": 3, "causal": 3, "cross": 3}
    assert result["cross"].rows[:, 0].tolist() == result["causal"].rows[:, 0].tolist()
    assert result["self"].rows[:, 0].tolist() == [40, 33, 30]
    np.testing.assert_allclose(result["cross"].kept, np.broadcast_to(result["cross"].rows[..., None], result["cross"].kept.shape), rtol=1e-5)


def test_four_threads_give_the_sums_of_one():
    model, ids = built(MODELS["llama"][0]()), batch()[0]
    documents = [ids[i % 3:i % 3 + 1, :20 + i] for i in range(16)]
    with torch.no_grad(), headwave.watch(model, queries=True) as one:
        plain = [model(document) for document in documents]
    outputs, barrier = {}, threading.Barrier(4)

    def call(first):
        barrier.wait()
        for i in range(first, 16, 4):
            with torch.no_grad():
                outputs[i] = model(documents[i])

    with headwave.watch(model, queries=True) as watch:
        threads = [threading.Thread(target=call, args=(first,)) for first in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(outputs) == 16 and all(same(plain[i], outputs[i]) for i in range(16))   # none raised
    of, expected = watch.result()["causal"], one.result()["causal"]
    assert of.layers == expected.layers and of.documents == 16
    for label in ("weight", "pairs", "rows", "entropy", "kept"):
        np.testing.assert_allclose(getattr(of, label).sum(0), getattr(expected, label).sum(0), atol=1e-9)
    np.testing.assert_allclose(of.unrotated_cov, expected.unrotated_cov, atol=1e-5)


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize(("name", "implementation"), [("llama", "eager"), ("llama", "sdpa"), ("bert", "eager"), ("bert", "sdpa"), ("gpt2", "sdpa")])
def test_autocast_changes_neither_the_model_nor_the_sums(name, implementation, inside):
    """Of sdpa, attention of the queries and keys as autocast rounds them; of eager, its own weights."""
    model, inputs = built(MODELS[name][0](), implementation), given(name)

    def autocast(on):
        return torch.autocast("cpu", torch.bfloat16, enabled=on)

    with torch.no_grad():
        with autocast(True):
            before = model(**inputs)
        with autocast(not inside), headwave.watch(model, exact=16, queries=True) as watch, autocast(True):
            assert same(before, model(**inputs))
    weights = {}

    def seen(path, args, kwargs, output):
        query, key = (of.to(torch.bfloat16).double() for of in args[:2])
        s = query @ key.repeat_interleave(query.shape[1] // key.shape[1], 1).transpose(2, 3) * (kwargs.get("scaling") or query.shape[-1] ** -0.5)
        weights[path] = output[1] if implementation == "eager" else torch.softmax(s.masked_fill(~args[3], -1e300), -1)

    with autocast(True):
        with_attention_seen(model, inputs, seen)
    require_all(watch.result(), weights)


def language_model(name="llama"):
    torch.manual_seed(1)
    return transformers.AutoModelForCausalLM.from_config(MODELS[name][0]()).eval()


@pytest.mark.parametrize(("options", "reason"), [
    ({"prompt_lookup_num_tokens": 3}, "assisted decoding.*call the model once on the finished text"),
    ({"assistant_model": "another"}, "assisted decoding.*call the model once"),
    ({"num_beams": 3}, "beam search.*num_beams=1"),
    ({"num_beams": 3, "max_new_tokens": 1}, "beam search"),
    ({"use_cache": False}, "use_cache=False.*every prefix"),
    ({"use_cache": False, "num_beams": 2}, "use_cache=False"),
])
def test_text_that_is_not_kept_is_refused_and_generated_all_the_same(options, reason):
    model = language_model()
    if "assistant_model" in options:
        options = {"assistant_model": language_model("qwen2")}
    options = {"max_new_tokens": 12, "do_sample": False, "eos_token_id": None, "pad_token_id": 0, **options}
    ids = batch()[0][:1, :20]
    before = model.generate(ids, **options)
    with headwave.watch(model) as watch:
        assert torch.equal(before, model.generate(ids, **options))
    with pytest.raises(headwave.FormatError, match=reason):
        watch.result()


def test_rows_that_ended_do_not_go_on_with_padding():
    model, ids = language_model(), batch()[0][:2, :20]
    model.generation_config.eos_token_id, model.generation_config.pad_token_id = None, 0
    written = model.generate(ids, max_new_tokens=8, do_sample=False)
    end = model.generation_config.eos_token_id = int(written[0, 21])   # the first row ends there
    assert end not in written[1].tolist() + written[0, :21].tolist()
    with headwave.watch(model) as watch:
        again = model.generate(ids, max_new_tokens=8, do_sample=False)
    assert again[0, 22:].tolist() == [0] * 6
    assert watch.result()["causal"].rows[:, 0].tolist() == [22, 20]   # of the second row 7 are padding


def test_tokens_cut_from_a_cache_are_refused():
    model, ids = built(MODELS["llama"][0]()), batch()[0][:1]
    with torch.no_grad(), headwave.watch(model) as watch:
        cache = transformers.DynamicCache(config=model.config)
        model(ids[:, :20], past_key_values=cache, use_cache=True)
        cache.crop(-5)
    with pytest.raises(headwave.FormatError, match="20 tokens of a cache were counted, and then it was cut to 15"):
        watch.result()
    with torch.no_grad(), headwave.watch(model) as watch:   # cut in another way than by crop
        cache = transformers.DynamicCache(config=model.config)
        model(ids[:, :20], past_key_values=cache, use_cache=True)
        for layer in cache.layers:
            layer.keys, layer.values = layer.keys[:, :, :12], layer.values[:, :, :12]
        model(ids[:, 20:], past_key_values=cache, use_cache=True)
    with pytest.raises(headwave.FormatError, match="cut to 12"):
        watch.result()


def test_each_cache_goes_on_with_its_own_documents():
    model, ids = built(MODELS["llama"][0]()), batch()[0]
    with torch.no_grad():
        with headwave.watch(model, exact=16) as whole:
            model(ids[:1], use_cache=False)
            model(ids[1:2, 7:], use_cache=False)
        with headwave.watch(model, exact=16) as watch:
            one, other = transformers.DynamicCache(config=model.config), transformers.StaticCache(config=model.config, max_cache_len=50)
            for a, b in zip(ids[:1].split(10, 1), ids[1:2, 7:].split(9, 1)):
                model(a, past_key_values=one, use_cache=True)
                model(b, past_key_values=other, use_cache=True)
    of, expected = watch.result()["causal"], whole.result()["causal"]
    assert of.documents == 2 and of.rows[:, 0].tolist() == [40, 33]
    np.testing.assert_allclose(of.weight, expected.weight, atol=1e-4)


@pytest.mark.parametrize(("name", "implementation", "kind"), [
    *((*of, kind) for of in (("llama", "sdpa"), ("llama", "eager"), ("gpt2", "eager"), ("bert", "sdpa")) for kind in ("boolean", "isolated", -1e4)),
    ("mixtral", "sdpa", "boolean"), ("bert", "eager", float("-inf"))])
def test_a_mask_of_four_axes_tells_padding(name, implementation, kind):
    """-inf is for bert alone: rows that may look nowhere are NaN in the model itself."""
    ids, mask = batch()
    text = mask.bool()
    ones = torch.ones(40, 40, dtype=torch.bool)
    allowed = (ones if name == "bert" else ones.tril()) & text[:, None, None] & torch.ones_like(text)[:, None, :, None]
    if kind == "isolated":   # padding looks at itself alone
        allowed = allowed & text[:, None, :, None] | torch.eye(40, dtype=torch.bool)
    added = torch.zeros(allowed.shape).masked_fill(~allowed, kind if isinstance(kind, float) else -1e4)
    positions = {} if name == "bert" else {"position_ids": (mask.cumsum(1) - 1).clamp(min=0)}
    inputs = {"input_ids": ids, "attention_mask": allowed if isinstance(kind, str) and implementation == "sdpa" else added, **positions}
    model = built(MODELS[name][0](), implementation)
    with torch.no_grad():
        before = model(**inputs)
        with headwave.watch(model, exact=16) as watch:
            model(input_ids=ids[:, :20])
            assert same(before, model(**inputs))
    profiles = watch.result()
    assert list(profiles.stacks) == ["self" if name == "bert" else "causal"]
    (stack,) = profiles.stacks.values()
    assert stack.rows[:, 0].tolist() == [20, 20, 20, 40, 33, 30]
    weights = eager_weights(built(MODELS[name][0](), "eager"), {**inputs, "attention_mask": added})
    for layer, path in enumerate(stack.layers):
        for d, (first, end) in enumerate(SPANS):
            require_same_sums(stack, layer, d + 3, weights[path][d].double().numpy()[:, first:end, first:end])


@pytest.mark.parametrize(("name", "window"), [("llama", 40), ("bert", 40), ("mistral", 9)])
def test_padding_at_the_end_that_sees_the_text_and_itself_does_not_count(name, window):
    """As masks that add the diagonal have it, so that no query is without a key."""
    model, ids, length = built(MODELS[name][0](), "sdpa"), batch()[0], [40, 33, 30]
    t = torch.arange(40) - torch.arange(40)[:, None]
    text = torch.arange(40) < torch.tensor(length)[:, None]
    allowed = (t.abs() < window) & ((t <= 0) | (name == "bert"))
    allowed = allowed & text[:, None, None] | torch.eye(40, dtype=torch.bool)
    with torch.no_grad(), headwave.watch(model, exact=39) as watch:
        model(ids, attention_mask=allowed)
    with torch.no_grad(), headwave.watch(model, exact=39) as whole:
        for row, end in enumerate(length):
            model(ids[row:row + 1, :end], attention_mask=allowed[row:row + 1, :, :end, :end])
    (stack,), (expected,) = watch.result().stacks.values(), whole.result().stacks.values()
    assert stack.rows[:, 0].tolist() == length
    np.testing.assert_allclose(stack.weight, expected.weight, atol=1e-4)


def test_masks_with_gaps_hide_no_text():
    """The last tokens under a mask of every second key are looked at by no other, and are text."""
    model, ids = built(MODELS["llama"][0](), "sdpa"), batch()[0]
    t = torch.arange(40) - torch.arange(40)[:, None]
    for every in (2, 3):
        with torch.no_grad(), headwave.watch(model) as watch:
            model(ids[:1], attention_mask=((t <= 0) & (t % every == 0))[None, None])
        assert watch.result()["causal"].rows.sum(0).tolist() == [40, 40]


def test_a_mask_of_four_axes_goes_on_with_a_cache():
    model, (ids, mask) = built(MODELS["llama"][0]()), batch()
    allowed = torch.ones(40, 40, dtype=torch.bool).tril() & mask.bool()[:, None, None]
    with torch.no_grad(), headwave.watch(model) as watch:
        cache = transformers.DynamicCache(config=model.config)
        for part in (slice(0, 25), slice(25, 39), slice(39, 40)):
            model(ids[:2, part], attention_mask=allowed[:2, :, part, :part.stop], past_key_values=cache, use_cache=True)
    stack = watch.result()["causal"]
    assert stack.documents == 2 and stack.rows[:, 0].tolist() == [40, 33]


def test_a_mask_of_keys_alone_is_that_of_every_query():
    model, (ids, mask) = built(MODELS["bert"][0](), "sdpa"), batch()
    with torch.no_grad():
        with headwave.watch(model) as two:
            model(ids, attention_mask=mask)
        with headwave.watch(model) as four:
            model(ids, attention_mask=mask.bool()[:, None, None])
    np.testing.assert_allclose(four.result()["self"].weight, two.result()["self"].weight, atol=1e-5)


def test_padding_between_tokens_is_refused():
    model, (ids, mask) = built(MODELS["llama"][0]()), batch()
    mask[1, 20:22] = 0
    with torch.no_grad():
        before = model(ids, attention_mask=mask)
        with headwave.watch(model) as watch:
            assert same(before, model(ids, attention_mask=mask))
    with pytest.raises(headwave.FormatError, match="row 1 of the batch has padding between its tokens"):
        watch.result()


def test_a_boolean_mask_that_eager_attention_adds_is_refused():
    model, ids = built(MODELS["llama"][0](), "eager"), batch()[0][:1]
    with torch.no_grad(), headwave.watch(model) as watch:
        model(ids, attention_mask=torch.ones(1, 1, 40, 40, dtype=torch.bool).tril())
    with pytest.raises(headwave.FormatError, match="looked at keys that its mask forbids.*'sdpa'"):
        watch.result()


def test_nan_is_refused_by_layer():
    model = built(MODELS["llama"][0]())
    model.layers[1].self_attn.q_proj.weight.data[0, 0] = float("nan")
    with torch.no_grad(), headwave.watch(model) as watch:
        model(**given("llama"))
    with pytest.raises(headwave.FormatError, match="layers.1.self_attn has NaN"):
        watch.result()


def test_packed_sequences_that_see_each_other_are_told():
    model, ids = built(MODELS["llama"][0](), "sdpa"), batch()[0][:1]
    positions = torch.cat([torch.arange(n) for n in (11, 17, 12)])[None]
    with torch.no_grad(), headwave.watch(model) as watch:
        model(input_ids=ids, position_ids=positions, use_cache=True)
    with pytest.warns(UserWarning, match="token 11 of row 0.*count as one document.*use_cache=False"):
        assert watch.result()["causal"].documents == 1


def test_recomputed_layers_are_counted_once():
    model, inputs = built(MODELS["llama"][0]()), given("llama")
    with torch.no_grad(), headwave.watch(model) as plain:
        model(**inputs)
    model.train()
    model.gradient_checkpointing_enable()
    with headwave.watch(model) as watch:
        model(**inputs, use_cache=False).last_hidden_state.sum().backward()
    np.testing.assert_allclose(watch.result()["causal"].weight, plain.result()["causal"].weight, atol=1e-5)


def test_cross_attention_of_a_decoder_that_generates_stands_where_its_queries_do():
    torch.manual_seed(1)
    model = transformers.BartForConditionalGeneration(MODELS["bart"][0]()).eval()
    ids, mask = batch()
    with headwave.watch(model, exact=16) as watch:
        written = model.generate(ids, attention_mask=mask, max_new_tokens=6, min_new_tokens=6, do_sample=False, num_beams=1)
    with torch.no_grad(), headwave.watch(model, exact=16) as whole:
        model(input_ids=ids, attention_mask=mask, decoder_input_ids=written[:, :-1])
    for kind in ("causal", "cross"):
        np.testing.assert_allclose(watch.result()[kind].weight, whole.result()[kind].weight, atol=1e-4)


def test_inference_mode_and_gradients_do_not_matter():
    model, inputs = built(MODELS["llama"][0]()), given("llama")
    results = []
    for mode in (torch.inference_mode, torch.no_grad, torch.enable_grad):
        with mode(), headwave.watch(model) as watch:
            output = model(**inputs)
        results.append(watch.result()["causal"].weight)
    assert output.last_hidden_state.requires_grad
    with headwave.watch(model) as watch:   # begun in one mode, gone on with in another
        with torch.inference_mode():
            model(**inputs)
        with torch.no_grad():
            model(**inputs)
    results.append(watch.result()["causal"].weight[:3])
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)


def test_a_compiled_model_is_watched_too():
    model, inputs = built(MODELS["llama"][0](), "sdpa"), given("llama")
    with torch.no_grad():
        with headwave.watch(model) as plain:
            model(**inputs)
        compiled = torch.compile(model, backend="aot_eager")
        before = compiled(**inputs)                      # compiled before it is watched
        with headwave.watch(model) as watch:
            compiled(**inputs)
        assert same(before, compiled(**inputs))
    np.testing.assert_allclose(watch.result()["causal"].weight, plain.result()["causal"].weight, atol=1e-4)


def test_the_model_is_left_as_it_was():
    from transformers.cache_utils import Cache
    from transformers.masking_utils import AttentionMaskInterface
    from transformers.modeling_utils import AttentionInterface

    model, inputs = built(MODELS["llama"][0]()), given("llama")

    def state():
        hooks = [(len(m._forward_hooks), len(m._forward_pre_hooks), sorted(vars(m))) for m in model.modules()]
        return (hooks, model.config.to_dict(), model.config._attn_implementation, AttentionInterface.get_interface,
                "__getitem__" in vars(AttentionMaskInterface), dict(vars(Cache)), dict(AttentionInterface._global_mapping))

    before = state()
    with torch.no_grad(), headwave.watch(model):
        model(**inputs)
    assert state() == before

    class Stop(Exception):
        pass

    def stops(*_):
        raise Stop

    stopping = model.layers[1].mlp.register_forward_pre_hook(stops)
    with pytest.raises(Stop), headwave.watch(model) as watch:
        model(**inputs)
    stopping.remove()
    assert state() == before
    with pytest.raises(headwave.FormatError, match="ended with an exception"):
        watch.result()
    headwave.watch(model)   # nobody keeps it
    gc.collect()
    assert state() == before


def test_two_watches_at_once_see_the_same_and_other_models_are_not_seen():
    model, other, inputs = built(MODELS["llama"][0]()), built(MODELS["llama"][0]()), given("llama")
    with torch.no_grad(), headwave.watch(model) as first, headwave.watch(model, exact=5) as second:
        model(**inputs)
        other(**inputs)
    assert first.documents == second.documents == 3
    np.testing.assert_array_equal(first.result()["causal"].entropy, second.result()["causal"].entropy)


def test_nothing_leaks():
    model, inputs = built(MODELS["llama"][0]()), {"input_ids": batch()[0][:1, :12]}

    def alive():
        gc.collect()
        return sum(isinstance(each, torch.Tensor) for each in gc.get_objects())

    with torch.no_grad(), headwave.watch(model) as watch:
        for _ in range(5):
            model(**inputs)
        before = alive()
        for _ in range(1000):
            model(**inputs)
        assert alive() <= before + 2
        assert not watch._calls.frames and not watch._calls.masks
    assert watch.documents == 1005


def test_blocks_add_up():
    model = built(transformers.LlamaConfig(**{**MODELS["llama"][0]().to_diff_dict(), "max_position_embeddings": 512}))
    ids = torch.randint(3, 64, (5, 300), generator=torch.Generator().manual_seed(1))
    with torch.no_grad(), headwave.watch(model, blocks=2, exact=32) as watch:
        model(ids[:3])
        model(ids[3:])
    stack = watch.result()["causal"]
    assert list(stack.block_documents) == [3, 2] and list(stack.rows[:, 0]) == [900, 600]
    counts = np.array([5 * sum(max(0, 300 - t) for t in range(-last, -first + 1)) for first, last in zip(stack.first_offset, stack.last_offset)])
    np.testing.assert_array_equal(stack.pairs[:, 0].sum((0, 1)), counts)


def test_special_tokens_are_counted_apart():
    model = built(MODELS["bert"][0]())
    ids = batch()[0][:1]
    ids[0, 0], ids[0, 20], ids[0, -1] = 1, 2, 2
    with torch.no_grad(), headwave.watch(model, special=[1, 2], exact=40) as watch:
        model(ids)
    stack = watch.result()["self"]
    weights = eager_weights(built(MODELS["bert"][0](), "eager"), {"input_ids": ids})[stack.layers[0]][0].double().numpy()
    keep = ~np.isin(np.arange(40), [0, 20, 39])
    regular = weights * keep[:, None] * keep
    np.testing.assert_allclose(stack.weight[0, 0, 0], by_bin(regular, stack), atol=1e-5)
    assert stack.pairs[0, 0, 0].sum() == 37 * 37 and stack.pairs[0, 0, 1].sum() == 40 * 40 - 37 * 37


def test_sampled_rows_give_the_sums_of_all_without_bias():
    model = built(transformers.LlamaConfig(**{**MODELS["llama"][0]().to_diff_dict(), "max_position_embeddings": 2048}))
    ids = torch.randint(3, 64, (1, 1500), generator=torch.Generator().manual_seed(1))
    with torch.no_grad(), headwave.watch(model, exact=8) as watch:
        model(ids)
    whole = watch.result()["causal"].weight.sum(0)
    squares, mean = 0, 0
    for seed in range(12):
        with torch.no_grad(), headwave.watch(model, exact=8, rows=640, seed=seed) as watch:
            model(ids)
        stack = watch.result()["causal"]
        assert stack.rows.sum() == pytest.approx(2 * 1500)
        error = stack.weight.sum(0) - whole
        squares, mean = squares + error ** 2, mean + error / 12
    assert 0 < (mean ** 2).sum() < 0.25 * squares.sum() / 12


def test_the_file_holds_what_was_summed(tmp_path):
    h5py = pytest.importorskip("h5py")
    model = built(MODELS["gemma3"][0]())
    with torch.no_grad(), headwave.watch(model) as watch:
        model(**given("gemma3"))
    result = watch.result()
    result.save(tmp_path / "profiles.h5")
    with h5py.File(tmp_path / "profiles.h5") as file:
        assert file.attrs["format"] == "headwave profiles" and file.attrs["format_version"] == 2 and file.attrs["model"] == "Gemma3TextModel"
        group, stack = file["causal"], result["causal"]
        assert group.attrs["documents"] == 3 and len(group.attrs["ids_sha256"]) == 64 and group.attrs["kv_heads"] == 2
        np.testing.assert_allclose(group["weight"][()], stack.weight, rtol=1e-6)
        np.testing.assert_array_equal(group["pairs"][()], stack.pairs)
        assert [axis.label for axis in group["weight"].dims] == ["block", "layer", "kind", "head", "bin"]
        assert group["layer"].asstr()[()].tolist() == stack.layers and group["window"][()].tolist() == [9, 9]
    with pytest.raises(headwave.IoError, match="already there"):
        result.save(tmp_path / "profiles.h5")


def test_the_digest_is_that_of_the_ids():
    digests = []
    for ids in (batch()[0], batch()[0], batch()[0].flip(0)):
        model = built(MODELS["llama"][0]())
        with torch.no_grad(), headwave.watch(model) as watch:
            model(ids)
        digests.append(watch.result()["causal"].digest)
    assert digests[0] == digests[1] != digests[2]


def test_what_is_no_argument_is_refused():
    model = built(MODELS["llama"][0]())
    with pytest.raises(headwave.FormatError, match="expected a torch.nn.Module"):
        headwave.watch("llama")
    with pytest.raises(headwave.ShapeError, match="rows"):
        headwave.watch(model, rows=3)
    with pytest.raises(headwave.FormatError, match="kernel='cuda'"):
        headwave.watch(model, kernel="cuda")
    with pytest.raises(headwave.ShapeError, match="room=-1.0: expected a finite number from 0 to"):
        headwave.watch(model, room=-1)
    with headwave.watch(model) as watch, pytest.raises(headwave.ShapeError, match="no attention ran"):
        watch.result()
    scores = types.SimpleNamespace(query=torch.zeros(1, 4, 3, 2), key=torch.zeros(1, 1, 3, 2))
    layer = types.SimpleNamespace(path="attn", heads=4, kv_heads=2)
    with pytest.raises(headwave.FormatError, match="attn has 4 heads and 1 key heads in this call, but 4 and 2 in the calls before"):
        headwave.profiles.layers.Layer.see(layer, scores, {})


def test_gpt2_that_reorders_and_upcasts_is_refused_before_it_runs():
    model = built(transformers.GPT2Config(**{**MODELS["gpt2"][0]().to_diff_dict(), "reorder_and_upcast_attn": True}), "eager")
    with pytest.raises(headwave.FormatError, match=r"h.0.attn .*reorder_and_upcast_attn.*set_attn_implementation\('sdpa'\)"):
        headwave.watch(model)
    expected = eager_weights(built(MODELS["gpt2"][0](), "eager"), given("gpt2"))
    model.set_attn_implementation("sdpa")
    with torch.no_grad(), headwave.watch(model, exact=64) as watch:
        model(**given("gpt2"))
    stack = watch.result().stacks["causal"]
    for layer, weights in enumerate(expected.values()):
        whole = sum(by_bin(weights[row, :, a:z, a:z].numpy(), stack) for row, (a, z) in enumerate(SPANS))
        np.testing.assert_allclose(stack.weight[:, layer].sum((0, 1)), whole, atol=1e-4)


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
def test_layers_that_call_attention_twice_are_refused_with_a_remedy_that_works(implementation):
    model = built(transformers.DiffLlamaConfig(**MODELS["llama"][0]().to_diff_dict()), implementation)
    ids = given("llama")["input_ids"][:1]
    with torch.no_grad(), headwave.watch(model), pytest.raises(headwave.FormatError, match="DiffLlamaAttention.*several times") as refused:
        model(ids)
    assert "language_model" not in str(refused.value) and "headwave.run(states=model(ids, output_attentions=True).attentions)" in str(refused.value)
    model.set_attn_implementation("eager")
    with torch.no_grad():
        attentions = model(ids, output_attentions=True).attentions
    weight = headwave.run(states=attentions, only=["attention_map"])["attention_map/weight"]
    np.testing.assert_allclose(np.asarray(weight), torch.stack(attentions)[:, 0].flatten(0, 1).numpy(), atol=1e-6)


def test_dropped_weights_and_unknown_functions_are_refused_by_name():
    from transformers.modeling_utils import AttentionInterface

    inputs = given("bert")
    model = built(transformers.BertConfig(**{**MODELS["bert"][0]().to_diff_dict(), "attention_probs_dropout_prob": 0.5})).train()
    with headwave.watch(model), pytest.raises(headwave.FormatError, match="model.eval()"):
        model(**inputs)

    def strange(module, query, key, value, attention_mask, **_):
        return value.transpose(1, 2), None

    AttentionInterface.register("strange", strange)
    try:
        model = built(MODELS["llama"][0]())
        model.config._attn_implementation = "strange"
        with headwave.watch(model), pytest.raises(headwave.FormatError, match="'strange'.*watch does not know"), torch.no_grad():
            model(**given("llama"))
    finally:
        del AttentionInterface._global_mapping["strange"]


def flash(query, key, value, attention_mask, query_length=None, is_causal=True, softmax_scale=None, sliding_window=None, softcap=None, s_aux=None,
          position_ids=None, **_):
    """Stands in for flash attention, as its documentation describes it: (B, T, H, d), the last query at the last key."""
    q, k, v = (each.transpose(1, 2).double() for each in (query, key, value))
    k, v = (each.repeat_interleave(q.shape[1] // k.shape[1], 1) for each in (k, v))
    s = q @ k.transpose(2, 3) * softmax_scale
    if softcap:
        s = softcap * torch.tanh(s / softcap)
    t = torch.arange(k.shape[2])[None] - torch.arange(q.shape[2])[:, None] - (k.shape[2] - q.shape[2])
    open_ = (t <= 0) if is_causal else torch.ones_like(t, dtype=torch.bool)
    if sliding_window and k.shape[2] > sliding_window:
        open_ = open_ & (t > -sliding_window) & (t < sliding_window)
    open_ = open_.expand(q.shape[0], 1, *t.shape)
    if attention_mask is not None:
        open_ = open_ & attention_mask.bool()[:, None, None]
    s = s.masked_fill(~open_, -1e300)
    if s_aux is not None:
        s = torch.cat([s, s_aux.double().view(1, -1, 1, 1).expand(*s.shape[:3], 1)], -1)
    a = torch.softmax(s, -1)
    flash.weights.append(a[..., :k.shape[2]])
    return (a[..., :k.shape[2]] @ v).to(query.dtype).transpose(1, 2).contiguous()


@pytest.mark.parametrize("name", ["llama", "mistral", "gemma2", "gpt_oss", "bert", "modernbert"])
def test_flash_attention_is_read_as_it_computes(name, monkeypatch):
    """Without a GPU: its place is taken by a function that does what it does."""
    from transformers.integrations import flash_attention

    monkeypatch.setattr(flash_attention, "_flash_attention_forward", flash)
    model, inputs = built(MODELS[name][0](), "eager"), given(name)
    model.config._attn_implementation = "flash_attention_2"
    flash.weights = []
    with torch.no_grad(), headwave.watch(model, exact=16) as watch:
        model(**inputs)
    stack = next(iter(watch.result().stacks.values()))
    require_all(watch.result(), dict(zip(stack.layers, flash.weights)))


def test_packed_sequences_of_flash_attention():
    from headwave.profiles.implementations import read
    from transformers.integrations.flash_attention import flash_attention_forward

    query = torch.randn(1, 2, 10, 4)
    module = types.SimpleNamespace(training=False, is_causal=True)
    positions = torch.tensor([[0, 1, 2, 0, 1, 2, 3, 4, 5, 6]])
    ends = torch.tensor([0, 3, 10], dtype=torch.int32)
    for more in ({"position_ids": positions}, {"cu_seq_lens_q": ends, "cu_seq_lens_k": ends}):
        arguments = {"module": module, "query": query, "key": query, "attention_mask": None, **more}
        scores = read(flash_attention_forward, "flash_attention_2", arguments, None, 0)
        allowed = scores.allowed([0], 0, 10, 0, 10).flip(2)[0, 0]
        expected = torch.block_diag(torch.ones(3, 3), torch.ones(7, 7)).bool() & torch.ones(10, 10).tril().bool()
        assert torch.equal(allowed, expected)


def test_functions_that_have_grown_are_refused_by_name(monkeypatch):
    from headwave.profiles import implementations

    monkeypatch.setattr(implementations, "_SDPA", implementations._SDPA - {"is_causal"})
    model = built(MODELS["llama"][0](), "sdpa")
    with headwave.watch(model), pytest.raises(headwave.FormatError, match="takes the argument 'is_causal', which watch does not know"), torch.no_grad():
        model(**given("llama"))


def test_flex_attention_is_read_as_it_computes():
    """With a window, a soft cap and grouped queries; PyTorch compiles it, which takes a while."""
    model, inputs = built(MODELS["gemma2"][0](), "flex_attention"), given("gemma2")
    with torch.no_grad():
        try:
            before = model(**inputs)
        except Exception as error:  # no compiler, or none that PyTorch can use
            pytest.skip(f"flex attention does not run here: {type(error).__name__}")
        with headwave.watch(model, exact=16) as watch:
            assert same(before, model(**inputs))
    require_all(watch.result(), eager_weights(built(MODELS["gemma2"][0](), "eager"), inputs))


@pytest.mark.parametrize("family", ["bert-mlm", "gpt2", "llama", "qwen3", "gemma2"])
def test_watch_and_the_program_agree(family, ids):
    """Mean weights at every offset and entropies of golden models: two implementations, one in C++."""
    from conftest import MODELS as GOLDEN

    result = headwave.run(GOLDEN / family, ids=ids, only=["measured_offset", "head_types"], reach=11)
    model = transformers.AutoModel.from_pretrained(GOLDEN / family).float().eval()
    with torch.no_grad(), headwave.watch(model, exact=23) as watch:
        model(torch.as_tensor(ids))
    stack = next(iter(watch.result().stacks.values()))
    trace, ours = result["offset_trace"]["mean_weight"], stack.mean_weight()
    theirs = np.asarray(trace.values)[[str(pairs) for pairs in np.asarray(trace.coords["pairs"])].index("all")]
    offsets = np.arange(theirs.shape[-1]) - theirs.shape[-1] // 2
    columns = [list(offsets).index(t) for t in stack.first_offset]
    ours = np.nan_to_num(ours)   # beyond a window there is no pair; the program says 0
    np.testing.assert_allclose(ours, theirs[..., columns], atol=1e-6)
    np.testing.assert_allclose(stack.entropy.sum(0) / stack.rows.sum(0)[:, None], np.asarray(result["head_types"]["entropy"].values), atol=1e-5)


def watched(ids, **options):
    model = built(transformers.LlamaConfig(**{**MODELS["llama"][0]().to_diff_dict(), "max_position_embeddings": 512}))
    with torch.no_grad(), headwave.watch(model, **options) as watch:
        model(ids)
    return watch.result()


def test_profiles_of_two_processes_add_up_to_those_of_one(tmp_path):
    pytest.importorskip("h5py")
    ids = torch.randint(3, 64, (7, 300), generator=torch.Generator().manual_seed(1))
    whole, parts = watched(ids, blocks=4, exact=16), [watched(ids[:4], blocks=4, exact=16), watched(ids[4:, :200], blocks=4, exact=16)]
    parts[0].save(tmp_path / "0.h5")
    added = headwave.open(tmp_path / "0.h5") + parts[1]
    first = watched(ids[:4], blocks=4, exact=16)["causal"]
    second = parts[1]["causal"]
    stack = added["causal"]
    assert stack.documents == 7 and list(stack.block_documents) == [2, 2, 2, 1] and whole["causal"].documents == 7
    assert np.array_equal(stack.first_offset, first.first_offset) and len(second.first_offset) < len(first.first_offset)
    np.testing.assert_allclose(stack.kept.sum(0), first.kept.sum(0) + second.kept.sum(0), rtol=1e-6)
    both = watched(ids[:4], blocks=1, exact=16)["causal"].weight.sum((0, 2))
    shorter = watched(ids[4:, :200], blocks=1, exact=16)["causal"]
    for bin, offset in enumerate(shorter.first_offset):
        both[..., np.flatnonzero(first.first_offset == offset)[0]] += shorter.weight.sum((0, 2))[..., bin]
    np.testing.assert_allclose(stack.weight.sum((0, 2)), both, rtol=1e-5, atol=1e-7)
    assert (parts[1] + parts[0])["causal"].pairs.sum() == stack.pairs.sum()
    with pytest.raises(headwave.ShapeError, match="exact=8"):
        added + watched(ids[:1], exact=8)
    with pytest.raises(headwave.ShapeError, match="the same documents"):
        parts[0] + watched(ids[:4], blocks=4, exact=16)


def test_a_window_and_what_is_beyond_it_are_those_of_the_weights():
    ids = torch.randint(3, 64, (6, 200), generator=torch.Generator().manual_seed(2))
    result = watched(ids, exact=256, first=4, blocks=3)
    stack = result["causal"]
    model = built(transformers.LlamaConfig(**{**MODELS["llama"][0]().to_diff_dict(), "max_position_embeddings": 512}), "eager")
    weights = np.stack([of.double().numpy() for of in eager_weights(model, {"input_ids": ids}).values()])  # (layers, documents, heads, T, T)
    i, j = np.indices(weights.shape[-2:])
    distances = stack.distances(shares=(0.5, 0.9, 0.99), recent=(1, 10, 100))
    assert distances["recent"].values.tolist() == [1, 10, 100]
    for column, recent in enumerate((1, 10, 100)):
        beyond = np.where((i - j >= recent) & (j >= 4), weights, 0).sum((-1, -2))
        np.testing.assert_allclose(distances["distant"][..., column], beyond.sum(1) / weights.sum((1, 3, 4)), atol=1e-5)
        by_block = [np.delete(beyond, np.s_[b::3], 1).sum(1) / np.delete(weights, np.s_[b::3], 1).sum((1, 3, 4)) for b in range(3)]
        np.testing.assert_allclose(distances["distant_error"][..., column], np.sqrt(2 / 3 * np.square(by_block - np.mean(by_block, 0)).sum(0)), atol=1e-5)
        grouped = distances["key_head_distant"].values[..., column]
        np.testing.assert_allclose(grouped, distances["distant"].values[..., column].reshape(2, 2, 2).max(-1))
    for share in (0.5, 0.9, 0.99):
        window = distances[f"window_{100 * share:g}"].values
        inside = lambda w: np.where((i - j < w[:, None, None, None, None]) | (j < 4) | (i < 4), weights, 0).sum((1, 3, 4))  # noqa: E731
        for head in range(4):
            of_head = window[:, head]
            assert (inside(np.ceil(of_head))[:, head] >= (share - 1e-6) * weights.sum((1, 3, 4))[:, head]).all()
            assert ((inside(np.floor(of_head) - 1e-9)[:, head] <= (share + 1e-6) * weights.sum((1, 3, 4))[:, head]) | (of_head < 1)).all()


def weight_apart(stack):
    return stack.weight[:, :, 1].sum((0, -1)) / stack.kept.sum(0)


def test_the_largest_slashes_are_those_of_the_profile():
    stack = watched(torch.randint(3, 64, (2, 100), generator=torch.Generator().manual_seed(3)), exact=64)["causal"]
    distances = stack.distances()
    far, found, error = (distances[name].values[..., :3] for name in ("slash_distance", "slash_weight", "slash_error"))
    mean = np.where(stack.pairs[:, :, :1].sum(0) >= 0.25 * 198, stack.mean_weight(apart=False), np.nan)   # of 2 x 99 regular tokens
    np.testing.assert_allclose(found[..., 0], np.nanmax(mean, -1))
    assert far.shape == (2, 4, 3) and (far >= 0).all() and (np.diff(found) <= 0).all()
    weight, pairs = stack.weight[:, :, 0], stack.pairs[:, :, 0]
    of_documents = np.stack([np.take_along_axis(weight[b] / pairs[b][:, None], np.searchsorted(stack.first_offset, -far.astype(int)), -1) for b in range(2)])
    np.testing.assert_allclose(error, np.abs(of_documents[0] - of_documents[1]) / 2)
    np.testing.assert_allclose(distances["apart"], weight_apart(stack), rtol=1e-5)   # tiles are float32


def test_profiles_are_opened_without_pytorch(tmp_path):
    pytest.importorskip("h5py")
    watched(torch.randint(3, 64, (2, 40))).save(tmp_path / "profiles.h5")
    code = f"import sys; sys.modules['torch'] = None; import headwave; print(headwave.open({str(tmp_path / 'profiles.h5')!r})['causal'].distances(recent=8)['distant'].shape)"
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip() == "(2, 4, 1)"
    (tmp_path / "other.h5").write_bytes((tmp_path / "profiles.h5").read_bytes()[:900])
    with pytest.raises(headwave.Error, match="other.h5"):
        headwave.open(tmp_path / "other.h5")


def test_run_watches_models_of_unknown_families_and_says_so():
    ids = batch()[0][:2].tolist()
    model = built(MODELS["jamba"][0]())
    with pytest.warns(UserWarning, match="JambaModel.*'jamba' is not known; headwave.watch measures it instead"):
        found = headwave.run(model, ids=[*ids, ids[0]], reach=16)
    with torch.no_grad(), headwave.watch(model, exact=128, null=True) as watch:
        for one in ids:   # equal documents count once
            model(torch.tensor([one]))
    assert found.computed_by == "watch" and found.provenance["documents"] == 2 and "head_types" in found
    same = headwave.run(profiles=watch.result(), reach=16)
    for name in ("offset_trace/mean_weight", "measured_offset/offset", "head_types/previous", "attention_distance/window_95"):
        np.testing.assert_array_equal(found[name], same[name])
    with pytest.warns(UserWarning, match="no result of wave_spectra: sums over documents do not suffice"):
        headwave.run(model, ids=ids, only=["measured_offset", "wave_spectra"])
    result = headwave.run(built(MODELS["llama"][0]()), ids=ids, only=["measured_offset"])
    assert result.computed_by == "program"
    for name, named in (("mpt", "MptAttention"), ("xlnet", "XLNetRelativeAttention")):   # XLNet's config has -1 positions: any number
        with pytest.raises(headwave.FormatError, match=named), pytest.warns(UserWarning):
            headwave.run(built(REFUSED[name][0]()), ids=ids)


def test_run_without_an_account_where_contents_cannot_be_dealt():
    ids = batch()[0][:2].tolist()
    model = built(MODELS["jamba"][0]())
    model.set_attn_implementation("eager")
    with pytest.warns(UserWarning, match="omits the account: watch: .*deal=True"):
        found = headwave.run(model, ids=[*ids, [5]], reach=16)   # a token alone has no pair
    assert "head_account" not in found and "measured_offset" in found and found.provenance["documents"] == 2
    assert "queries and keys of documents" in str(found.provenance["undefined_account"])


@pytest.mark.parametrize("options", [{}, {"deal": True, "queries": True}])
@pytest.mark.parametrize("name", ["llama", "mistral", "gemma3"])
def test_a_static_cache_with_room_for_more_changes_nothing(name, options):
    """Keys that come after the document are no part of it; those that were kept for the account were turned already."""
    model, ids = built(MODELS[name][0]()), batch()[0]
    found = []
    for cache in (None, transformers.StaticCache(config=model.config, max_cache_len=50)):
        with torch.no_grad(), headwave.watch(model, exact=16, **options) as watch:
            model(ids, past_key_values=cache, use_cache=cache is not None)
        found.append(watch.result()["causal"])
    one, other = found
    assert one.documents == other.documents == 3
    for label in ("weight", "pairs", "rows", *(("kept_key", "half_query", "unrotated_cov") if options else ())):
        np.testing.assert_allclose(getattr(other, label), getattr(one, label), atol=1e-4, err_msg=label)
