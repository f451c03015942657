"""Files for other tools, read as these tools read them; numbers against PyTorch's, on queries that hooks see."""

import importlib.util
import json
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


def test_moments_of_parts_add_up_and_come_back_from_the_file(tmp_path):
    pytest.importorskip("h5py")
    model, ids = model_of(), ids_of(5, 30, 1)
    whole = watched(model, ids, queries=True)["causal"]
    watched(model, ids[:2], queries=True).save(tmp_path / "0.h5")
    added = (headwave.open(tmp_path / "0.h5") + watched(model, ids[2:], queries=True))["causal"]
    for label in ("tokens", "mean", "cov"):
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


def in_kvpress(code, *arguments):
    """What a script prints. It has a process of its own: importing kvpress changes attention functions of transformers."""
    if importlib.util.find_spec("kvpress") is None:
        pytest.skip("kvpress is not installed")
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
    printed = in_kvpress(
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

    in_kvpress(
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


def test_what_cannot_be_exported_is_refused_and_leaves_nothing(tmp_path, calibrated, monkeypatch):
    result, _ = calibrated
    for to, options, message in (
        ("vllm", {}, "expected one of duo_attention, kvpress"),
        ("kvpress", {"recent": 3}, "has no option recent"),
    ):
        with pytest.raises(headwave.FormatError, match=message):
            result.export(to, tmp_path / "out", **options)
    plain = watched(model_of(), ids_of(2, 30, 1))
    for to in ("kvpress",):
        with pytest.raises(headwave.FormatError, match="queries=True"):
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


def test_profiles_of_other_weights_are_not_added():
    ids = ids_of(3, 30, 10)
    with pytest.raises(headwave.ShapeError, match="weights_digest"):
        watched(model_of(), ids[:1]) + watched(built(MODELS["llama"][0]()).half().float(), ids[1:])


def test_a_command_exports_stored_profiles(tmp_path):
    pytest.importorskip("h5py")
    result = watched(model_of(512), ids_of(4, 300, 4), first=4)
    result.save(tmp_path / "profiles.h5")
    headwave.open(tmp_path / "profiles.h5").export("duo_attention", tmp_path / "own", recent=64)

    def command(*arguments):
        return subprocess.run([sys.executable, "-m", "headwave", "export", *map(str, arguments)], capture_output=True, text=True)

    made = command(tmp_path / "profiles.h5", "--to", "duo_attention", "--out", tmp_path / "theirs", "--recent", 64)
    assert (made.returncode, made.stderr) == (0, "")
    for name in ("config.json", "full_attention_heads.tsv"):
        assert (tmp_path / "own" / name).read_text() == (tmp_path / "theirs" / name).read_text()
    for arguments, code, message in (
        ((tmp_path / "none.h5", "--to", "duo_attention", "--out", tmp_path / "a"), 1, "none.h5"),
        ((tmp_path / "profiles.h5", "--to", "vllm", "--out", tmp_path / "a"), 1, "expected one of duo_attention"),
        ((tmp_path / "profiles.h5", "--to", "duo_attention"), 2, "Usage"),
        ((tmp_path / "profiles.h5", "--to", "duo_attention", "--out", tmp_path / "a", "--recent"), 2, "Usage"),
        ((tmp_path / "profiles.h5", "--to", "duo_attention", "--out", tmp_path / "a", "--recent", "many"), 1, "recent"),
    ):
        failed = command(*arguments)
        assert failed.returncode == code and message in failed.stderr and "Traceback" not in failed.stderr
        assert not (tmp_path / "a").exists()


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
