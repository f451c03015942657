"""Files for other tools, read as these tools read them; numbers against PyTorch's, on queries that hooks see."""

import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
transformers = pytest.importorskip("transformers", minversion="5.0", reason="transformers 5 is not installed")
if not hasattr(transformers, "PreTrainedModel"):
    pytest.skip("transformers cannot be used here", allow_module_level=True)

import headwave  # noqa: E402
from conftest import ROOT  # noqa: E402
from test_watch import flash, with_attention_seen  # noqa: E402
from transformers.integrations import flash_attention  # noqa: E402
from watched_models import MODELS, batch, built  # noqa: E402

FIRST = 2


def ids_of(documents, length, seed):
    return torch.randint(3, 64, (documents, length), generator=torch.Generator().manual_seed(seed))


def model_of(length=64, name="llama"):
    return built(
        type(MODELS[name][0]())(**{**MODELS[name][0]().to_diff_dict(), "max_position_embeddings": length})
    )


def watched(model, ids, **options):
    with torch.no_grad(), headwave.watch(model, **options) as watch:
        model(**ids) if isinstance(ids, dict) else model(ids)
    return watch.result()


def queries_of(model, inputs, kept):
    """Outputs of every q_proj, or what q_norm makes of them: (layers, heads, tokens, d), of the tokens kept."""
    found = []
    modules = [getattr(layer.self_attn, "q_norm", layer.self_attn.q_proj) for layer in model.layers]
    hooks = [module.register_forward_hook(lambda _, args, out: found.append(out)) for module in modules]
    with torch.no_grad():
        model(**inputs)
    for hook in hooks:
        hook.remove()
    return torch.stack([out.reshape(*out.shape[:2], 4, -1)[kept].transpose(0, 1) for out in found]).double()


def complex_pairs(queries):
    half = queries.shape[-1] // 2
    return torch.complex(queries[..., :half], queries[..., half:])


@pytest.mark.parametrize("name", ["llama", "qwen3"])
def test_queries_before_rotary_positions_have_the_moments_of_the_projections(name, tmp_path):
    pytest.importorskip("h5py")
    model = model_of(name=name)
    ids, mask = batch()
    kept = mask.bool()
    for row, begin in enumerate((0, 7, 0)):  # the first tokens of a document are counted apart
        kept[row, begin : begin + FIRST] = False
    queries = queries_of(model, {"input_ids": ids, "attention_mask": mask}, kept)
    stack = watched(model, {"input_ids": ids, "attention_mask": mask}, queries=True, first=FIRST)["causal"]
    assert stack.unrotated_tokens.tolist() == [103 - 3 * FIRST] * 2
    for layer in range(2):
        for head in range(4):
            of = queries[layer, head]
            np.testing.assert_allclose(stack.unrotated_mean[layer, head], of.mean(0), atol=1e-5)
            np.testing.assert_allclose(
                stack.unrotated_cov[layer, head], torch.cov(of.T), atol=1e-4 * float(of.var())
            )
            np.testing.assert_allclose(stack.unrotated_modulus[layer, head], complex_pairs(of).abs().mean(0), atol=1e-5)


def test_moments_of_parts_add_up_and_come_back_from_the_file(tmp_path):
    pytest.importorskip("h5py")
    model, ids = model_of(), ids_of(5, 30, 1)
    whole = watched(model, ids, queries=True)["causal"]
    watched(model, ids[:2], queries=True).save(tmp_path / "0.h5")
    added = (headwave.open(tmp_path / "0.h5") + watched(model, ids[2:], queries=True))["causal"]
    for label in ("tokens", "mean", "cov", "modulus"):
        np.testing.assert_allclose(
            getattr(added, f"unrotated_{label}"), getattr(whole, f"unrotated_{label}"), rtol=1e-5, atol=1e-6
        )
    with pytest.raises(headwave.ShapeError, match="queries=True in one and queries=False"):
        watched(model, ids[:2], queries=True) + watched(model, ids[2:])


def test_moments_of_a_text_that_is_generated_are_those_of_the_whole_text():
    torch.manual_seed(1)
    model = transformers.AutoModelForCausalLM.from_config(MODELS["llama"][0]()).eval()
    ids = ids_of(2, 20, 2)
    with headwave.watch(model, queries=True) as watch:
        written = model.generate(ids, max_new_tokens=9, min_new_tokens=9, do_sample=False)
    stack, whole = watch.result()["causal"], watched(model, written[:, :-1], queries=True)["causal"]
    assert stack.unrotated_tokens.tolist() == whole.unrotated_tokens.tolist() == [2 * 27] * 2
    np.testing.assert_allclose(stack.unrotated_cov, whole.unrotated_cov, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(stack.unrotated_modulus, whole.unrotated_modulus, rtol=1e-5)


def test_queries_that_cannot_be_turned_back_are_refused_by_name():
    for name, message in (
        ("gptj", "watch cannot undo"),
        ("llama4", "does not see"),
        ("deepseek_v3", "does not see"),
    ):
        model = built(MODELS[name][0]())
        with (
            torch.no_grad(),
            headwave.watch(model, queries=True),
            pytest.raises(headwave.FormatError, match=message),
        ):
            model(ids_of(1, 20, 3))


def test_duo_attention_reads_patterns(tmp_path):
    result = watched(model_of(512), ids_of(4, 300, 4), first=4)
    result.export("duo_attention", tmp_path / "pattern", recent=64)
    heads = np.loadtxt(tmp_path / "pattern" / "full_attention_heads.tsv", dtype=float, delimiter="\t")
    about = json.loads((tmp_path / "pattern" / "config.json").read_text())
    np.testing.assert_allclose(heads, result["causal"].distances(recent=64)["key_head_distant"][..., 0])
    assert heads.shape == (2, 2) and ((heads >= 0) & (heads <= 1)).all()
    assert (about["sink_size"], about["recent_size"], about["documents"]) == (4, 64, 4) and np.shape(
        about["standard_error"]
    ) == (2, 2)


def in_tool(code, *arguments, tool="kvpress"):
    """What a script prints that imports another tool. It has a process of its own: importing kvpress changes attention functions of transformers."""
    if importlib.util.find_spec(tool) is None:
        pytest.skip(f"{tool} is not installed")
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], check=True, capture_output=True, text=True
    ).stdout


def documented(part):
    """The snippet of docs/profiles.md that contains a part."""
    text = (ROOT / "docs" / "profiles.md").read_text()
    return next(code for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if part in code)


def test_kvpress_reads_patterns_of_duo_attention(tmp_path):
    """By the snippet of the docs: its class reads patterns from the network only."""
    result = watched(model_of(512), ids_of(4, 300, 4), first=4)
    result.export("duo_attention", tmp_path / "pattern", recent=64)
    printed = in_tool(
        """
import os, sys, types
os.chdir(sys.argv[1])
exec(sys.argv[2])
press.post_init_from_model(types.SimpleNamespace(device="cpu"))
print(json.dumps([press.sink_size, press.recent_size, press.streaming_mask.tolist()]))
""",
        tmp_path,
        documented("DuoAttentionPress(head_compression_ratio"),
    )
    sink, recent, streaming = json.loads(printed.splitlines()[-1])
    assert (sink, recent) == (4, 64)
    distant = result["causal"].distances(recent=64)["key_head_distant"][..., 0]
    np.testing.assert_array_equal(streaming, distant < np.median(distant))   # the half that looks least far


@pytest.fixture()
def calibrated():
    model, ids = model_of(), ids_of(6, 40, 7)
    kept = torch.ones_like(ids, dtype=torch.bool)
    kept[:, :FIRST] = False
    return watched(model, ids, queries=True, first=FIRST), queries_of(model, {"input_ids": ids}, kept)


def test_kvpress_reads_statistics_of_queries(tmp_path, calibrated):
    safetensors = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
    result, queries = calibrated
    result.export("kvpress", tmp_path)
    tensors = safetensors.load_file(tmp_path / "model.safetensors")
    assert sorted(tensors) == ["query_cov", "query_mean"] and tensors["query_cov"].shape == (2, 4, 8, 8)
    np.testing.assert_allclose(tensors["query_mean"], queries.mean(2), atol=1e-5)
    np.testing.assert_allclose(
        tensors["query_cov"][1, 3], torch.cov(queries[1, 3].T), atol=1e-4 * float(queries.var())
    )
    config = json.loads((tmp_path / "config.json").read_text())
    assert (config["n_sink"], config["num_samples"], config["sample_seq_len"]) == (FIRST, 6, 40)

    in_tool(
        """
import sys, types, torch
from kvpress.presses.expected_attention_with_stats import ExpectedAttentionStatsPress
press = ExpectedAttentionStatsPress(stats_folder=sys.argv[1])
press.post_init_from_model(types.SimpleNamespace(device="cpu", dtype=torch.float32))
torch.save([press.mu.detach(), press.cov.detach()], sys.argv[2])
""",
        tmp_path,
        tmp_path / "read.pt",
    )
    mean, cov = torch.load(tmp_path / "read.pt")
    np.testing.assert_array_equal(mean, tensors["query_mean"])
    np.testing.assert_array_equal(cov, tensors["query_cov"])


@pytest.fixture()
def turned(tmp_path):
    """stats.pt of a model with other frequencies than those of theta = 10,000."""
    pytest.importorskip("h5py")
    scaled = {"rope_type": "linear", "factor": 4.0, "rope_theta": 500000.0}
    model = built(transformers.LlamaConfig(**{**MODELS["llama"][0]().to_diff_dict(), "rope_parameters": scaled}))
    model.config._name_or_path = "org/tiny"
    watched(model, ids_of(4, 40, 7), queries=True).save(tmp_path / "profiles.h5")
    profiles = headwave.open(tmp_path / "profiles.h5")
    profiles.export("triattention", tmp_path)
    kept = torch.ones(4, 40, dtype=torch.bool)
    kept[:, 0] = False
    return tmp_path / "stats.pt", profiles, queries_of(model, {"input_ids": ids_of(4, 40, 7)}, kept), 500000.0 ** (-torch.arange(0, 8, 2) / 8) / 4


def test_triattention_reads_statistics_of_queries_and_the_frequencies_of_the_model(turned):
    """Numbers as its calibrate.py makes them of the queries of hooks. Without frequencies its loaders took those of theta = 10,000."""
    path, _, queries, frequency = turned
    payload = torch.load(path)
    metadata, stats = payload["metadata"], payload["stats"]
    assert metadata["inv_freq"].dtype == torch.float32
    np.testing.assert_allclose(metadata["inv_freq"], frequency, rtol=1e-6)
    expected = {"model_name": "org/tiny", "num_layers": 2, "num_attention_heads": 4, "num_kv_heads": 2, "head_dim": 8, "rope_theta": 500000.0,
                "rope_scaling": {"rope_type": "linear", "factor": 4.0}, "rope_style": "half", "rope_type": "linear",
                "sampled_heads": [[layer, head] for layer in range(2) for head in range(4)]}
    assert {name: metadata[name] for name in expected} == expected and isinstance(metadata["rope_theta"], float)
    for layer, head in metadata["sampled_heads"]:
        of, pairs = stats[f"layer{layer:02d}_head{head:02d}"], complex_pairs(queries[layer, head])
        np.testing.assert_allclose(torch.complex(of["q_mean_real"], of["q_mean_imag"]), pairs.mean(0), atol=1e-5)
        np.testing.assert_allclose(of["q_abs_mean"], pairs.abs().mean(0), atol=1e-5)


def test_triattentions_own_loaders_read_the_file(turned, tmp_path):
    path, _, queries, frequency = turned
    in_tool(
        """
import pathlib, sys, torch
from triattention.methods.pruning_utils import load_head_frequency_stats
from triattention.sglang.stats_loader import load_stats, validate_stats_against_model
from triattention.vllm.core.utils import load_frequency_stats
path, cpu = pathlib.Path(sys.argv[1]), torch.device("cpu")
bundle = load_stats(str(path), cpu, torch.float32, num_kv_heads=2)
validate_stats_against_model(bundle, 2, 2, 8)
metadata, _ = load_frequency_stats(path, cpu, torch.float32, 2)
heads = load_head_frequency_stats(path, cpu)[1]
torch.save([bundle.omega, metadata["inv_freq"], metadata["rope_theta"], metadata["num_layers"], metadata["num_kv_heads"],
            torch.stack([layer["q_mean_complex"] for layer in bundle.head_stats.values()]),
            torch.stack([heads[layer, head].q_abs_mean for layer in range(2) for head in range(4)])], sys.argv[2])
""",
        path, tmp_path / "read.pt", tool="triattention")
    omega, other, theta, layers, kv_heads, mean, modulus = torch.load(tmp_path / "read.pt")
    np.testing.assert_allclose(torch.stack([omega, other]), frequency.expand(2, -1), rtol=1e-6)
    assert (theta, layers, kv_heads) == (500000.0, 2, 2)
    np.testing.assert_allclose(torch.view_as_complex(mean), complex_pairs(queries).mean(2), atol=1e-5)
    np.testing.assert_allclose(modulus, complex_pairs(queries).abs().mean(2).flatten(0, 1), atol=1e-5)


def test_triattention_refuses_a_model_without_one_base(turned, tmp_path):
    _, profiles, _, _ = turned
    profiles.settings["rotary"] = []
    several = transformers.Gemma3TextConfig(**{**MODELS["gemma3"][0]().to_diff_dict(), "layer_types": ["sliding_attention", "full_attention"]})
    for refused, found in ((profiles, "found none"), (watched(built(several), ids_of(4, 40, 8), queries=True), r"found 10+\.0, 10+\.0")):
        with pytest.raises(headwave.FormatError, match=f"needs one rope_theta.*{found}"):
            refused.export("triattention", tmp_path / "none")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("name", ["glm", "gpt_neox", "gpt2"])
def test_pairs_of_other_channels_are_refused(name, tmp_path):
    """Neighbouring channels, a part of the channels, no rotary positions."""
    with pytest.raises(headwave.FormatError, match="do not turn these together"):
        watched(built(MODELS[name][0]()), ids_of(4, 40, 8), queries=True).export("triattention", tmp_path)


def test_what_cannot_be_exported_is_refused_and_leaves_nothing(tmp_path, calibrated, monkeypatch):
    result, _ = calibrated
    for to, options, message in (
        ("vllm", {}, "expected one of duo_attention, kvpress, triattention, headvis"),
        ("kvpress", {"recent": 3}, "has no option recent"),
    ):
        with pytest.raises(headwave.FormatError, match=message):
            result.export(to, tmp_path / "out", **options)
    plain = watched(model_of(), ids_of(2, 30, 1))
    for to, needs in (("kvpress", "queries=True"), ("triattention", "queries=True"), ("headvis", "deal=True")):
        with pytest.raises(headwave.FormatError, match=needs):
            plain.export(to, tmp_path / "out")
    with pytest.raises(headwave.FormatError, match="one stack of causal layers"):
        watched(built(MODELS["bert"][0]()), ids_of(2, 30, 1)).export("duo_attention", tmp_path / "out")
    hybrid = built(MODELS["qwen3_5"][0]())
    with pytest.raises(headwave.FormatError, match="without gaps"):
        watched(hybrid, ids_of(2, 30, 1)).export("duo_attention", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    result.export("duo_attention", tmp_path / "out")
    with pytest.raises(headwave.IoError, match="already there"):
        result.export("duo_attention", tmp_path / "out")

    def full(*_args, **_options):
        raise OSError("no space left")

    monkeypatch.setattr(np, "savetxt", full)
    with pytest.raises(headwave.IoError, match="no space left"):
        result.export("duo_attention", tmp_path / "full")
    assert list((tmp_path / "full").iterdir()) == []


def weights_of(model, ids):
    """Finished weights: (layers, documents, heads, T, T)."""
    model.set_attn_implementation("eager")
    with torch.no_grad():
        found = model(ids, output_attentions=True).attentions
    model.set_attn_implementation("sdpa")
    return np.stack([of.double().numpy() for of in found])


class Words:
    all_special_ids = ()

    def decode(self, ids):
        return f"w{ids[0]}"


def read(path):
    return json.loads(path.read_text())


@pytest.fixture(params=[64, 16])
def shown(request, tmp_path):
    """A folder of HeadVis, and finished weights of its documents."""
    model, ids = model_of(), ids_of(12, 50, 9)
    ids[:, 25:] = ids[:, :25]   # half of the tokens have an earlier copy, at least
    result = watched(model, ids, exact=request.param, deal=True)
    result.export("headvis", tmp_path / "tiny" / "headvis" / "numbers", model="org/tiny", dataset="numbers", tokenizer=Words(), sequences=10)
    return tmp_path / "tiny" / "headvis" / "numbers", weights_of(model, ids), ids.numpy(), result


def test_headvis_has_the_metrics_that_neuronpedia_computes(shown):
    """As its compute-head-metrics.py defines them, of finished weights; distances beyond `exact` are taken as even within a bin. Induction is
    a mean over documents, without a least weight."""
    folder, weights, ids, result = shown
    rows = {(row["layer"], row["head"]): row for row in read(folder / "scatter_data.json")}
    distance = np.abs(np.subtract.outer(np.arange(50), np.arange(50)))
    mean = (weights * distance).sum((1, 3, 4)) / 600
    induction = []
    for document in range(12):
        copies = [[j for j in range(1, i) if ids[document, j - 1] == ids[document, i]] for i in range(50)]
        induction.append(np.mean([weights[:, document, :, i, keys].sum(0) for i, keys in enumerate(copies) if keys], 0))
    expected = {
        "self_attention_score": np.diagonal(weights, 0, 3, 4).mean((1, 3)),
        "prev_token_score": np.diagonal(weights, -1, 3, 4).mean((1, 3)),
        "pattern_entropy": -(weights * np.log(np.maximum(weights, 1e-300))).sum((1, 3, 4)) / 600,
        "qk_distance": mean,
        "qk_distance_variance": (weights * distance**2).sum((1, 3, 4)) / 600 - mean**2,
        "induction_score": np.mean(induction, 0),
    }
    assert sorted(rows) == [(layer, head) for layer in range(2) for head in range(4)]
    for name, of in expected.items():
        found = np.array([[rows[layer, head][name] for head in range(4)] for layer in range(2)])
        binned = name.startswith("qk") and result.settings["exact"] < 50
        np.testing.assert_allclose(found, of, rtol=0.05 if binned else 1e-5, atol=2e-6, err_msg=name)


def test_headvis_shows_the_documents_with_the_largest_weights(shown):
    folder, weights, ids, result = shown
    config = read(folder / "config.json")
    assert config["heads"] == [[layer, head] for layer in range(2) for head in range(4)]
    assert config["pipeline_config"]["ids_sha256"] == result["causal"].digest and len(config["pipeline_config"]["weights_digest"]) == 64
    for layer, head in config["heads"]:
        of = read(folder / "heads" / config["head_data_pattern"].format(layer=layer, head=head))
        own = weights[layer, :, head]
        largest = own[:, 1:, 1:].max((1, 2))
        # Twelve documents in fifths by their largest weight, and of each fifth the two with the largest one.
        fifths = np.array_split(np.sort(largest), 5)
        assert [one["interval"] for one in of["sequences"]] == [5, 5, 4, 4, 3, 3, 2, 2, 1, 1]
        np.testing.assert_allclose([one["max_activation"] for one in of["sequences"]], np.concatenate([each[::-1][:2] for each in fifths[::-1]]), atol=2e-6)
        assert len({one["sequence_id"] for one in of["sequences"]}) == 10
        assert sum(of["histogram"]["bin_values"]) == 12 and of["statistics"]["n_samples"] == 10
        for one in of["sequences"]:
            number = one["sequence_id"]
            assert one["tokens"] == [f"w{token}" for token in ids[number]] and one["seq_len"] == 50
            query, key = np.divmod(one["attention_indices"], 50)
            np.testing.assert_allclose(one["attention_values"], own[number, query, key], atol=6e-5)
            assert np.all(np.diff(one["attention_indices"]) > 0) and np.bincount(query, minlength=50).max() <= 8
            left_out = own[number].copy()
            left_out[query, key] = 0
            for i in range(50):   # nothing larger is missing
                there = own[number, i, key[query == i]]
                assert left_out[i].max() <= (there.min() + 1e-6 if len(there) == 8 else 0.005 + 1e-6)
            assert one["max_activation"] == pytest.approx(largest[number], abs=2e-6)
        shares, edges = of["qk_distance_histogram"]["bin_values"], of["qk_distance_histogram"]["bin_edges"]
        assert len(edges) == len(shares) + 1 and sum(shares) == pytest.approx(1, abs=1e-5)
        offsets = np.subtract.outer(np.arange(50), np.arange(50))
        assert shares[2] == pytest.approx(own[:, (offsets >= 2) & (offsets < 4)].sum() / 600, abs=2e-6)
        assert len(of["top_key_tokens"]) <= 50 and of["top_key_tokens"][0]["token"].startswith("w")


@pytest.mark.parametrize("name", ["gemma2", "gpt_oss", "glm", "gpt2", "mistral", "gpt_neox", "biased"])
def test_headvis_computes_the_weights_of_any_model_again(name, tmp_path, monkeypatch):
    """Soft caps, windows, sinks, neighbouring and partial pairs, no rotary positions, and scores with a bias by offset."""
    model, ids = built(MODELS["llama" if name == "biased" else name][0]()), ids_of(8, 24, 3)
    inputs = {"input_ids": ids}
    if name == "biased":
        t = torch.arange(24) - torch.arange(24)[:, None]
        inputs["attention_mask"] = torch.where(t <= 0, 0.1 * t, -1e9)[None, None].repeat(8, 1, 1, 1)
    model.set_attn_implementation("eager")
    with torch.no_grad():
        expected = model(**inputs, output_attentions=True).attentions
    model.config._attn_implementation = "sdpa"
    if name in ("gemma2", "gpt_oss"):   # a soft cap or sinks: flash attention, whose place a function takes that does what it does
        monkeypatch.setattr(flash_attention, "_flash_attention_forward", flash)
        monkeypatch.setattr(flash, "weights", [], raising=False)
        model.config._attn_implementation = "flash_attention_2"
    with torch.no_grad(), headwave.watch(model, deal=True) as watch:
        model(**inputs)
    watch.result().export("headvis", tmp_path / "shown")
    for layer in range(2):
        for head in range(4):
            for one in read(tmp_path / "shown" / "heads" / f"L{layer}H{head}.json")["sequences"]:
                query, key = np.divmod(one["attention_indices"], 24)
                np.testing.assert_allclose(one["attention_values"], expected[layer][one["sequence_id"], head, query, key], atol=1e-4)


@pytest.mark.parametrize("name", ["gpt2", "llama", "glm", "gpt_neox", "biased"])
def test_headvis_divides_scores_exactly(name, tmp_path, monkeypatch):
    """The parts of a score add up to it, and are those of queries and keys at hand."""
    monkeypatch.setattr("headwave.profiles.headvis.EDGES", 5)
    model, ids = built(MODELS["llama" if name == "biased" else name][0](), "sdpa"), ids_of(8, 24, 3)
    inputs, found, t = {"input_ids": ids}, [], torch.arange(24) - torch.arange(24)[:, None]
    if name == "biased":
        inputs["attention_mask"] = torch.where(t <= 0, 0.1 * t, -1e9)[None, None].repeat(8, 1, 1, 1)
    with_attention_seen(model, inputs, lambda path, args, kwargs, output: found.append((args[0], args[1].repeat_interleave(
        args[0].shape[1] // args[1].shape[1], 1), kwargs.get("scaling") or args[0].shape[-1] ** -0.5)))
    with torch.no_grad(), headwave.watch(model, deal=True) as watch:
        model(**inputs)
    watch.result().export("headvis", tmp_path / "shown")
    manifest, seen = read(tmp_path / "shown" / "attributions" / "manifest.json"), 0
    for label, edges in manifest.items():
        layer, head, document = map(int, re.fullmatch(r"L(\d+)H(\d+)S(\d+)", label).groups())
        query, key, scale = found[layer]
        shown = next(one for one in read(tmp_path / "shown" / "heads" / f"L{layer}H{head}.json")["sequences"] if one["sequence_id"] == document)
        for i, j in edges["qk"]:
            seen += 1
            assert i * 24 + j in shown["attention_indices"]
            parts = {(one["query_feature"], one["key_feature"]): one["attribution"]
                     for one in read(tmp_path / "shown" / "attributions" / "qk" / f"{label}Q{i}K{j}.json")["pairs"]}
            score = float(query[document, head, i] @ key[document, head, j] * scale) + (0.1 * (j - i) if name == "biased" else 0)
            assert sum(parts.values()) == pytest.approx(score, abs=1e-4, rel=1e-5)
            others = [d for d in range(8) if d != document]
            mean, base = query[others, head, i].mean(0), key[others, head, j].mean(0)   # of one position, so after rotary positions too
            assert parts["position", "position"] == pytest.approx(float(mean @ base * scale), abs=1e-4, rel=1e-5)
            assert parts["content", "position"] == pytest.approx(float((query[document, head, i] - mean) @ base * scale), abs=1e-4, rel=1e-5)
    assert seen == 2 * 4 * 5 == len(list((tmp_path / "shown" / "attributions" / "qk").iterdir()))


def test_headvis_divides_no_score_of_a_document_alone(tmp_path):
    watched(model_of(), ids_of(1, 30, 2), deal=True).export("headvis", tmp_path / "shown")
    assert read(tmp_path / "shown" / "attributions" / "manifest.json") == {}
    assert "NaN" not in "".join(path.read_text() for path in (tmp_path / "shown").rglob("*.json"))


def test_neuronpedias_own_scripts_read_the_files_of_headvis(shown):
    """Its loaders, from a checkout of Neuronpedia whose folder NEURONPEDIA names, with a database that stays empty."""
    scripts = pathlib.Path(os.environ.get("NEURONPEDIA", ""), "utils/neuronpedia-utils/neuronpedia_utils/headvis")
    if not (scripts / "load-head-metrics.py").is_file():
        pytest.skip("NEURONPEDIA names no checkout of Neuronpedia")
    root = shown[0].parents[2]
    for script, rows in (("load-head-metrics.py", 8), ("load-head-sequences.py", 80)):
        made = subprocess.run([sys.executable, "-c", """
import runpy, sys, types
from unittest.mock import MagicMock
database = MagicMock()
cursor = database.connect.return_value.cursor.return_value.__enter__.return_value
cursor.fetchall.return_value, cursor.fetchone.return_value = [], (0,)
sys.modules |= {"psycopg2": database, "psycopg2.extras": database, "dotenv": database}
sys.argv = sys.argv[1:]
sys.path.insert(0, sys.argv.pop(0))
runpy.run_path(sys.argv[0], run_name="__main__")
""", scripts, scripts / script, root, "--dry-run"], capture_output=True, text=True, check=True)
        assert f"final batch of {rows} " in made.stdout, made.stdout


def test_hybrids_are_shown_with_the_numbers_of_their_layers(tmp_path):
    result = watched(built(MODELS["qwen3_5"][0]()), ids_of(8, 30, 11), deal=True)
    result.export("headvis", tmp_path / "shown")
    assert [path.name for path in sorted((tmp_path / "shown" / "heads").iterdir())] == [f"L3H{head}.json" for head in range(4)]


def test_headvis_keeps_its_limits_of_size_and_says_what_it_leaves_out(tmp_path, monkeypatch):
    profiles = watched(model_of(), ids_of(12, 30, 2), deal=True)
    shown = lambda name: len(read(tmp_path / name / "heads" / "L0H0.json")["sequences"])   # noqa: E731
    profiles.export("headvis", tmp_path / "whole")
    assert shown("whole") == 12 == read(tmp_path / "whole" / "config.json")["pipeline_config"]["sequences_of_each_head"]
    with pytest.warns(UserWarning, match="shows 5 sequences of each head instead of 12, to keep the folder within megabytes=0.7") as said:
        profiles.export("headvis", tmp_path / "small", megabytes=0.7)
    assert said[0].filename == __file__ and shown("small") == 5
    assert sum(path.stat().st_size for path in (tmp_path / "small").rglob("*.json")) < 0.7e6
    with pytest.raises(headwave.ShapeError, match="megabytes=-1.0: expected a finite number of at least 0"):
        profiles.export("headvis", tmp_path / "none", megabytes=-1)
    with pytest.raises(headwave.FormatError, match="megabytes=0.3 is too little for 5 sequences of each of 8 heads; give 1 or more"):
        profiles.export("headvis", tmp_path / "none", megabytes=0.3)
    monkeypatch.setattr("headwave.profiles.headvis.HEAD_BYTES", 60_000)
    with pytest.warns(UserWarning, match="to keep each head's file near 0.06 MB"):
        profiles.export("headvis", tmp_path / "short")
    assert shown("short") == 5 and (tmp_path / "short" / "heads" / "L0H0.json").stat().st_size < 60_000


FIELD_OF = {"offset": "measured_offset/offset", "weight": "measured_offset/weight", "bits": "attention_bits/bits", "sink": "attention_bits/part",
            "position": "attention_bits/part", "word": "attention_bits/part", "match": "attention_bits/part", "follows": "attention_bits/follow",
            "kept": "attention_bits/kept", "strength": "head_account/strength", "by_position": "head_account/part", "by_own_token": "head_account/part",
            "by_context": "head_account/part"}


def test_headvis_shows_fields_of_the_result_as_its_page_reads_them(shown):
    """Axes are the columns that are numbers in the first row. A plot is n values, each drawn at the first of its n + 1 edges; a table has
    rows of token and weight; what config.json announces is looked up in the file of the head."""
    folder, _, _, profiles = shown
    result = headwave.run(profiles=profiles, reach=min(64, profiles.settings["exact"] // 2))
    config, scatter = read(folder / "config.json"), read(folder / "scatter_data.json")
    assert set(config["metrics"]) == set(config["metric_descriptions"]) == set(scatter[0]) - {"layer", "head"}
    missing = [list(row.values()).count(None) for row in scatter]
    assert missing[0] == min(missing)
    assert config["metric_descriptions"]["bits"] == "bits by which a query's attention differs from uniform attention, in bits"
    compared = 0
    for row in scatter:
        for name in set(row) & set(FIELD_OF):
            array = result[FIELD_OF[name]].sel(layer=row["layer"], head=row["head"])
            if array.ndim:
                array = array.sel({array.dims[0]: "all" if array.dims[0] == "pairs" else name.removeprefix("by_")})
            assert row[name] == pytest.approx(None if np.isnan(array) else float(array), abs=1e-6), name
            compared += 1
    assert compared >= 8 * 8
    for layer, head in config["heads"]:
        of = read(folder / "heads" / f"L{layer}H{head}.json")
        for plot in config["custom_plots"]:
            edges, values = of[plot["key"]]["bin_edges"], of[plot["key"]]["bin_values"]
            assert len(edges) == len(values) + 1 and sorted(edges) == edges and all(isinstance(value, float) for value in values) and plot["label"]
        for key, array in (("measured_profile", result["head_account/measured_profile"]),
                           ("dealt_profile", result["head_account/dealt_profile"].sel(term="position")),
                           ("null_weight", result["offset_trace/null_weight"].sel(pairs="without_sink"))):
            array = array.sel(layer=layer, head=head).dropna(array.dims[-1])
            assert of[key]["bin_edges"][:-1] == array.coords[array.dims[0]].values.tolist()
            np.testing.assert_allclose(of[key]["bin_values"], array, atol=1e-6)
        for table in config["custom_tables"]:
            assert table["label"] and all(set(each) == {"token", "weight"} for each in of[table["key"]])
        words, pairs = (result[group].sel(layer=layer, head=head) for group in ("attention_words", "matched_content"))
        count, found = int((words.word_id >= 0).sum()), int(pairs.pairs_found)
        assert [each["token"] for each in of["drawing_words"]] == [f"w{token}" for token in words.word_id.values[:count]]
        np.testing.assert_allclose([each["weight"] for each in of["drawing_words"]], words.ratio[:count], atol=1e-6)
        assert [each["token"] for each in of["matched_words"]] == [
            f"w{query} > w{key}" for query, key in zip(pairs.pair_query_id.values[:found], pairs.pair_key_id.values[:found])]
        assert of["statistics"]["profile"] in result["head_account/verdict"].attrs["flag_labels"]
    assert "raised_words" not in str(config)


def test_headvis_takes_a_result_that_says_more(tmp_path):
    """Words that heads raise are found only where the weights are; a result of another model has not these heads."""
    model, ids = transformers.AutoModelForCausalLM.from_config(MODELS["llama"][0]()).eval(), ids_of(12, 30, 9)
    profiles, result = watched(model, ids, deal=True), headwave.run(model, ids=ids.numpy(), everything=True)
    profiles.export("headvis", tmp_path / "shown", tokenizer=Words(), result=result)
    assert read(tmp_path / "shown" / "config.json")["custom_tables"][2]["key"] == "raised_words"
    named = 0
    for layer in range(2):
        for head in range(4):
            raised = result["head_writes"].sel(layer=layer, head=head)
            count = int((raised.raised_id >= 0).sum())
            found = read(tmp_path / "shown" / "heads" / f"L{layer}H{head}.json")["raised_words"]
            assert [each["token"] for each in found] == [f"w{token}" for token in raised.raised_id.values[:count]]
            np.testing.assert_allclose([each["weight"] for each in found], raised.raised_logit[:count], atol=1e-6)
            named += count
    assert named
    with pytest.raises(headwave.FormatError, match="result= has no head L3H0"):
        watched(built(MODELS["qwen3_5"][0]()), ids_of(8, 30, 11), deal=True).export("headvis", tmp_path / "other", result=result)


def test_tokens_that_are_not_known_are_no_copies(tmp_path):
    model = model_of()
    result = watched(model, {"inputs_embeds": model.get_input_embeddings()(ids_of(8, 30, 12))}, deal=True)
    result.export("headvis", tmp_path / "shown", tokenizer=Words())
    assert all(row["induction_score"] is None for row in read(tmp_path / "shown" / "scatter_data.json"))
    assert read(tmp_path / "shown" / "heads" / "L0H0.json")["sequences"][0]["tokens"] == ["-1"] * 30


def test_profiles_of_other_weights_are_not_added():
    ids = ids_of(3, 30, 10)
    with pytest.raises(headwave.ShapeError, match="weights_digest"):
        watched(model_of(), ids[:1]) + watched(built(MODELS["llama"][0]()).half().float(), ids[1:])


def test_the_digest_is_that_of_the_weights_wherever_they_lie():
    from headwave.profiles.origin import weights_digest

    model = torch.nn.Linear(8, 6, bias=False).bfloat16()
    digest, weight = weights_digest(model), model.weight.detach().clone()
    for shift in (1, 3, 4):
        around = torch.zeros(shift + 48, dtype=torch.bfloat16)
        around[shift:] = weight.flatten()
        model.weight = torch.nn.Parameter(around[shift:].view(6, 8))
        assert weights_digest(model) == digest
    with torch.no_grad():
        model.weight[0, [0, 7]] = weight[0, [7, 0]]
    assert weights_digest(model) != digest
    odd = torch.nn.Linear(3, 1, bias=False)   # no multiple of eight bytes
    assert weights_digest(odd) != weights_digest(torch.nn.Linear(3, 1, bias=False))
