"""Makes tests/golden/stored/formats: the same states as numpy, h5py and safetensors write them, for
tests/data/stored_formats_test.

    python make_stored_formats.py FOLDER

Written with numpy 2.4.6, h5py 3.16.0, torch 2.15.0 and safetensors 0.8.0. Entry (layer, document, token, width) is
((60 layer + 30 document + 4 token + width) * 7 % 61 - 30) / 8, which float16 and bfloat16 hold exactly: every file gives
the same numbers. attention.h5 holds finished attention, of which the test knows the formula.
"""
import pathlib
import sys

import h5py
import numpy as np
import torch
from safetensors.torch import save_file

LAYERS, DOCUMENTS, T, WIDTH = 2, 2, 3, 4
BFLOAT = h5py.h5t.IEEE_F32LE.copy()
BFLOAT.set_fields(15, 7, 8, 0, 7)
BFLOAT.set_size(2)
BFLOAT.set_ebias(127)


def states():
    layer, document, token, width = np.indices((LAYERS, DOCUMENTS, T, WIDTH))
    return (((60 * layer + 30 * document + 4 * token + width) * 7 % 61 - 30) / 8).astype(np.float32)


def attention():
    """Of 2 layers, 2 documents, 3 heads and 5 tokens; 1/4 and 3/4 are exact in every type."""
    layer, document, head, query, key = np.indices((2, 2, 3, 5, 5))
    first = (layer + 2 * document + head + query) % 5
    return np.where(key == first, 0.75, np.where(key == (first + 1 + layer) % 5, 0.25, 0)).astype(np.float32)


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    x = states()
    ids = np.array([[5, 6, 7], [8, 9, 10]])
    tokens = np.array([["a", "é", "c"], ["d", "e", "f"]])

    kinds = {}
    for kind in ("f2", "f4", "f8"):
        for order in ("<", ">"):
            for layout in ("C", "F"):
                name = f"{kind}_{'le' if order == '<' else 'be'}_{layout}"
                kinds[name] = np.array(x, dtype=order + kind, order=layout)
    np.savez(folder / "types.npz", **kinds)
    np.savez(folder / "whole.npz", hidden_states=x, ids=ids, tokens=tokens, num_heads=2, causal=True)
    np.savez_compressed(folder / "packed.npz", hidden_states=x)
    np.savez(folder / "by_layer.npz", layer_00=x[0], layer_01=x[1], input_ids=ids[0])

    tensors = {str(kind)[6:]: torch.from_numpy(x.copy()).to(kind)
               for kind in (torch.float16, torch.bfloat16, torch.float32, torch.float64)}
    save_file(tensors | {"ids": torch.from_numpy(ids)}, folder / "types.safetensors", {"num_heads": "2"})

    with h5py.File(folder / "types.h5", "w") as file:
        for kind in ("f2", "f4", "f8"):
            for order in ("<", ">"):
                file[f"types/{kind}_{'le' if order == '<' else 'be'}"] = x.astype(order + kind)
        space = h5py.h5s.create_simple(x.shape)
        bits = h5py.h5d.create(file["types"].id, b"bf16", BFLOAT, space)
        bits.write(h5py.h5s.ALL, h5py.h5s.ALL, x)
        for layer in range(LAYERS):
            file.create_dataset(f"encoder/block{layer + 1}/out", data=x[layer].transpose(1, 2, 0), chunks=(2, 3, 1),
                                compression="gzip")
        file["q"] = x[1].reshape(DOCUMENTS, T, 2, 2).transpose(0, 2, 1, 3)
        file["k"] = x[0].reshape(DOCUMENTS, T, 2, 2).transpose(0, 2, 1, 3)
        file["marks"] = np.array([1, 0, 1], dtype=np.int8)
        for document in range(DOCUMENTS):
            file[f"probe/{document + 9}"] = x[:, document, : T - document]
    with h5py.File(folder / "attention.h5", "w") as file:
        weights = attention()
        space = h5py.h5s.create_simple(weights[0].shape)
        bits = h5py.h5d.create(file.create_group("attention").id, b"layer_0", BFLOAT, space)
        bits.write(h5py.h5s.ALL, h5py.h5s.ALL, weights[0])
        file.create_dataset("attention/layer_1", data=weights[1].astype(">f2"), chunks=(1, 2, 3, 5), compression="gzip",
                            shuffle=True)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
