"""A small model that copies, trained here, and which of its heads do so, by a program that shares nothing with headwave.

    python make_induction.py induction

Writes induction/config.json and model.safetensors (a Llama of 2 layers of 2 heads over 64 words), documents.json (40 documents of 64
tokens) and expected.json. Every document is a random order of random words, 4 to 28 of them, again and again; where the first copy
ends, the next token can be known from an earlier one alone. Training: 3,000 steps of 64 such documents, AdamW, 8 minutes on one core;
the loss counts tokens after the first copy.

expected.json, over documents of 12 to 28 words:
- accuracy: share of tokens after the first copy that the model knows;
- after_copy: for each head, mean attention on the keys whose token before is the query's (induction);
- previous: mean attention on the token before;
- loss, loss_without: mean loss of the copies, and the same with the output of one head set to 0.

Made with torch 2.13.0, transformers 5.24.0. Weights are kept as float16; expected.json is that of the kept weights.
"""

import json
import math
import pathlib
import sys

import torch
from transformers import LlamaConfig, LlamaForCausalLM

WORDS, T, STEPS, HEADS, WIDTH = 64, 64, 3000, 2, 32


def documents(count, fewest, most, generator):
    made = []
    for _ in range(count):
        period = int(torch.randint(fewest, most + 1, (1,), generator=generator))
        words = torch.randint(1, WORDS, (period,), generator=generator)
        made.append((words.repeat(T // period + 1)[:T], period))
    return made


def trained():
    torch.manual_seed(0)
    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=WORDS, hidden_size=HEADS * WIDTH, intermediate_size=4, num_hidden_layers=2, num_attention_heads=HEADS,
        num_key_value_heads=HEADS, max_position_embeddings=128, rope_theta=100.0, bos_token_id=0, eos_token_id=0))
    generator = torch.Generator().manual_seed(1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.98), weight_decay=0.01)
    for step in range(STEPS):
        for group in optimizer.param_groups:
            group["lr"] = 3e-3 * min(1, step / 100) * (0.55 + 0.45 * math.cos(math.pi * step / 8000))
        batch = documents(64, 4, 28, generator)
        ids = torch.stack([words for words, _ in batch])
        known = torch.stack([torch.arange(T) >= period for _, period in batch])[:, 1:]
        logits = model(input_ids=ids).logits[:, :-1]
        loss = torch.nn.functional.cross_entropy(logits.reshape(-1, WORDS), ids[:, 1:].reshape(-1), reduction="none")
        loss = loss.view_as(known)[known].mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 500 == 0:
            print(step, round(loss.item(), 3), flush=True)
    return model


def copy_loss(model, made):
    logits = model(torch.stack([words for words, _ in made])).logits
    return torch.stack([torch.nn.functional.cross_entropy(logits[n, period:-1], words[period + 1:])
                        for n, (words, period) in enumerate(made)]).mean().item()


@torch.no_grad()
def expected(model, made):
    out = model(torch.stack([words for words, _ in made]), output_attentions=True)
    right, after, before = [], torch.zeros(2, HEADS), torch.zeros(2, HEADS)
    queries = 0
    for n, (words, period) in enumerate(made):
        right.append((out.logits[n, period:-1].argmax(-1) == words[period + 1:]).float().mean())
        for i in range(period, T - 1):
            copies = [j for j in range(1, i + 1) if words[j - 1] == words[i]]
            for layer, weights in enumerate(out.attentions):
                after[layer] += weights[n, :, i, copies].sum(-1)
                before[layer] += weights[n, :, i, i - 1]
            queries += 1
    without = []
    for layer in model.model.layers:
        output = layer.self_attn.o_proj.weight
        for head in range(HEADS):
            whole = output.data.clone()
            output.data[:, head * WIDTH:(head + 1) * WIDTH] = 0
            without.append(copy_loss(model, made))
            output.data.copy_(whole)
    rounded = lambda numbers: [round(float(number), 4) for number in numbers]
    return {"accuracy": round(float(torch.stack(right).mean()), 4), "after_copy": rounded((after / queries).flatten()),
            "previous": rounded((before / queries).flatten()), "loss": round(copy_loss(model, made), 4),
            "loss_without": rounded(without)}


def main(folder):
    folder = pathlib.Path(folder)
    trained().half().save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    model = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    made = documents(40, 12, 28, torch.Generator().manual_seed(77))
    (folder / "documents.json").write_text(json.dumps([words.tolist() for words, _ in made]))
    found = expected(model, made)
    (folder / "expected.json").write_text(json.dumps(found, indent=1) + "\n")
    print(found)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(sys.argv[1])
