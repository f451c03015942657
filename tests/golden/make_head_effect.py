"""Heads taken away by a program that shares nothing with headwave: PyTorch, hooks on what enters the output projection.

    python make_head_effect.py SHARED families head_effect.json

SHARED is the folder of the shared data (stories260K, tinyshakespeare). 6 documents of 24 tokens each: of stories260K of the text, of a random GPT-2
and a random BERT of random words; and documents of 5 to 10 tokens of the GPT-2. The output of one head is replaced by its mean over the other
documents that reach its place, or over all of their tokens where none does. Writes the documents, and for every head and document loss and state,
equations (2) and (3) of analysis/why/head_effect.h; and for the first two, copying, its p-value, and the word whose logit rises most on average:
(2) to (4) of analysis/why/head_writes.cpp.
Made with torch 2.13.0, transformers 5.24.0.
"""

import json
import sys

import torch
from transformers import AutoModel, AutoModelForCausalLM, PreTrainedTokenizerFast

N, T = 6, 24


def run(model, ids):
    """Final states, and the loss of a causal model."""
    with torch.no_grad():
        out = model(input_ids=torch.tensor([ids]), output_hidden_states=True)
    final = out.hidden_states[-1][0].double()
    if not hasattr(out, "logits"):
        return final, float("nan")
    return final, torch.nn.functional.cross_entropy(out.logits[0, :-1].double(), torch.tensor(ids[1:])).item()


def effects(model, projections, heads, documents):
    """@param projections  what reads the outputs of all heads, layer by layer"""
    before, outputs = [], [[] for _ in projections]
    hooks = [p.register_forward_pre_hook(lambda m, x, kept=kept: kept.append(x[0][0])) for p, kept in zip(projections, outputs)]
    for ids in documents:
        before.append(run(model, ids))
    for hook in hooks:
        hook.remove()
    loss, state = [], []
    for projection, kept in zip(projections, outputs):
        width = kept[0].shape[1] // heads
        for head in range(heads):
            own = slice(head * width, (head + 1) * width)
            losses, states = [], []
            for d, ids in enumerate(documents):
                others = [x[:, own].double() for e, x in enumerate(kept) if e != d]
                there = [[x[i] for x in others if len(x) > i] for i in range(len(ids))]
                mean = torch.stack([torch.stack(those).mean(0) if those else torch.cat(others).mean(0) for those in there])

                def replaced(module, x):
                    changed = x[0].clone()
                    changed[0, :, own] = mean.float()
                    return (changed,)

                hook = projection.register_forward_pre_hook(replaced)
                final, nats = run(model, ids)
                hook.remove()
                losses.append(nats - before[d][1])
                states.append(((final - before[d][0]).norm(dim=1) / before[d][0].norm(dim=1)).mean().item())
            loss.append(losses)
            state.append(states)
    found = {"documents": documents, "state": state}
    return found if losses[0] != losses[0] else dict(found, loss=loss, model_loss=[nats for _, nats in before])


def writes(model, values, projections, final_norm, heads, kv_heads, documents, special=-1):
    """@param values  modules whose last columns are the values of all key heads; projections as (d_model, heads * d_value)"""
    kept, outputs, entering = {}, {}, []
    hooks = [m.register_forward_hook(lambda m, x, y, l=l: kept.setdefault(l, []).append(y[0].double())) for l, m in enumerate(values)]
    hooks += [p.register_forward_pre_hook(lambda m, x, l=l: outputs.setdefault(l, []).append(x[0][0].double()))
              for l, (p, _) in enumerate(projections)]
    hooks.append(final_norm.register_forward_pre_hook(lambda m, x: entering.append(x[0][0].double())))
    for ids in documents:
        run(model, ids)
    for hook in hooks:
        hook.remove()
    ids = torch.tensor(sum(documents, []))
    words = ids[ids != special].unique()
    centred = isinstance(final_norm, torch.nn.LayerNorm)
    eps = final_norm.eps if centred else final_norm.variance_epsilon
    scales = [((x - x.mean(1, keepdim=True) * centred) ** 2).mean(1).add(eps).rsqrt().mean() for x in entering]
    reads = model.get_output_embeddings().weight.detach().double()[words] * final_norm.weight.detach().double()
    reads = (reads - reads.mean(1, keepdim=True) * centred) * torch.stack(scales).mean()
    found = {"copying": [], "copying_p_value": [], "raised": []}
    n = len(words)
    for l, (_, weight) in enumerate(projections):
        width = weight.shape[1] // heads
        all_values = torch.cat(kept[l])[:, -kv_heads * width:]
        for head in range(heads):
            own = slice(head * width, (head + 1) * width)
            key = head // (heads // kv_heads)
            mean = torch.stack([all_values[ids == w, key * width:(key + 1) * width].mean(0) for w in words])
            to_words = weight[:, own].double().T @ reads.T
            L = mean @ to_words
            L = L - L.mean(0)
            a = (L - L.mean(1, keepdim=True)) / L.std(1, correction=0, keepdim=True)
            d = a - a.mean(0) - a.mean(1, keepdim=True) + a.mean()
            score, sd = a.diagonal().mean(), ((d**2).sum() / (n - 1)).sqrt() / n
            found["copying"].append(score.item())
            found["copying_p_value"].append(torch.erfc(score.abs() / sd / 2**0.5).item())
            raised = torch.stack([x[:, own].mean(0) @ to_words for x in outputs[l]]).mean(0)
            found["raised"].append(words[raised.argmax()].item())
    return found


def main(shared, families, out):
    torch.set_num_threads(1)
    draw = torch.Generator().manual_seed(5)
    words = lambda length, most: torch.randint(3, most, (length,), generator=draw).tolist()
    model = AutoModelForCausalLM.from_pretrained(shared + "/stories260K").eval()
    coder = PreTrainedTokenizerFast(tokenizer_file=shared + "/stories260K/tokenizer.json")
    ids = coder(open(shared + "/text/tinyshakespeare/input.txt").read()[:20000], add_special_tokens=False)["input_ids"]
    stories = [[1] + ids[i * (T - 1):(i + 1) * (T - 1)] for i in range(N)]
    golden = {"stories260K": effects(model, [x.self_attn.o_proj for x in model.model.layers], 8, stories)}
    golden["stories260K"].update(writes(model, [x.self_attn.v_proj for x in model.model.layers],
                                        [(x.self_attn.o_proj, x.self_attn.o_proj.weight.detach()) for x in model.model.layers],
                                        model.model.norm, 8, 4, stories, special=1))
    model = AutoModelForCausalLM.from_pretrained(families + "/gpt2").eval()
    layers = [x.attn.c_proj for x in model.transformer.h]
    golden["gpt2"] = effects(model, layers, model.config.n_head, [words(T, 60) for _ in range(N)])
    golden["gpt2"].update(writes(model, [x.attn.c_attn for x in model.transformer.h],
                                 [(x.attn.c_proj, x.attn.c_proj.weight.detach().T) for x in model.transformer.h],
                                 model.transformer.ln_f, model.config.n_head, model.config.n_head, golden["gpt2"]["documents"]))
    golden["gpt2, lengths differ"] = effects(model, layers, model.config.n_head, [words(5 + n, 60) for n in range(N)])
    model = AutoModel.from_pretrained(families + "/bert-mlm").eval()
    layers = [x.attention.output.dense for x in model.encoder.layer]
    golden["bert-mlm"] = effects(model, layers, model.config.num_attention_heads, [words(T, 60) for _ in range(N)])
    json.dump(golden, open(out, "w"))


if __name__ == "__main__":
    main(*sys.argv[1:])
