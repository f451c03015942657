"""Writes captured_states.h5 beside this script: queries and keys that headwave.capture stored of two documents of five tokens.

Made with h5py 3.16.0, HDF5 2.0.0 and PyTorch 2.13.0; entry (n, c) of document d of layer l is d + 10 l + n + c / 8, of keys the same less 4.
"""

import pathlib

import torch

import headwave


class Spelled:
    all_special_ids = [7]

    def convert_ids_to_tokens(self, ids):
        return ["zero\0byte" if token == 7 else f"t\u00f6k\u00e9n{token}" for token in ids]


class Layers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = torch.nn.ModuleDict({f"{what}_{layer}": torch.nn.Identity() for layer in (1, 4) for what in ("query", "key")})

    def forward(self, input_ids):
        d, n, c = torch.arange(2.0)[:, None, None], torch.arange(5.0)[None, :, None], torch.arange(6.0)[None, None] / 8
        for layer in (1, 4):
            for what in ("query", "key"):
                self.parts[f"{what}_{layer}"](d + 10 * layer + n + c - (4 if what == "key" else 0))
        return input_ids


file = pathlib.Path(__file__).with_name("captured_states.h5")
layers = {layer: (f"parts.query_{layer}", f"parts.key_{layer}") for layer in (1, 4)}
with headwave.capture(Layers().eval(), file, what="projections", layers=layers, heads=2, causal=True, score_scale=0.25, packing=4,
                      tokenizer=Spelled(), overwrite=True) as capture:
    capture._module(torch.tensor([[7, 1, 2, 3, 4], [7, 5, 6, 8, 9]]))
