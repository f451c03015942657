"""Checks that headwave and transformers compute the same attention from a checkpoint."""

from __future__ import annotations

import dataclasses
import os
from typing import Any

import numpy as np

from .arguments import Text, whole
from .errors import FormatError, IoError
from .hub import model_folder
from .jobs import run

_ALIKE = 1e-3   # float32 attention of a large model differs by up to 1e-4, that of a misread checkpoint by far more


@dataclasses.dataclass(frozen=True)
class ModelCheck:
    """The result of `check_model`. print() shows it as one sentence."""

    model: str
    transformers: str            #: version of transformers
    tokens: int
    apart: np.ndarray            #: (layers with attention, heads) largest difference of an attention weight of each head
    heads: tuple[str, ...]       #: names of the heads in the order of `apart`: "L0H0", ...

    @property
    def alike(self) -> bool:
        """Whether no attention weight differs by more than 0.001."""
        return bool(np.max(self.apart) <= _ALIKE)

    def __str__(self) -> str:
        found = "agrees with" if self.alike else "DIFFERS from"
        return (f"{self.model}: attention of {self.apart.size} heads over {self.tokens} tokens {found} transformers {self.transformers}; "
                f"the largest difference of a weight is {self.apart.max():.1e}, at {self.heads[np.argmax(self.apart)]}")


def check_model(model: Text, *, tokens: int = 24, seed: int = 1) -> ModelCheck:
    """Compares the attention weights that headwave and transformers compute from a checkpoint for a few random tokens.

    Both compute in float32 on the CPU; transformers uses its eager attention.

    Example:
        >>> print(headwave.check_model("minilm"))
        minilm: attention of 72 heads over 24 tokens agrees with transformers 5.24.0; the largest difference of a weight is 1.4e-06, at L1H8

    Args:
        model: a model directory, or the name of a model on the hub that is in the local cache
        tokens: number of random tokens
        seed: seed of the random tokens

    Returns:
        A ModelCheck with the largest difference of an attention weight for every head.

    Raises:
        ImportError: transformers or torch is not installed; headwave.Error: the model cannot be opened, or is an encoder-decoder.
    """
    import torch
    import transformers

    whole(tokens, "tokens", 2, 4096), whole(seed, "seed", 0, 2**63 - 1)
    folder = model_folder(model)
    if not os.path.isdir(folder):
        raise IoError(f"check_model: '{folder}' is not a folder; expected a model directory, or the name of one in the hub's cache")
    try:
        config = transformers.AutoConfig.from_pretrained(folder, trust_remote_code=False)
    except ValueError as error:   # a model that transformers does not know, or that brings its own code
        raise FormatError(f"check_model: {folder}: transformers cannot open it, or only by running code of the checkpoint, which is not allowed: "
                          f"{str(error).splitlines()[0]}") from error
    if config.is_encoder_decoder:
        raise FormatError(f"check_model: {folder} is an encoder-decoder; expected a model with one stack of layers")
    words = config.get_text_config().vocab_size
    kept = np.setdiff1d(np.arange(words), _named_tokens(config))
    ids = np.random.default_rng(seed).choice(kept, tokens)
    found = run(folder, ids=[ids.tolist()], only=["attention_map"])
    ours, heads = (np.asarray(found["attention_map"][name]) for name in ("weight", "map_head"))
    theirs = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32, trust_remote_code=False).eval()
    with torch.no_grad():
        layers = theirs(input_ids=torch.as_tensor(ids)[None], output_attentions=True, use_cache=False).attentions
    expected = np.stack([layer[0].numpy() for layer in layers if layer is not None])
    if ours.size != expected.size:
        raise FormatError(f"check_model: headwave gives the attention of {len(ours)} heads, but transformers of {expected.shape[0]} layers with "
                          f"{expected.shape[1]} heads each; expected equal numbers")
    apart = np.abs(ours.reshape(expected.shape) - expected).max(axis=(2, 3))
    return ModelCheck(folder, transformers.__version__, tokens, apart, tuple(map(str, heads)))


def _named_tokens(config: Any) -> list[int]:
    """Lists the token ids that the config names. Some models treat these ids differently; for example, a padding id may shift positions."""
    settings = config.get_text_config().to_dict()
    return [value for key, value in settings.items() if key.endswith("_token_id") and isinstance(value, int)]
