"""Prints scores of heads from other papers beside headwave's account of the same heads on the same documents.

    python published_scores.py MODEL TEXT [DOCUMENTS [LENGTH]]

The keys of two tokens change places before rotary positions, so that the places stay and the tokens move. Let v be a query's weights at both
places before the swap, v' after it, and w the weight of a swap, which grows with |v_a - v_b|. The scores of a query are

    positional = sum of w cos(v', v)         symbolic = sum of w cos(v', (v_b, v_a))

Attention that stays at its place has positional 1, attention that moves with its token has symbolic 1, and uniform attention has both. All
tokens of a document change places at once, in pairs: other keys change both entries of v' by one factor, which does not change a cosine. In a
model with a position table the key itself contains its place. There we move only what a token adds to the mean key of its place, over the other
half of the documents. This choice, blocks of one token and the temperature of w are ours; the paper is about rotary models.

`rank_one` is the share of the largest squared singular value of a document's queries or keys in the sum of all. `resultant` is the length of
their mean over their mean length. `massive` is the largest root mean square of a channel over the mean of all channels.

Source: Urrutia et al. 2026, arXiv:2511.11579 (positional, symbolic); Cheng et al. 2026, arXiv:2601.08297 (rank one, slash: the weight at the
measured offset); Mao et al. 2026, arXiv:2604.04921 (resultant); Jin et al. 2025, arXiv:2502.01563 (massive).
"""

import contextlib
import pathlib
import sys

import numpy as np
import torch
import transformers

import headwave


def projections(model):
    """The modules that make queries and keys, (query, key) for each layer."""
    named = dict(model.named_modules())
    for query, key in (("q_proj", "k_proj"), ("query", "key"), ("q_lin", "k_lin"), ("q", "k")):
        if found := [(named[name], named[name.removesuffix(query) + key]) for name in named if name.split(".")[-1] == query]:
            return found
    raise SystemExit("published_scores: this model makes queries and keys in one module; expected a model with a module for each (BERT, Llama)")


@contextlib.contextmanager
def hooked(module, hook):
    handle = module.register_forward_hook(lambda _, __, output: hook(output))
    yield
    handle.remove()


def outputs(model, modules, document):
    """The output of each module for a document, (T, width), and the attention of every layer, (layers, heads, T, T)."""
    kept = []
    with contextlib.ExitStack() as stack, torch.no_grad():
        for module in modules:
            stack.enter_context(hooked(module, lambda output: kept.append(output[0])))
        attention = torch.stack(model(torch.tensor([document]), output_attentions=True).attentions)[:, 0]
    return kept, attention


def swap_scores(before, after, a, b, free, temperature=0.05):
    """Positional and symbolic scores of a layer's heads in one document, (2, heads), from weights before and after swaps of a and b."""
    v, w = (torch.stack([weights[..., a], weights[..., b]], -1).double()[:, free] for weights in (before, after))   # (heads, queries, swaps, 2)
    seen = torch.full_like(v[..., 0], True, dtype=bool)
    if not before.triu(1).any():
        seen &= (torch.maximum(a, b) <= free[:, None])
    length = v.norm(dim=-1) * w.norm(dim=-1)
    share = ((v[..., 0] - v[..., 1]).abs() / temperature).masked_fill(~seen | (length == 0), -torch.inf).softmax(-1)
    scores = [(share * ((w * of).sum(-1) / length).nan_to_num()).sum(-1) for of in (v, v.flip(-1))]
    return torch.stack(scores).nanmean(-1)      # a query that sees no pair has no score


def vector_scores(vectors):
    """`rank_one`, `resultant` and `massive` of one head's queries or keys, which are (T, d_head) for each document."""
    whole, squares = torch.cat(vectors), [torch.linalg.svdvals(one).square() for one in vectors]
    size = whole.square().mean(0).sqrt()
    return [float(of) for of in (torch.stack([s[0] / s.sum() for s in squares]).mean(), whole.mean(0).norm() / whole.norm(dim=1).mean(),
                                 size.max() / size.mean())]


def has_table(model):
    return any(isinstance(module, torch.nn.Embedding) and name.endswith(("position_embeddings", "wpe", "embed_positions"))
               for name, module in model.named_modules())


def published_scores(model, documents, special=(), seed=1):
    """All scores, {name: (layers, heads)}. `documents` are lists of ids; first tokens and `special` ids stay, and do not count as queries."""
    modules, heads, random = projections(model), model.config.num_attention_heads, np.random.default_rng(seed)
    kept = [outputs(model, [module for pair in modules for module in pair], document) for document in documents]
    d_head = kept[0][0][0].shape[1] // heads
    scores = torch.full((len(documents), len(modules), 2, heads), torch.nan, dtype=torch.double)
    for number, (document, (_, before)) in enumerate(zip(documents, kept)):
        free = np.array([place for place, token in enumerate(document) if place > 0 and token not in special])
        a, b = torch.tensor(random.permutation(free)[: len(free) // 2 * 2].reshape(-1, 2).T)
        for layer, (_, key) in enumerate(modules):
            of_others = [of[2 * layer + 1] for other, (of, _) in enumerate(kept) if other % 2 != number % 2]
            mean = torch.stack(of_others).mean(0) if has_table(model) else 0

            def swapped(output):
                content = output[0] - mean
                content[torch.cat([a, b])] = content[torch.cat([b, a])]
                return (content + mean)[None]

            with hooked(key, swapped):
                _, after = outputs(model, [], document)
            scores[number, layer] = swap_scores(before[layer], after[layer], a, b, torch.tensor(free))
    found = dict(zip(("positional", "symbolic"), scores.nanmean(0).transpose(0, 1).numpy()))
    for place, side in enumerate(("query", "key")):
        of_heads = np.empty((3, len(modules), heads))
        for layer in range(len(modules)):
            own = [of[2 * layer + place].double().unflatten(-1, (-1, d_head)) for of, _ in kept]
            for head in range(heads):     # a key head counts for every query head that reads it
                of_heads[:, layer, head] = vector_scores([of[:, head * of.shape[1] // heads] for of in own])
        found |= {f"{name} {side}": values for name, values in zip(("rank_one", "resultant", "massive"), of_heads)}
    return found


def main(folder, text, documents=20, length=128):
    model = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    words, count, length = tokenizer(pathlib.Path(text).read_text())["input_ids"], int(documents), int(length)
    cut = [words[:1] + words[at : at + length - 1] for at in range(1, len(words) - length, length - 1)][:count]
    found = published_scores(model, cut, tokenizer.all_special_ids)
    account = headwave.run(folder, ids=cut, only=["head_account"])
    of = lambda name: np.asarray(account[name])
    causes = account["head_account/verdict"].attrs["flag_labels"]
    print(f"{'head':8}{'offset':>8}{'slash':>8}{'strength':>10}" + "".join(f"{name:>16}" for name in found) + "  account")
    for layer, head in np.argwhere(of("head_account/strength") > 0):
        at = (layer, head)
        print(f"L{layer}H{head:<6}{of('measured_offset/offset')[0][at]:8.0f}{of('measured_offset/weight')[0][at]:8.3f}"
              f"{of('head_account/strength')[at]:10.2f}" + "".join(f"{values[at]:16.3f}" for values in found.values())
              + f"  {causes[of('head_account/verdict')[at]]}")


if __name__ == "__main__":
    main(*sys.argv[1:])
