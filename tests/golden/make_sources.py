"""What wrote what a Llama's heads read, by a program that shares nothing with headwave: PyTorch in double, T x T arrays whole.

    python make_sources.py SHARED sources.json

SHARED is the folder of the shared data. stories260K over 6 documents of 96 tokens of tinyshakespeare, <s> first; |t| <= 32.
The state that enters a layer is cut into words, constants (none here: 0), attention and feed-forward of each layer before, RMS
norms held. Position kernel: queries of one document with the keys of every other, so mean over pairs n != m; content: half
the products of differences of documents 2p and 2p + 1. The first token is neither query nor key. Made with torch 2.13.0,
transformers 5.24.0, numpy 2.4.6.

For each layer: query and key shares of the position kernel (heads, sources), its standard deviation (heads), content at 0 and -1
(heads) and its shares on both sides. For L3H1 the shares of earlier heads.
"""

import json
import sys

import numpy as np
import torch
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

T, N, R = 96, 6, 32
HEADS, SHARE, D = 8, 2, 8  # query heads, those that share a key head, width of a head
CHOSEN = (3, 1)


def main(shared, out):
    torch.set_num_threads(1)
    folder = shared + "/stories260K"
    model = AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager").eval().double()
    coder = PreTrainedTokenizerFast(tokenizer_file=folder + "/tokenizer.json")
    ids = coder(open(shared + "/text/tinyshakespeare/input.txt").read()[:20000], add_special_tokens=False)["input_ids"]
    docs = [torch.tensor([1] + ids[i * (T - 1) : (i + 1) * (T - 1)]) for i in range(N)]
    angle = torch.arange(T)[:, None].double() / 10000.0 ** (torch.arange(0, D, 2).double() / D)
    cos, sin = angle.cos()[:, None], angle.sin()[:, None]

    def turn(x):  # (T, heads, D)
        a, b = x[..., : D // 2], x[..., D // 2 :]
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

    seen = {}
    blocks = model.model.layers
    for l, block in enumerate(blocks):
        block.input_layernorm.register_forward_hook(lambda m, i, o, l=l: seen.__setitem__(("x", l), i[0][0]))
        block.self_attn.register_forward_hook(lambda m, i, o, l=l: seen.__setitem__(("a", l), o[0][0]))
        block.self_attn.o_proj.register_forward_hook(lambda m, i, o, l=l: seen.__setitem__(("h", l), i[0][0]))
        block.mlp.register_forward_hook(lambda m, i, o, l=l: seen.__setitem__(("f", l), o[0]))
        block.self_attn.q_proj.register_forward_hook(lambda m, i, o, l=l: seen.__setitem__(("q", l), o[0]))
    made = [([], []) for _ in blocks]  # by layer: queries, keys, each [document] (sources, T, heads, D)
    split = []  # of the head CHOSEN by earlier head: [document] (query, key)
    with torch.inference_mode():
        for doc in docs:
            model(doc[None])
            sources = [model.model.embed_tokens(doc)]
            by_head = []
            for l, block in enumerate(blocks):
                x = seen["x", l]
                assert (sum(sources) - x).abs().max() < 1e-12 * x.abs().max()
                norm = block.input_layernorm
                held = norm.weight / (x.pow(2).mean(-1, keepdim=True) + norm.variance_epsilon).sqrt()
                wq, wk = block.self_attn.q_proj.weight.T, block.self_attn.k_proj.weight.T
                parts = sources[:1] + [torch.zeros_like(x)] * 2 + sources[1:]
                q = torch.stack([turn((p * held @ wq).reshape(T, HEADS, D)) for p in parts])
                k = torch.stack([turn((p * held @ wk).reshape(T, HEADS // SHARE, D)) for p in parts])
                made[l][0].append(q)
                made[l][1].append(k.repeat_interleave(SHARE, 2))
                if l == CHOSEN[0]:
                    q = torch.stack([turn((p * held @ wq).reshape(T, HEADS, D))[:, CHOSEN[1]] for p in by_head])
                    k = [turn((p * held @ wk).reshape(T, HEADS // SHARE, D))[:, CHOSEN[1] // SHARE] for p in by_head]
                    split.append((q, torch.stack(k)))
                made_by = seen["h", l].reshape(T, HEADS, D)
                wo = block.self_attn.o_proj.weight.T.reshape(HEADS, D, -1)
                by_head += [made_by[:, h] @ wo[h] for h in range(HEADS)]
                assert (sum(by_head[-HEADS:]) - seen["a", l]).abs().max() < 1e-12
                sources += [seen["a", l], seen["f", l]]

    mask = torch.ones(T, T).tril().bool()

    def along(s):
        """Rows centred over the keys they may look at, then means along diagonals -R .. 0, place 0 left out."""
        s = s - (s * mask).sum(-1, keepdim=True) / mask.sum(-1, keepdim=True)
        return torch.stack([torch.diagonal(s, t, -2, -1)[..., 1:].mean(-1) for t in range(-R, 1)], -1)

    def shares(f):
        """(sources, offsets)"""
        kernel = f.sum(0) - f.sum(0).mean()
        return ((f - f.mean(-1, keepdim=True)) * kernel).sum(-1) / (kernel**2).sum(), kernel.pow(2).mean().sqrt()

    golden = {"documents": N, "length": T, "reach": R, "layers": [], "ids": [d.tolist() for d in docs]}
    rounded = lambda x: np.round(torch.as_tensor(x).numpy(), 7).tolist()
    for l in range(len(blocks)):
        q, k = torch.stack(made[l][0]), torch.stack(made[l][1])  # (N, sources, T, heads, D)
        all_q, all_k = q.sum(1), k.sum(1)
        layer = {name: [] for name in ("query", "key", "sd", "content", "content_query", "content_key")}
        for h in range(HEADS):
            scale = D**-0.5
            of_q = sum(along(torch.einsum("sid,jd->sij", q[n, :, :, h], (all_k.sum(0) - all_k[n])[:, h] / (N - 1)))
                       for n in range(N)) * scale / N
            of_k = sum(along(torch.einsum("id,sjd->sij", (all_q.sum(0) - all_q[n])[:, h] / (N - 1), k[n, :, :, h]))
                       for n in range(N)) * scale / N
            layer["query"].append(rounded(shares(of_q)[0]))
            layer["key"].append(rounded(shares(of_k)[0]))
            layer["sd"].append(rounded(shares((of_q + of_k) / 2)[1]))
            content = [[], [], []]
            for t in (0, -1):
                a = slice(1 - t, T)
                b = slice(1, T + t)
                dq, dk = q[0::2, :, :, h] - q[1::2, :, :, h], k[0::2, :, :, h] - k[1::2, :, :, h]
                c_q = torch.einsum("psid,pid->s", dq[:, :, a], dk.sum(1)[:, b]) * scale / 2 / (N // 2) / (T - 1 + t)
                c_k = torch.einsum("pid,psid->s", dq.sum(1)[:, a], dk[:, :, b]) * scale / 2 / (N // 2) / (T - 1 + t)
                content[0].append(rounded(c_q.sum()))
                content[1].append(rounded(c_q / c_q.sum()))
                content[2].append(rounded(c_k / c_k.sum()))
            layer["content"].append(content[0])
            layer["content_query"].append(content[1])
            layer["content_key"].append(content[2])
            if (l, h) == CHOSEN:
                earlier = []
                for side, whole in ((0, of_q), (1, of_k)):
                    f = []
                    for n in range(N):
                        if side == 0:
                            others = (all_k.sum(0) - all_k[n])[:, h] / (N - 1)
                            f.append(along(torch.einsum("sid,jd->sij", split[n][0], others)))
                        else:
                            others = (all_q.sum(0) - all_q[n])[:, h] / (N - 1)
                            f.append(along(torch.einsum("id,sjd->sij", others, split[n][1])))
                    f = sum(f) * scale / N
                    kernel = whole.sum(0) - whole.sum(0).mean()
                    earlier.append(rounded((f * kernel).sum(-1) / (kernel**2).sum()))
                golden["earlier"] = earlier
        golden["layers"].append(layer)
    json.dump(golden, open(out, "w"))


if __name__ == "__main__":
    main(*sys.argv[1:])
