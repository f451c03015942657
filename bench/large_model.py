"""A Llama-like checkpoint of random weights, in bfloat16 and in shards: for runs of models larger than memory.

    python3 bench/large_model.py DIR [--layers 32] [--d-model 4096] [--d-feed-forward 11008] [--heads 32]
                                     [--vocabulary 32000] [--positions 4096] [--seed 1] [--layers-a-shard 4]

The defaults have 6.7 billion parameters and take 13.5 GB of disk. Weights are normal with standard deviation 0.02, and
norms are 1. There is no tokenizer: give documents by --ids or --random-tokens. Only numpy is needed, since shards are
written byte by byte in the safetensors format: 8 bytes of header length, the header in JSON, the tensors.
"""

import argparse
import json
import pathlib
import struct

import numpy as np


def bfloat16(values):
    """Rounds float32 to its upper half, which is bfloat16."""
    bits = values.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")


def tensors(options):
    """Names, shapes and standard deviations of the tensors, in the order of the file; None: ones."""
    d, wide = options.d_model, options.d_feed_forward
    parts = [[("model.embed_tokens.weight", (options.vocabulary, d), 0.02)]]
    for layer in range(options.layers):
        name = f"model.layers.{layer}."
        parts.append(
            [(name + f"self_attn.{which}_proj.weight", (d, d), 0.02) for which in "qkvo"]
            + [(name + f"mlp.{which}_proj.weight", (wide, d), 0.02) for which in ("gate", "up")]
            + [(name + "mlp.down_proj.weight", (d, wide), 0.02)]
            + [(name + f"{which}_layernorm.weight", (d,), None) for which in ("input", "post_attention")])
    parts.append([("model.norm.weight", (d,), None), ("lm_head.weight", (options.vocabulary, d), 0.02)])
    return parts


def write_shard(path, shard, random):
    header, at = {}, 0
    for name, shape, _ in shard:
        size = 2 * int(np.prod(shape))
        header[name] = {"dtype": "BF16", "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, shape, deviation in shard:
            ones = np.ones(shape, np.float32)
            file.write(bfloat16(ones if deviation is None else
                                deviation * random.standard_normal(shape, np.float32)).tobytes())
    return at


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    for name, value in (("layers", 32), ("d-model", 4096), ("d-feed-forward", 11008), ("heads", 32),
                        ("vocabulary", 32000), ("positions", 4096), ("seed", 1), ("layers-a-shard", 4)):
        parser.add_argument("--" + name, type=int, default=value)
    options = parser.parse_args()
    options.folder.mkdir(parents=True)
    parts = tensors(options)
    step = options.layers_a_shard
    shards = [sum(parts[i:i + step], []) for i in range(0, len(parts), step)]
    random = np.random.default_rng(options.seed)
    places, whole = {}, 0
    for i, shard in enumerate(shards):
        name = f"model-{i + 1:05d}-of-{len(shards):05d}.safetensors"
        whole += write_shard(options.folder / name, shard, random)
        places |= {tensor: name for tensor, _, _ in shard}
    (options.folder / "model.safetensors.index.json").write_text(
        json.dumps({"metadata": {"total_size": whole}, "weight_map": places}))
    (options.folder / "config.json").write_text(json.dumps(
        {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": options.d_model,
         "intermediate_size": options.d_feed_forward, "num_hidden_layers": options.layers,
         "num_attention_heads": options.heads, "num_key_value_heads": options.heads, "hidden_act": "silu",
         "max_position_embeddings": options.positions, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "tie_word_embeddings": False,
         "vocab_size": options.vocabulary, "torch_dtype": "bfloat16"}, indent=2))


if __name__ == "__main__":
    main()
