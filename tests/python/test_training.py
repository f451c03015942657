"""headwave.watch(every=, to=): what is recorded of every head while a model is trained."""

import contextlib
import json
import pathlib
import resource
import signal
import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
transformers = pytest.importorskip("transformers", minversion="5.0", reason="transformers 5 is not installed")
if not hasattr(transformers, "PreTrainedModel"):
    pytest.skip("transformers cannot be used here", allow_module_level=True)

import headwave  # noqa: E402
from test_watch import eager_weights, with_attention_seen  # noqa: E402
from watched_models import MODELS, built, given  # noqa: E402

MEASURES = ("largest_score", "window_95", "entropy", "sink_first", "induction", "previous")


def rows_of(path):
    """The rows of a file, by step, layer and head; null is NaN."""
    rows = [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]
    return {(row["step"], row["layer"], row["head"]): np.array([np.nan if row[name] is None else row[name] for name in MEASURES]) for row in rows}


def without_dropout(config):
    for name in ("attn_pdrop", "embd_pdrop", "resid_pdrop", "hidden_dropout_prob", "attention_probs_dropout_prob", "dropout_rate"):
        setattr(config, name, 0.0)
    return config


def language_model(**settings):
    """A small GPT-2 that drops states and weights at random, unless it is told otherwise."""
    torch.manual_seed(1)
    return transformers.GPT2LMHeadModel(transformers.GPT2Config(**{**MODELS["gpt2"][0]().to_diff_dict(), "n_positions": 320, **settings})).train()


def texts(count=4, length=30):
    return torch.randint(3, 64, (count, length), generator=torch.Generator().manual_seed(4))


def trained(model, ids, steps, **options):
    """Losses, gradients and weights of some steps; watched, if there are options."""
    optimizer, seen = torch.optim.SGD(model.parameters(), 0.05), []
    with headwave.watch(model, **options) if options else contextlib.nullcontext():
        torch.manual_seed(3)
        for _ in range(steps):
            loss = model(input_ids=ids, labels=ids).loss
            loss.backward()
            seen += [loss.detach(), *(of.grad.clone() for of in model.parameters())]
            optimizer.step()
            optimizer.zero_grad()
    return seen + [of.detach() for of in model.parameters()]


def largest_scores(model, inputs, spans):
    """(heads) of every layer: the largest score before softmax of queries and keys of documents, as the eager functions of transformers compute it."""
    found = {}

    def seen(name, args, kwargs, output):
        query, key = args[0], args[1]
        key = key.repeat_interleave(query.shape[1] // key.shape[1], 1)
        scores = query @ key.mT * (kwargs.get("scaling") or query.shape[-1] ** -0.5)
        if kwargs.get("softcap"):
            scores = torch.tanh(scores / kwargs["softcap"]) * kwargs["softcap"]
        for added in (kwargs.get("position_bias"), args[3]):
            scores = scores if added is None else scores + added
        found[name] = torch.stack([scores[d, :, a:b, a:b].amax((1, 2)) for d, (a, b) in enumerate(spans)]).amax(0).numpy()

    with_attention_seen(model, inputs, seen)
    return found


def by_hand(weights, ids):
    """MEASURES but for the first of a head, from the weights of whole documents: lists of (T, T) and of (T)."""
    means, apart, near = [], 0, np.zeros(4096)
    for A, tokens in zip(weights, ids):
        T, induction, previous = len(A), [], []
        for i in range(T):
            copies = [j for j in range(i) if j > 0 and tokens[j - 1] == tokens[i]]
            if copies:
                induction.append(A[i, copies].sum())
            if i > 0:
                previous.append(A[i, i - 1])
            for j in range(T):
                if i == 0 or j == 0:
                    apart += A[i, j]
                else:
                    near[abs(j - i)] += A[i, j]
        row = A / A.sum(1, keepdims=True)   # a learned sink takes part of it
        means.append([-(row * np.log(np.where(row > 0, row, 1))).sum(1).mean(), A[:, 0].mean(), np.mean(induction) if induction else np.nan,
                      np.mean(previous)])
    held = (apart + np.concatenate([[0], np.cumsum(near)])) / (apart + near.sum())   # of windows of 0, 1, 2, ... tokens
    at = int(np.argmax(held >= 0.95))
    window = 0 if at == 0 else at - 1 + (0.95 - held[at - 1]) / (held[at] - held[at - 1])
    return np.array([window, *np.nanmean(means, 0)])


@pytest.mark.parametrize(("name", "implementation"), [("gpt2", "sdpa"), ("llama", "sdpa"), ("llama", "eager"), ("mistral", "sdpa"), ("gemma2", "eager"),
                                                      ("gpt_oss", "eager"), ("bert", "sdpa"), ("bert", "eager")])
def test_rows_are_those_of_eager_attention_under_gradients(name, implementation, tmp_path):
    config = without_dropout(MODELS[name][0]())
    inputs, spans = given(name), [(0, 40), (7, 40), (0, 30)]
    model = built(config, implementation).train()
    with headwave.watch(model, every=1, to=tmp_path / "run.jsonl", exact=64):
        model(**inputs).last_hidden_state.square().sum().backward()
    rows, eager = rows_of(tmp_path / "run.jsonl"), built(config, "eager")
    weights, largest = eager_weights(eager, inputs), largest_scores(eager, inputs, spans)
    assert len(rows) == len(weights) * 4
    for (_, layer, head), row in rows.items():
        whole = [weights[layer][d, head, a:b, a:b].double().numpy() for d, (a, b) in enumerate(spans)]
        expected = by_hand(whole, [inputs["input_ids"][d, a:b].tolist() for d, (a, b) in enumerate(spans)])
        np.testing.assert_allclose(row, [largest[layer][head], *expected], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", ["t5", "whisper", "albert", "gemma3", "qwen3_5", "gpt_oss"])
def test_rows_are_the_numbers_of_watch_and_of_the_program(name, tmp_path):
    inputs, model = given(name), built(without_dropout(MODELS[name][0]()))
    with torch.no_grad(), headwave.watch(model, null=True) as watch:
        model(**inputs)
    with headwave.watch(model.train(), every=1, to=tmp_path / "run.jsonl"):
        model(**inputs)
    rows, seen = rows_of(tmp_path / "run.jsonl"), 0
    for stack in watch.result().stacks.values():
        with np.errstate(invalid="ignore"):
            scores = None if stack.cross else stack.head_score / stack.head_score_documents
        for place, layer in enumerate(stack.layers):
            for head in range(stack.heads):
                seen, row = seen + 1, rows[0, layer, head]
                if stack.cross:
                    assert np.isnan(row[[1, 4, 5]]).all() and np.isfinite(row[[0, 2, 3]]).all()
                else:
                    expected = stack.distances()["window_95"][place, head], *scores[[6, 8, 4, 0], place, head]
                    np.testing.assert_allclose(row[1:], expected, rtol=1e-5, atol=1e-6)   # t5 has scores of 1000, in float32
    assert seen == len(rows)


@pytest.mark.parametrize("checkpointing", [None, {"use_reentrant": True}, {"use_reentrant": False}])
def test_losses_gradients_and_weights_are_those_without_a_watch(checkpointing, tmp_path):
    models = [language_model() for _ in range(2)]
    for model in models:
        if checkpointing is not None:
            model.gradient_checkpointing_enable(checkpointing)
    plain, seen = trained(models[0], texts(), 3), trained(models[1], texts(), 3, every=2, to=tmp_path / "run.jsonl")
    assert all(torch.equal(one, other) for one, other in zip(plain, seen)) and len(plain) == len(seen)
    trained(language_model(), texts(), 3, every=2, to=tmp_path / "plain.jsonl")
    rows, expected = (rows_of(tmp_path / f"{name}.jsonl") for name in ("run", "plain"))
    assert rows.keys() == expected.keys() and {step for step, _, _ in rows} == {0, 2}
    for key, row in rows.items():   # transformers checkpoints without a cache, so that states differ in the last digits
        np.testing.assert_allclose(row, expected[key], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("reentrant", [True, False])
def test_a_whole_model_that_is_recomputed_is_counted_once(reentrant, tmp_path):
    from torch.utils.checkpoint import checkpoint

    class Wrapper(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = language_model(attn_pdrop=0.0)

        def forward(self, states):
            return checkpoint(lambda x: self.inner(inputs_embeds=x).logits, states, use_reentrant=reentrant)

    model, states = Wrapper().train(), torch.randn(2, 20, 32, requires_grad=True)
    with headwave.watch(model, every=1, to=tmp_path / "run.jsonl"), headwave.watch(model) as watch:
        for _ in range(2):
            model(states).sum().backward()
    rows = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()]
    assert {row["step"] for row in rows} == {0, 1} and {row["documents"] for row in rows} == {2}
    assert watch.result()["causal"].documents == 4


WORKER = """
import sys
import torch
sys.path.insert(0, {tests!r})
import headwave
from test_training import language_model, texts, without_dropout
torch.distributed.init_process_group("gloo")
rank = torch.distributed.get_rank()
model = language_model(attn_pdrop=0.0, embd_pdrop=0.0, resid_pdrop=0.0)
model.gradient_checkpointing_enable()
parallel = torch.nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), 0.05)
calls, plain = [], torch.distributed.all_reduce
torch.distributed.all_reduce = lambda *args, **kwargs: calls.append(args) or plain(*args, **kwargs)
with headwave.watch(parallel, every=2, to=None if rank else {path!r}, rows=128):
    for _ in range(3):
        ids = texts(4, 300)[2 * rank:2 * rank + 2]
        parallel(input_ids=ids, labels=ids).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
assert len(calls) == 2, len(calls)   # one reduction in each of two steps
torch.distributed.barrier()
torch.distributed.destroy_process_group()
"""


@pytest.mark.skipif(not torch.distributed.is_available(), reason="PyTorch was built without torch.distributed")
def test_two_processes_of_torchrun_give_the_rows_of_one(tmp_path):
    script = tmp_path / "worker.py"
    script.write_text(WORKER.format(tests=str(pathlib.Path(__file__).parent), path=str(tmp_path / "two.jsonl")))
    done = subprocess.run([sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2", str(script)], capture_output=True, text=True,
                          timeout=300)
    assert done.returncode == 0, done.stderr
    trained(language_model(attn_pdrop=0.0, embd_pdrop=0.0, resid_pdrop=0.0), texts(4, 300), 3, every=2, to=tmp_path / "one.jsonl", rows=128)
    one, two = rows_of(tmp_path / "one.jsonl"), rows_of(tmp_path / "two.jsonl")
    assert one.keys() == two.keys() and len(one) == 2 * 2 * 4
    for key in one:
        np.testing.assert_allclose(two[key], one[key], rtol=1e-6, atol=1e-6)


def test_only_steps_of_training_count(tmp_path):
    model = language_model()
    with headwave.watch(model, every=2, to=tmp_path / "run.jsonl") as watch:
        for training in (True, False, True, True, False, False, True):
            model.train(training)(texts())
        model.eval().generate(texts(1, 5), max_new_tokens=3, do_sample=False)
    model.train()(texts())
    assert {step for step, _, _ in rows_of(tmp_path / "run.jsonl")} == {0, 2} and watch.step == 3


def test_weights_are_those_before_dropout(tmp_path):
    rows = {}
    for dropout in (0.0, 0.5):
        trained(language_model(attn_pdrop=dropout, embd_pdrop=0.0, resid_pdrop=0.0), texts(), 1, every=1, to=tmp_path / f"{dropout}.jsonl")
        rows[dropout] = rows_of(tmp_path / f"{dropout}.jsonl")
    for head in range(4):
        np.testing.assert_array_equal(rows[0.5][0, "transformer.h.0.attn", head], rows[0.0][0, "transformer.h.0.attn", head])
    model = language_model(attn_pdrop=0.5)
    model.set_attn_implementation("eager")
    with headwave.watch(model, every=1, to=tmp_path / "eager.jsonl"), pytest.raises(headwave.FormatError, match=r"set_attn_implementation\('sdpa'\)"):
        model(texts())


def test_sampled_rows_are_right_on_average(tmp_path):
    settings = {"n_positions": 600, "attn_pdrop": 0.0, "embd_pdrop": 0.0, "resid_pdrop": 0.0}
    found = {}
    for rows, seeds in ((600, range(1)), (128, range(20))):
        for seed in seeds:
            trained(language_model(**settings), texts(2, 600), 1, every=1, to=tmp_path / f"{rows}-{seed}.jsonl", rows=rows, seed=seed)
        each = [rows_of(tmp_path / f"{rows}-{seed}.jsonl") for seed in seeds]
        found[rows] = np.array([[of[key] for key in sorted(of)] for of in each])
    whole, sampled = found[600][0], found[128]
    error = sampled.std(0) / np.sqrt(len(sampled))
    assert (error[:, 1:] > 0).all() and (sampled[:, :, 0] <= whole[:, 0]).all()
    assert (abs(sampled.mean(0) - whole)[:, 1:] < 4 * error[:, 1:]).all()


class Writer:
    def __init__(self):
        self.scalars, self.logs, self.metrics = {}, [], []

    def of(self, *names):
        return type("To", (), {name: getattr(self, name) for name in names})()

    def add_scalar(self, *scalar):
        self.scalars[scalar[0], scalar[2]] = scalar[1]

    def log(self, values, commit=True):
        assert not commit   # else W&B would drop what the caller logs for this step
        self.logs.append(values)

    def define_metric(self, *args, **kwargs):
        self.metrics.append((args, kwargs))


def test_tensorboard_and_wandb_get_the_rows_of_the_file(tmp_path):
    to = Writer()
    for each in (tmp_path / "run.jsonl", to.of("add_scalar"), to.of("log", "define_metric")):
        trained(language_model(), texts(), 2, every=1, to=each)
    expected = {(f"headwave/{name}/{layer}/{head}", step): value for (step, layer, head), row in rows_of(tmp_path / "run.jsonl").items()
                for name, value in zip(MEASURES, row)}
    assert to.scalars == expected and len(expected) == 2 * 8 * 6
    assert {(name, log["headwave/step"]): value for log in to.logs for name, value in log.items() if name != "headwave/step"} == expected
    assert to.metrics == [(("headwave/step",), {}), (("headwave/*",), {"step_metric": "headwave/step"})]


def test_tensorboard_reads_what_was_written(tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(tmp_path) as writer:
        trained(language_model(), texts(), 3, every=2, to=writer)
    read = EventAccumulator(str(tmp_path)).Reload()
    assert [event.step for event in read.Scalars("headwave/entropy/transformer.h.1.attn/3")] == [0, 2]


def test_the_trainer_of_transformers_is_watched_without_a_callback(tmp_path):
    pytest.importorskip("accelerate")
    arguments = transformers.TrainingArguments(str(tmp_path), max_steps=3, gradient_accumulation_steps=2, per_device_train_batch_size=2, report_to="none",
                                               use_cpu=True, save_strategy="no", disable_tqdm=True)
    data = [{"input_ids": ids, "labels": ids} for ids in texts(12)]
    model = language_model()
    trainer = transformers.Trainer(model, arguments, train_dataset=data, eval_dataset=data[:2])
    with headwave.watch(model, every=2, to=tmp_path / "run.jsonl"):
        trainer.train()
        trainer.evaluate()
    assert {step for step, _, _ in rows_of(tmp_path / "run.jsonl")} == {0, 2, 4}   # a step is a forward pass


def test_a_model_that_diverges_is_recorded_as_null(tmp_path):
    model = language_model(attn_pdrop=0.0)
    with headwave.watch(model, every=1, to=tmp_path / "run.jsonl"):
        model(texts())
        model.transformer.h[1].attn.c_attn.weight.data[:, :8] = torch.nan   # queries of head 0
        model(texts())
    rows = rows_of(tmp_path / "run.jsonl")
    assert np.isnan(rows[1, "transformer.h.1.attn", 0]).all()
    assert all(np.isfinite(row).all() for key, row in rows.items() if key != (1, "transformer.h.1.attn", 0))


def test_a_batch_that_cannot_be_counted_is_left_out_with_a_warning(tmp_path):
    model, ids = language_model(), texts()
    mask = torch.ones_like(ids)
    mask[0, 10] = 0
    with headwave.watch(model, every=1, to=tmp_path / "run.jsonl"):
        with pytest.warns(UserWarning, match="padding between its tokens.*step 0"):
            model(ids, attention_mask=mask)
        model(ids)
    assert {step for step, _, _ in rows_of(tmp_path / "run.jsonl")} == {1}


def test_what_cannot_be_recorded_is_refused(tmp_path):
    model = language_model()
    with pytest.raises(headwave.ShapeError, match="every=0: expected 1 or more"):
        headwave.watch(model, every=0, to=tmp_path / "run.jsonl")
    with pytest.raises(headwave.FormatError, match="to= needs every="):
        headwave.watch(model, to=tmp_path / "run.jsonl")
    for to, said in ((None, "None"), ({}, "of type dict")):
        with pytest.raises(headwave.FormatError, match=f"to= is {said}; expected a path"):
            headwave.watch(model, every=100, to=to)
    with pytest.raises(headwave.FormatError, match="omit these"):
        headwave.watch(model, every=100, to=tmp_path / "run.jsonl", null=True)
    with pytest.raises(headwave.FormatError, match="Linear has no layer that calls transformers' attention functions"):
        headwave.watch(torch.nn.Linear(2, 2), every=100, to=tmp_path / "run.jsonl")
    with pytest.raises(headwave.FormatError, match="kernel=, blocks= and room= have no effect"):
        headwave.watch(model, every=100, to=tmp_path / "run.jsonl", blocks=2)
    with pytest.raises(headwave.IoError, match="there is no folder .*none"):
        headwave.watch(model, every=100, to=tmp_path / "none/run.jsonl")
    with pytest.warns(UserWarning, match="no forward pass in train"), headwave.watch(model.eval(), every=100, to=tmp_path / "run.jsonl") as watch:
        model(texts())
        with pytest.raises(headwave.FormatError, match="keeps no sums"):
            watch.result()
    with pytest.raises(headwave.FormatError, match="DataParallel runs copies"), headwave.watch(model.train(), every=1, to=tmp_path / "run.jsonl"):
        model._is_replica = True
        model(texts())
    del model._is_replica
    (tmp_path / "run.jsonl").write_text("")
    with pytest.raises(headwave.IoError, match="run.jsonl: is already there"):
        headwave.watch(model, every=100, to=tmp_path / "run.jsonl")
    model._tp_size = 2
    with pytest.raises(headwave.FormatError, match="tensor parallelism"):
        headwave.watch(model, every=100, to=tmp_path / "other.jsonl")


def test_a_layer_that_first_runs_later_is_recorded_from_then_on(tmp_path):
    model = language_model()
    layers = model.base_model.h
    with headwave.watch(model, every=1, to=tmp_path / "run.jsonl"):
        model.base_model.h = layers[:1]
        model(texts())
        model.base_model.h = layers
        model(texts())
    seen = {step: {layer for at, layer, _ in rows_of(tmp_path / "run.jsonl") if at == step} for step in (0, 1)}
    assert len(seen[0]) == 1 and len(seen[1]) == 2 and seen[0] < seen[1]


def test_a_disk_that_fills_up_later_does_not_end_the_training(tmp_path):
    def full(size):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))

    path, before = tmp_path / "run.jsonl", resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    model, handler = language_model(), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        with headwave.watch(model, every=1, to=path):
            model(texts())
            written = path.read_text()
            full(len(written) + 100)
            with pytest.warns(UserWarning, match="cannot be written: .*; nothing is recorded from step 1 on"):
                model(texts())
            model(texts())
    finally:
        full(before)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_text() == written


def test_the_page_of_a_run_holds_its_rows(tmp_path):
    trained(language_model(), texts(), 3, every=2, to=tmp_path / "run.jsonl")
    rows = rows_of(tmp_path / "run.jsonl")
    with open(tmp_path / "run.jsonl", "a") as file:
        file.write('{"step": 4, "layer": "transf')   # is being written
    headwave.training_page(tmp_path / "run.jsonl", tmp_path / "run.html")
    page = (tmp_path / "run.html").read_text()
    data = json.loads(page.partition("const data = ")[2].partition(";\n")[0])
    assert data["steps"] == [0, 2] and data["layers"] == ["transformer.h.0.attn", "transformer.h.1.attn"]
    assert len(rows) == 16
    for (step, layer, head), row in rows.items():
        place = data["heads"].index([data["layers"].index(layer), head])
        np.testing.assert_allclose([of[data["steps"].index(step)][place] for of in data["values"]], row, rtol=1e-4)
    assert "http" not in page   # needs no network


def test_a_page_of_no_rows_is_refused(tmp_path):
    with pytest.raises(headwave.IoError, match="cannot be read"):
        headwave.training_page(tmp_path / "run.jsonl", tmp_path / "run.html")
    for text, said in (("", "has no rows"), ('{"step": 0}\n', "line 1 is not a row"), ("no\n", "line 1 is not a row"), ("[]\n", "line 1 is not a row")):
        (tmp_path / "run.jsonl").write_text(text)
        with pytest.raises(headwave.FormatError, match=said):
            headwave.training_page(tmp_path / "run.jsonl", tmp_path / "run.html")
    trained(language_model(), texts(), 1, every=1, to=tmp_path / "new.jsonl")
    (tmp_path / "new.jsonl").replace(tmp_path / "run.jsonl")
    (tmp_path / "run.html").write_text("mine")
    with pytest.raises(headwave.IoError, match="overwrite=True"):
        headwave.training_page(tmp_path / "run.jsonl", tmp_path / "run.html")
    assert (tmp_path / "run.html").read_text() == "mine"
