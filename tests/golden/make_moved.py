"""Moved keys by a program that shares nothing with headwave: PyTorch, every T x T array whole, every query.

    python make_moved.py SHARED families/bert-mlm moved.json

SHARED is the folder of the shared data (stories260K, tinyshakespeare). 8 documents each: of stories260K (rotary positions, causal) 64 tokens of
the text, whose keys are turned by 4 tokens; of a random BERT (position table) 24 random words, whose keys are those of the same text read with table
rows 4 further on. Writes the documents and, for every head, moved of job/run/account_evidence.h.
Made with torch 2.13.0, transformers 5.24.0.
"""

import json
import sys

import torch
from transformers import AutoModel, AutoModelForCausalLM, PreTrainedTokenizerFast

N, U = 8, 4


def seen(model, layers, **inputs):
    """Queries and keys of every layer, (N, T, heads, d_head), before rotation."""
    kept = {}
    hooks = [module.register_forward_hook(lambda m, i, o, at=(l, name): kept.__setitem__(at, o.detach()))
             for l, pair in enumerate(layers) for name, module in zip("qk", pair)]
    with torch.no_grad():
        model(**inputs)
    for hook in hooks:
        hook.remove()
    return kept


def profile(weights, visible, mass):
    """(heads, 2 T - 1) of weights within visible keys, queries weighted by mass; sums over queries."""
    within = weights * visible
    within = torch.nan_to_num(within / within.sum(-1, keepdim=True)) * mass[..., None]
    return by_offset(within)


def by_offset(weights):
    T = weights.shape[-1]
    column = torch.arange(T)[None] - torch.arange(T)[:, None] + T - 1
    sums = torch.zeros(len(weights), 2 * T - 1, dtype=torch.double)
    return sums.index_add_(1, column.reshape(-1), weights.reshape(len(weights), -1))


def moved(before, after, heads, kv_heads, causal, turn):
    """@param after  keys; None: turned by turn()"""
    found, T = [], before[0, "q"].shape[1]
    place = torch.arange(T)
    open_ = (place[None] <= place[:, None]) if causal else torch.ones(T, T, dtype=torch.bool)
    text = torch.ones(T, dtype=torch.double)
    if causal:
        text[0] = 0  # the first token is special
    queries = text[:, None] * open_
    past = (place[None] + U <= place[:, None]) if causal else torch.ones(T, T, dtype=torch.bool)
    count = N * by_offset((queries * text)[None])[0]
    seen_enough = count >= max(1, count.max() / 8)
    for l in range(1 + max(l for l, _ in before)):
        p, left, now = 0, 0, 0
        for n in range(N):
            def attention(q, k, at_q, at_k):
                q, k = (x[n].double().view(T, -1, x.shape[-1] // h).transpose(0, 1) for x, h in ((q, heads), (k, kv_heads)))
                q, k = turn(q, at_q), turn(k, at_k).repeat_interleave(heads // kv_heads, 0)
                scores = (q @ k.transpose(1, 2) / q.shape[-1] ** 0.5).masked_fill(~open_, -torch.inf)
                return scores.softmax(-1)
            q, k = before[l, "q"], before[l, "k"]
            as_is = attention(q, k, place, place)
            mass = (as_is * text).sum(-1) * text
            p = p + profile(as_is, queries * text, mass)
            left = left + profile(as_is, queries * text * past, mass)
            turned = attention(q, k if after is None else after[l, "k"], place, place + (U if after is None else 0))
            now = now + profile(turned, queries * text * past, mass)
        top, whole = 0, 0
        for t in range(2 * T - 1 - U):
            if seen_enough[t] and seen_enough[t + U]:
                change = p[:, t + U] / count[t + U] - left[:, t] / count[t]
                top = top + (now[:, t] - left[:, t]) / count[t] * change
                whole = whole + change**2
        found.append((top / whole).tolist())
    return found


def main(shared, bert, out):
    torch.set_num_threads(1)
    model = AutoModelForCausalLM.from_pretrained(shared + "/stories260K").eval()
    coder = PreTrainedTokenizerFast(tokenizer_file=shared + "/stories260K/tokenizer.json")
    ids = coder(open(shared + "/text/tinyshakespeare/input.txt").read()[:20000], add_special_tokens=False)["input_ids"]
    stories = [[1] + ids[i * 63:(i + 1) * 63] for i in range(N)]

    def turn(x, at):
        angle = at[:, None] / 10000.0 ** (torch.arange(0, 8, 2).double() / 8)
        a, b = x[..., :4], x[..., 4:]
        return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1)

    layers = [(x.self_attn.q_proj, x.self_attn.k_proj) for x in model.model.layers]
    before = seen(model, layers, input_ids=torch.tensor(stories))
    golden = {"stories260K": {"documents": stories, "moved": moved(before, None, 8, 4, True, turn)}}
    model = AutoModel.from_pretrained(bert).eval()
    heads, rows = model.config.num_attention_heads, model.config.max_position_embeddings
    words = torch.randint(10, model.config.vocab_size, (N, rows), generator=torch.Generator().manual_seed(5))
    layers = [(x.attention.self.query, x.attention.self.key) for x in model.encoder.layer]
    at = lambda u: (torch.arange(rows) + u).clamp(0, rows - 1)[None]
    before = seen(model, layers, input_ids=words, position_ids=at(0))
    after = seen(model, layers, input_ids=words, position_ids=at(U))
    golden["bert"] = {"documents": words.tolist(), "moved": moved(before, after, heads, heads, False, lambda x, at: x)}
    json.dump(golden, open(out, "w"))


if __name__ == "__main__":
    main(*sys.argv[1:])
