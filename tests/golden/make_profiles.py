"""Makes tests/golden/profiles: profiles of the tiny Llama of tests/golden/families over 24 documents of 16 tokens, and the ids.

numpy, PyTorch 2.13, transformers 5.24, h5py; the headwave package of this repository. The ids are drawn from 3 .. 39 with seed 5.
"""

import json
import os
import pathlib

import numpy as np
import torch
import transformers

import headwave

HERE = pathlib.Path(__file__).resolve().parent
PLACE = HERE / "profiles"

ids = np.random.default_rng(5).integers(3, 40, (24, 16)).tolist()
os.chdir(HERE)   # so that the files name the checkpoint without a place on this machine
model = transformers.AutoModel.from_pretrained("families/llama").float().eval()
(PLACE / "ids.json").write_text(json.dumps(ids) + "\n")
with torch.no_grad(), headwave.watch(model, exact=15, deal=True) as watch:
    for document in ids:
        model(torch.tensor([document]))
watch.result().save(PLACE / "profiles.h5", overwrite=True)
