"""The original Transformer as PyTorch's nn.Transformer has it, post-norm and pre-norm, and what it computes.

    python make_transformer.py OUT_FOLDER

Writes OUT_FOLDER/{post,pre}/{model.safetensors, map.toml, expected.safetensors}: two encoder and two decoder layers, biases,
ReLU, words times sqrt(d_model), interleaved sinusoids, norms at the end of both stacks, and a matrix that predicts words.
The map is headwave's description of the checkpoint; everything expected is PyTorch's. Made with torch 2.13.0 (CPU).

expected.safetensors: source (T), target (T'), encoder_attentions, decoder_attentions, cross_attentions (layers, heads, ., .),
memory (T, d), last (T', d), logits (T', words).
"""

import math
import pathlib
import sys

import torch
from safetensors.torch import save_file

D, HEADS, FEED, WORDS, TARGET_WORDS, LAYERS = 16, 2, 24, 30, 20, 2


def sinusoids(length):
    position = torch.arange(length, dtype=torch.float64)[:, None]
    frequency = torch.exp(-math.log(10000.0) * torch.arange(0, D, 2, dtype=torch.float64) / D)
    table = torch.zeros(length, D, dtype=torch.float64)
    table[:, 0::2] = torch.sin(position * frequency)
    table[:, 1::2] = torch.cos(position * frequency)
    return table.float()


def attentions(model, source, target, mask):
    """Weights of every nn.MultiheadAttention, which are given only where they are asked for."""
    kept = {}

    modules = {n: m for n, m in model.named_modules() if isinstance(m, torch.nn.MultiheadAttention)}

    def wrap(name, module):
        plain = module.forward

        def forward(*args, **kwargs):
            kwargs["need_weights"], kwargs["average_attn_weights"] = True, False
            output, weights = plain(*args, **kwargs)
            kept[name] = weights[0].detach()
            return output, weights
        module.forward = forward

    for name, module in modules.items():
        wrap(name, module)
    memory = model.encoder(source)
    last = model.decoder(target, memory, tgt_mask=mask)
    return kept, memory[0].detach(), last[0].detach()


def stack_names(side, decoder):
    at = f"{side}.layers.{{layer}}."
    fused = f'["{at}self_attn.in_proj_weight", "{at}self_attn.in_proj_bias"]'
    cross = f'["{at}multihead_attn.in_proj_weight", "{at}multihead_attn.in_proj_bias"]'
    pair = lambda name: f'["{at}{name}.weight", "{at}{name}.bias"]'
    lines = [f'query = {fused}', f'key = {fused}', f'value = {fused}', 'fusion = "qkv"', f'output = {pair("self_attn.out_proj")}',
             f'self_norm = {pair("norm1")}', f'widen = {pair("linear1")}', f'narrow = {pair("linear2")}']
    if decoder:
        lines += [f'cross_query = {cross}', f'cross_key = {cross}', f'cross_value = {cross}', 'cross_fusion = "qkv"',
                  f'cross_output = {pair("multihead_attn.out_proj")}', f'cross_norm = {pair("norm2")}',
                  f'feed_forward_norm = {pair("norm3")}']
    else:
        lines += [f'feed_forward_norm = {pair("norm2")}']
    return lines + [f'final_norm = ["{side}.norm.weight", "{side}.norm.bias"]']


def write_map(path, place):
    text = ['family = "original Transformer"', 'longest = 64']
    for table, side, words, causal in (("stack", "encoder", WORDS, "false"), ("decoder", "decoder", TARGET_WORDS, "true")):
        text += ["", f"[{table}]", f"layers = {LAYERS}", f"vocabulary = {words}", f"d_model = {D}", f"d_feed_forward = {FEED}",
                 f"heads = {HEADS}", f"causal = {causal}", f'norm_place = "{place}"', "norm_eps = 1e-5", 'activation = "relu"',
                 f"word_scale = {math.sqrt(D)!r}", "", f"[{table}.positions]", 'kind = "sinusoids"', 'layout = "interleaved"', "",
                 f"[{table}.tensors]", f'words = "{side}_words.weight"'] + stack_names(side, side == "decoder")
    path.write_text("\n".join(text) + "\n")


def main():
    for place in ("post", "pre"):
        torch.manual_seed(3)
        model = torch.nn.Transformer(D, HEADS, LAYERS, LAYERS, FEED, dropout=0.0, batch_first=True, norm_first=place == "pre")
        words, target_words = torch.nn.Embedding(WORDS, D), torch.nn.Embedding(TARGET_WORDS, D)
        predict = torch.nn.Linear(D, TARGET_WORDS)
        generator = torch.Generator().manual_seed(5)
        with torch.no_grad():
            for parameter in [*model.parameters(), *predict.parameters()]:
                parameter.add_(0.3 * torch.randn(parameter.shape, generator=generator))
        source = torch.randint(0, WORDS, (1, 13), generator=generator)
        target = torch.randint(0, TARGET_WORDS, (1, 7), generator=generator)
        mask = torch.nn.Transformer.generate_square_subsequent_mask(7)
        model.train()  # dropout is 0; the fast path of evaluation gives no weights
        with torch.no_grad():
            x = words(source) * math.sqrt(D) + sinusoids(13)
            y = target_words(target) * math.sqrt(D) + sinusoids(7)
            kept, memory, last = attentions(model, x, y, mask)
            logits = predict(last)
        folder = pathlib.Path(sys.argv[1]) / place
        folder.mkdir(parents=True, exist_ok=True)
        tensors = {name: value.detach().contiguous() for name, value in model.state_dict().items()}
        tensors |= {"encoder_words.weight": words.weight.detach(), "decoder_words.weight": target_words.weight.detach(),
                    "predict.weight": predict.weight.detach(), "predict.bias": predict.bias.detach()}
        save_file(tensors, str(folder / "model.safetensors"))
        each = lambda side, name: torch.stack([kept[f"{side}.layers.{l}.{name}"] for l in range(LAYERS)]).contiguous()
        save_file({"source": source[0].int(), "target": target[0].int(), "memory": memory.contiguous(),
                   "last": last.contiguous(), "logits": logits.contiguous(),
                   "encoder_attentions": each("encoder", "self_attn"), "decoder_attentions": each("decoder", "self_attn"),
                   "cross_attentions": each("decoder", "multihead_attn")}, str(folder / "expected.safetensors"))
        write_map(folder / "map.toml", place)


if __name__ == "__main__":
    main()
