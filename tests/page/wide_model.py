"""wide_model.py DIR: a random GPT-2 of 12 layers x 12 heads and 512 positions, as a Hugging Face directory."""

import array
import json
import pathlib
import random
import struct
import sys

layers, heads, width, inner, words, positions = 12, 12, 96, 96, 200, 512


def tensors():
    yield "transformer.wte.weight", [words, width], 1.0
    yield "transformer.wpe.weight", [positions, width], 1.0
    for layer in range(layers):
        block = f"transformer.h.{layer}."
        for norm in ("ln_1", "ln_2"):
            yield block + norm + ".weight", [width], None
            yield block + norm + ".bias", [width], 0.1
        for name, shape in (("attn.c_attn", [width, 3 * width]), ("attn.c_proj", [width, width]), ("mlp.c_fc", [width, inner]), ("mlp.c_proj", [inner, width])):
            yield block + name + ".weight", shape, 0.25
            yield block + name + ".bias", shape[1:], 0.1
    yield "transformer.ln_f.weight", [width], None
    yield "transformer.ln_f.bias", [width], 0.1


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    drawn = random.Random(1)
    header, data = {}, array.array("f")
    for name, shape, deviation in tensors():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        first = len(data) * 4
        data.extend(1.0 if deviation is None else drawn.gauss(0, deviation) for _ in range(count))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [first, len(data) * 4]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data.tobytes())
    config = {"model_type": "gpt2", "vocab_size": words, "n_embd": width, "n_layer": layers, "n_head": heads, "n_inner": inner, "n_positions": positions, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5, "tie_word_embeddings": True}
    (folder / "config.json").write_text(json.dumps(config))


main(pathlib.Path(sys.argv[1]))
