"""Measured offset profiles and the rotary wave of every head that the tests expect, in plain numpy, in double, with every T x T
array whole.

    python make_account.py stories260K input.txt account.json

stories260K is that folder of the shared data (a Llama of 5 layers, 8 heads and 4 key heads), input.txt tinyshakespeare. The first
12 documents of 128 tokens, <s> first. Made with numpy 2.4.6, safetensors 0.8.0, tokenizers 0.23.3, Python 3.11.

ids (documents x T); offsets t = -16..0. profiles.measured[layer][head][t]: mean weight over documents and queries; the first element
of every diagonal is left out. rotary: coefficient (layer x head x pair, {"re", "im"}), use (mean |q| times mean |k|, scaled), the
first token left out.
"""

import json
import os
import sys

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

DOCUMENTS, T, REACH = 12, 128, 16


def softmax(s, mask):
    x = np.where(mask, s, -np.inf)
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def along(m, offsets):
    """Means along diagonals without their first element; where nothing else is there, that element."""
    return np.array([(d[1:] if len(d) > 1 else d).mean() for d in (np.diagonal(m, t) for t in offsets)])


def main(folder, text, out):
    w = {k: v.astype(np.float64) for k, v in load_file(os.path.join(folder, "model.safetensors")).items()}
    c = json.load(open(os.path.join(folder, "config.json")))
    heads, kv, d = c["num_attention_heads"], c["num_key_value_heads"], c["hidden_size"] // c["num_attention_heads"]
    theta = c["rope_theta"] ** (-np.arange(d // 2) * 2 / d)
    coder = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
    read = open(text, encoding="utf8", newline="").read()[:20000]
    tokens = coder.encode(read, add_special_tokens=False).ids
    ids = np.array([[1] + tokens[i * (T - 1) : (i + 1) * (T - 1)] for i in range(DOCUMENTS)])

    def norm(x, scale):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + c["rms_norm_eps"]) * scale

    def turned(x):
        a = np.arange(T)[:, None] * theta
        x1, x2 = x[..., : d // 2], x[..., d // 2 :]
        return np.concatenate([x1 * np.cos(a) - x2 * np.sin(a), x2 * np.cos(a) + x1 * np.sin(a)], -1)

    x = w["model.embed_tokens.weight"][ids]
    mask = np.tril(np.ones((T, T), bool))
    group = np.arange(heads) // (heads // kv)
    measured, coefficient, use = [], [], []
    for layer in range(c["num_hidden_layers"]):
        p = f"model.layers.{layer}."
        h = norm(x, w[p + "input_layernorm.weight"])

        def split(name, count):
            return (h @ w[p + f"self_attn.{name}_proj.weight"].T).reshape(DOCUMENTS, T, count, d).transpose(0, 2, 1, 3)

        q, k, v = split("q", heads), split("k", kv)[:, group], split("v", kv)[:, group]
        qt, kt = turned(q), turned(k)
        qc, kc = (y[:, :, 1:, : d // 2] + 1j * y[:, :, 1:, d // 2 :] for y in (q, k))
        coefficient.append(d**-0.5 * qc.mean((0, 2)).conj() * kc.mean((0, 2)))
        use.append(d**-0.5 * abs(qc).mean((0, 2)) * abs(kc).mean((0, 2)))
        a = softmax(qt @ kt.transpose(0, 1, 3, 2) * d**-0.5, mask)
        measured.append([along(m, np.arange(-REACH, 1)).tolist() for m in a.mean(0)])
        x = x + (a @ v).transpose(0, 2, 1, 3).reshape(DOCUMENTS, T, -1) @ w[p + "self_attn.o_proj.weight"].T
        h = norm(x, w[p + "post_attention_layernorm.weight"])
        gate, up = h @ w[p + "mlp.gate_proj.weight"].T, h @ w[p + "mlp.up_proj.weight"].T
        x = x + (gate / (1 + np.exp(-gate)) * up) @ w[p + "mlp.down_proj.weight"].T

    coefficient = np.array(coefficient)
    golden = {
        "ids": ids.tolist(),
        "profiles": {"measured": measured},
        "rotary": {
            "frequency": theta.tolist(),
            "coefficient": {"re": coefficient.real.tolist(), "im": coefficient.imag.tolist()},
            "use": np.array(use).tolist(),
        },
    }

    def rounded(v):
        if isinstance(v, float):
            return float(f"{v:.10g}")
        if isinstance(v, list):
            return [rounded(e) for e in v]
        return {k: rounded(e) for k, e in v.items()} if isinstance(v, dict) else v

    json.dump(rounded(golden), open(out, "w"), separators=(",", ":"))


if __name__ == "__main__":
    main(*sys.argv[1:])
