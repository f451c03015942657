"""headwave.watch(every=, to=): what is recorded of every head while a model is trained."""

import json
import os
import pathlib
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
from watched_models import MODELS, batch, built, given  # noqa: E402

MEASURES = ("largest_score", "window_95", "entropy", "sink_first", "induction", "previous")


def rows_of(path):
    """The rows of a file, by step, layer and head; null is NaN."""
    rows = [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]
    return {(row["step"], row["layer"], row["head"]): np.array([np.nan if row[name] is None else row[name] for name in MEASURES]) for row in rows}


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
    config = MODELS[name][0]()
    for dropout in ("attn_pdrop", "embd_pdrop", "resid_pdrop", "hidden_dropout_prob", "attention_probs_dropout_prob"):
        setattr(config, dropout, 0.0)
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
        np.testing.assert_allclose(row, [largest[layer][head], *expected], rtol=2e-5, atol=1e-6)
