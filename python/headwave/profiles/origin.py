"""Finds the identity of a watched model: its name, its revision, its rotary frequencies, and a digest of its weights."""

from __future__ import annotations

import hashlib
from typing import Any

import torch

_CHUNK = 1 << 20   # numbers summed at a time
_BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def origin(model: torch.nn.Module) -> dict[str, Any]:
    """Finds the identity of a model, for profiles.

    Returns:
        A dict of "checkpoint", the name or folder that the model was loaded from; "revision", its commit on the hub;
        "weights_digest"; and "rotary", from rotary(). Each value may be empty
    """
    config = getattr(model, "config", None)
    said = {"checkpoint": getattr(config, "name_or_path", ""), "revision": getattr(config, "_commit_hash", "")}
    return {name: value if isinstance(value, str) else "" for name, value in said.items()} | {
        "weights_digest": weights_digest(model), "rotary": rotary(model)}


def rotary(model: torch.nn.Module) -> list[dict[str, Any]]:
    """Lists the bases of rotary positions. Each entry has "inv_freq" in radians per token, and settings of the config such as `rope_theta`."""
    config = getattr(model, "config", None)
    config = config.get_text_config() if hasattr(config, "get_text_config") else config
    said = getattr(config, "rope_parameters", None)
    found: list[dict[str, Any]] = []
    for path, buffer in model.named_buffers():
        name = path.rpartition(".")[2]
        if name.endswith("inv_freq") and "original" not in name and buffer.dim() == 1 and not buffer.is_meta and isinstance(said, dict):
            one = dict(said.get(name.removesuffix("inv_freq").rstrip("_"), said), inv_freq=buffer.detach().float().cpu().tolist())
            if one not in found:
                found.append(one)
    return found


def weights_digest(model: torch.nn.Module) -> str:
    """Computes the SHA-256 of name, dtype, shape and two checksums of every parameter. Empty if some parameters are not in memory.

    The checksums are the sum of the bits, read as integers, and the same sum weighted by position, both modulo 2^64. They are computed on
    the parameter's device. The digest distinguishes checkpoints, but it would be easy to make two checkpoints with one digest on purpose.
    """
    digest = hashlib.sha256()
    places: dict[torch.device, torch.Tensor] = {}
    for name, parameter in sorted(model.named_parameters()):
        if parameter.is_meta:
            return ""
        bits, device = _integers(parameter.detach()), parameter.device
        if device not in places:
            places[device] = torch.arange(1, _CHUNK + 1, device=device)
        sums = torch.zeros(2, dtype=torch.int64, device=device)
        for first in range(0, len(bits), _CHUNK):
            part = bits[first:first + _CHUNK].to(torch.int64)
            total = part.sum()
            sums += torch.stack([total, (part * places[device][:len(part)]).sum() + first * total])
        digest.update(repr((name, str(parameter.dtype), tuple(parameter.shape), *(of % (1 << 64) for of in sums.tolist()))).encode())
    return digest.hexdigest()


def _integers(parameter: torch.Tensor) -> torch.Tensor:
    """Reads the bits of a parameter as integers, of eight bytes if its size allows. Nothing is converted, and few integers are to be added."""
    flat, size = parameter.contiguous().view(-1), parameter.element_size()
    if flat.numel() * size % 8:
        return flat.view(_BITS[size])
    aligned = flat if flat.storage_offset() * size % 8 == 0 else flat.clone()
    return aligned.view(torch.int64)
