"""The account of cross-attention by dealing, by a program that shares nothing with headwave: PyTorch runs the model, numpy deals
contents, in double, with every T x T array whole.

    python make_cross_dealing.py families/bart cross_dealing.json

40 pairs of random ids, 20 for the encoder and 16 for the decoder, whose ids are the encoder's first ones after the start token; all
pairs are dealt. Pairs of even and odd number are halves: mean queries of one and mean keys of the other; contents of queries are dealt
among places of queries, those of keys among places of keys; the first of either stays. Made with torch 2.13.0, transformers 5.24.0,
numpy 2.4.6, seed 0.

ids: pairs {"source", "target"}. measured[layer][head][t], t = -6..6: mean weight over pairs and queries, the first query and the first
key left out. position, context: the same with contents dealt, `mean` and `deviation` over 200 deals of all pairs. overlap: of position,
context and replicated (predictions of one half held against the measured profile of the other, mean of both ways), likewise.
"""

import json
import sys

import numpy as np
import torch
from transformers import BartForConditionalGeneration

N, T_KEY, T_QUERY, REACH, DEALS = 40, 20, 16, 6, 200
OFFSETS = np.arange(-REACH, REACH + 1)
COLUMN = np.arange(T_KEY)[None] - np.arange(T_QUERY)[:, None]  # t = j - i


def along(a, offsets):
    """Means along diagonals of (heads, queries, keys) but for the first query and key; 0 where there is no pair."""
    inside = np.ones((T_QUERY, T_KEY), bool)
    inside[0] = inside[:, 0] = False
    pairs = [(COLUMN == t) & inside for t in offsets]
    return np.stack([a[:, p].mean(1) if p.any() else np.zeros(len(a)) for p in pairs], 1)


def attend(scores):
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def overlap(measured, predicted, uniform):
    return 1 - abs(measured - predicted).sum(-1) / abs(measured - uniform).sum(-1)


def dealt(mean, content, rng):
    order = np.concatenate([[0], 1 + rng.permutation(len(mean) - 1)])
    return mean + content[order]


def content_kernel(queries, keys):
    """(heads, T_QUERY, T_KEY): how contents at a distance go together on average, less the median of its far levels."""
    longer = max(T_QUERY, T_KEY)
    offsets = np.arange(1 - longer, longer)
    scores = np.mean([np.einsum("ihd,jhd->hij", q, k) for q, k in zip(queries, keys)], 0)
    c = along(scores, offsets)
    pairs = np.array([((COLUMN == t)[1:, 1:]).sum() for t in offsets])
    kept = (abs(offsets) < longer // 2) & (pairs > 0)
    far = kept & (abs(offsets) > min(8, longer // 8))
    c = np.where(kept, c - np.median(c[:, far], 1, keepdims=True), 0)
    return c[:, COLUMN + longer - 1]


def main(folder, out):
    torch.set_num_threads(1)
    model = BartForConditionalGeneration.from_pretrained(folder, attn_implementation="eager", dtype=torch.float64).eval()
    heads = model.config.decoder_attention_heads
    width = model.config.d_model // heads
    rng = np.random.default_rng(0)
    source = rng.integers(5, model.config.vocab_size, (N, T_KEY))
    target = np.concatenate([np.full((N, 1), 2), source[:, : T_QUERY - 1]], 1)
    seen = {}
    layers = [layer.encoder_attn for layer in model.model.decoder.layers]
    for l, layer in enumerate(layers):
        for name in ("q_proj", "k_proj"):
            getattr(layer, name).register_forward_hook(lambda m, i, o, at=(l, name): seen.setdefault(at, []).append(o[0].numpy()))
    weights = []
    with torch.inference_mode():
        for n in range(N):
            made = model(input_ids=torch.tensor(source[n : n + 1]), decoder_input_ids=torch.tensor(target[n : n + 1]),
                         output_attentions=True)
            weights.append([w[0].numpy() for w in made.cross_attentions])
    uniform = np.where(along(np.ones((1, T_QUERY, T_KEY)), OFFSETS) > 0, 1 / T_KEY, np.nan)
    golden = {"ids": [{"source": s.tolist(), "target": t.tolist()} for s, t in zip(source, target)], "measured": []}
    results = {"position": [], "context": [], "overlap": []}
    for l in range(len(layers)):
        q = np.array(seen[l, "q_proj"]).reshape(N, T_QUERY, heads, width) / width**0.5  # scores are scaled
        k = np.array(seen[l, "k_proj"]).reshape(N, T_KEY, heads, width)
        again = attend(np.einsum("nihd,njhd->nhij", q, k))
        assert abs(again - np.array([w[l] for w in weights])).max() < 1e-9
        measured = np.array([along(a, OFFSETS) for a in again])
        golden["measured"].append(measured.mean(0).tolist())
        halves = []
        for one, other in ((0, 1), (1, 0)):
            mean_q, mean_k = q[one::2].mean(0), k[other::2].mean(0)
            halves.append((mean_q, mean_k, q[one::2] - mean_q, k[one::2] - mean_k, measured[one::2].mean(0)))
        kernels = [content_kernel(h[2], h[3]) for h in halves]
        deals = {name: [] for name in results}
        for _ in range(DEALS):
            profiles, matches = [], []
            for (mean_q, mean_k, content_q, content_k, own), kernel, far in zip(halves, kernels, reversed(halves)):
                scores = [np.einsum("ihd,jhd->hij", dealt(mean_q, a, rng), dealt(mean_k, b, rng))
                          for a, b in zip(content_q, content_k)]
                position = np.mean([along(attend(s), OFFSETS) for s in scores], 0)
                order = np.mean([along(attend(s + kernel), OFFSETS) for s in scores], 0)
                profiles.append((position, order))
                matches.append([overlap(far[4], p, uniform) for p in (position, order, own)])
            both = np.mean(profiles, 0)
            for name, value in (("position", both[0]), ("context", both[1]), ("overlap", np.mean(matches, 0))):
                deals[name].append(value)
        for name, values in deals.items():
            results[name].append((np.mean(values, 0), np.std(values, 0)))
    for name, layers_of in results.items():
        golden[name] = {"mean": [m.tolist() for m, _ in layers_of], "deviation": [d.tolist() for _, d in layers_of]}
    json.dump(golden, open(out, "w"))


if __name__ == "__main__":
    main(*sys.argv[1:])
