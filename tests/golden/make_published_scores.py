"""Published scores of heads, by a program that shares nothing with headwave: PyTorch runs the model, numpy does the rest.

    python make_published_scores.py SHARED published_scores.json

SHARED is the folder of the shared data (stories260K, tinyshakespeare): 20 documents of 128 tokens. Keys are swapped one pair at a time,
each with a softmax of its own, for every query. Which keys change places is drawn at random here as there, so positional and
symbolic scores agree on average alone; all else is the same number. Made with torch 2.13.0, transformers 5.24.0, numpy 2.4.6.

Lists are by layer and head; of rotary pairs by layer, head and pair; key heads stand at each head that reads them.
"""

import json
import sys
import warnings

import numpy as np
import torch
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

warnings.filterwarnings("ignore")
LENGTH, DOCUMENTS, SWAPS, REACH, TEMPERATURE = 128, 20, 63, 32, 0.05


def turned(x, frequency):
    """Rotary positions of (T, d), halves paired."""
    angle = np.outer(np.arange(len(x)), frequency)
    a, b = np.split(x, 2, axis=1)
    return np.hstack([a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle)])


def weights(q, k, frequency):
    score = turned(q, frequency) @ turned(k, frequency).T / np.sqrt(q.shape[1])
    score[np.triu_indices(len(q), 1)] = -np.inf
    score = np.exp(score - score.max(1, keepdims=True))
    return score / score.sum(1, keepdims=True)


def cosine(x, y):
    return (x * y).sum(-1) / np.linalg.norm(x, axis=-1) / np.linalg.norm(y, axis=-1)


def swap_scores(q, k, frequency, rng):
    """Means over queries that see at least one swapped pair. The first token, <s>, stays and is no query."""
    before = weights(q, k, frequency)
    places = rng.permutation(np.arange(1, len(q)))
    swaps = np.sort(places[: 2 * SWAPS].reshape(-1, 2), axis=1)
    v, w = [], []
    for a, b in swaps:
        other = k.copy()
        other[[a, b]] = k[[b, a]]
        after = weights(q, other, frequency)
        v.append(before[:, [a, b]])
        w.append(after[:, [a, b]])
    positional, symbolic = [], []
    for i in range(1, len(q)):
        seen = np.flatnonzero(swaps[:, 1] <= i)
        if len(seen) == 0:
            continue
        old, new = np.array([v[s][i] for s in seen]), np.array([w[s][i] for s in seen])
        share = np.exp(np.abs(old[:, 0] - old[:, 1]) / TEMPERATURE)
        share /= share.sum()
        positional.append(share @ cosine(new, old))
        symbolic.append(share @ cosine(new, old[:, ::-1]))
    return np.mean(positional), np.mean(symbolic)


def vectors(x):
    """x: (documents, T, d) of one head."""
    share = np.mean([np.linalg.svd(one, compute_uv=False)[0] ** 2 / (one**2).sum() for one in x])
    flat = x.reshape(-1, x.shape[2])
    half = x.shape[2] // 2
    pairs = flat[:, :half] + 1j * flat[:, half:]
    size = np.sqrt((flat**2).mean(0))
    return {
        "rank_one_share": share,
        "resultant_length": np.linalg.norm(flat.mean(0)) / np.linalg.norm(flat, axis=1).mean(),
        "pair_resultant_length": list(abs(pairs.mean(0)) / abs(pairs).mean(0)),
        "massive_values": int((size > 5 * size.mean()).sum()),
        "massive_ratio": size.max() / size.mean(),
        "massive_channel": int(size.argmax()),
    }


shared, target = sys.argv[1:]
folder = f"{shared}/stories260K"
tokenizer = PreTrainedTokenizerFast(tokenizer_file=f"{folder}/tokenizer.json")
model = AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager").eval()
config = model.config
text = open(f"{shared}/text/tinyshakespeare/input.txt", encoding="utf-8").read()[:60000]
ids = torch.tensor(tokenizer.encode(text, add_special_tokens=False))
per = LENGTH - 1
documents = [torch.cat([torch.tensor([config.bos_token_id]), ids[n * per : (n + 1) * per]]) for n in range(DOCUMENTS)]
heads, kv_heads, layers = config.num_attention_heads, config.num_key_value_heads, config.num_hidden_layers
d_head = config.hidden_size // heads
frequency = 10000.0 ** (-np.arange(0, d_head, 2) / d_head)
seen = {}
for l, layer in enumerate(model.model.layers):
    for name, module in (("q", layer.self_attn.q_proj), ("k", layer.self_attn.k_proj)):
        module.register_forward_hook(lambda m, i, o, at=(l, name): seen.setdefault(at, []).append(o[0].double().numpy()))
slash = np.zeros((layers, heads, REACH + 1))
with torch.inference_mode():
    for document in documents:
        for l, a in enumerate(model(document[None], output_attentions=True).attentions):
            slash[l] += [[a[0, h].diagonal(-t).double().mean() for t in range(REACH + 1)] for h in range(heads)]
slash /= DOCUMENTS
rng = np.random.default_rng(0)
found = {"query": [], "key": [], "positional_score": [], "symbolic_score": []}
for l in range(layers):
    q = np.stack(seen[l, "q"]).reshape(DOCUMENTS, LENGTH, heads, d_head)
    k = np.stack(seen[l, "k"]).reshape(DOCUMENTS, LENGTH, kv_heads, d_head).repeat(heads // kv_heads, 2)
    found["query"].append([vectors(q[:, :, h]) for h in range(heads)])
    found["key"].append([vectors(k[:, :, h]) for h in range(heads)])
    scores = np.array(
        [np.mean([swap_scores(q[n, :, h], k[n, :, h], frequency, rng) for n in range(DOCUMENTS)], 0) for h in range(heads)]
    )
    found["positional_score"].append(list(scores[:, 0]))
    found["symbolic_score"].append(list(scores[:, 1]))
found["slash_score"] = slash.max(2).tolist()
found["slash_offset"] = (-slash.argmax(2)).tolist()
found["ids"] = [document.tolist() for document in documents]


def rounded(value):
    if isinstance(value, dict):
        return {name: rounded(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [rounded(entry) for entry in value]
    return round(float(value), 7) if isinstance(value, (float, np.floating)) else value


with open(target, "w", encoding="utf-8") as file:
    json.dump(rounded(found), file)
    file.write("\n")
