"""Files of profiles that other tools read (docs/profiles.md): which number of ours becomes which of theirs."""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import re
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from ..errors import FormatError, IoError
from .written import replaced

if TYPE_CHECKING:
    from .stack import Stack, Summed

Files = dict[str, Callable[[str], Any]]  # by name: what writes it to a path


def export(profiles: "Summed", to: str, folder: str, options: dict[str, Any]) -> None:
    """Writes the files of a tool, all of them or none.

    Raises:
        FormatError: no such tool or option, or not what the tool needs; IoError: a file is there already, or
        cannot be written
    """
    if to not in _TOOLS:
        raise FormatError(f"export: to='{to}'; expected one of {', '.join(_TOOLS)}")
    known = list(inspect.signature(_TOOLS[to]).parameters)[1:]
    for name in options:
        if name not in known:
            raise FormatError(f"export: '{to}' has no option {name}; expected {' or '.join(known) or 'none'}")
    files = _TOOLS[to](profiles, **options)
    for name in files:
        if os.path.lexists(os.path.join(folder, name)):
            raise IoError(f"{os.path.join(folder, name)}: is already there; choose another folder")
    paths = {os.path.join(folder, name): write for name, write in files.items()}
    try:
        os.makedirs(folder, exist_ok=True)
        with contextlib.ExitStack() as made:   # names are given when all files are written
            for path, write in paths.items():
                write(made.enter_context(replaced(path)))
    except OSError as error:
        raise IoError(f"{folder}: cannot be written: {error}") from error


def _duo_attention(profiles: "Summed", recent: int = 256) -> Files:
    """Patterns of DuoAttention: key_head_distant of every key head.

    DuoAttention trains its numbers, and these are measured: no threshold of theirs means anything here. What both give is an order of heads,
    of which a sparsity takes the first ones.

    Source: Xiao et al. 2024, arXiv:2410.10819.
    """
    stack = _all_layers(profiles, "duo_attention")
    distances = stack.distances(recent=recent)
    distant, error = (np.asarray(distances[f"key_head_distant{what}"])[..., 0] for what in ("", "_error"))
    about = {
        "sink_size": profiles.settings["first"],
        "recent_size": recent,
        **_source(profiles, stack),
        "measure": "distant share of attention",
        "standard_error": np.where(np.isnan(error), -1, error).tolist(),
    }
    return {
        "full_attention_heads.tsv": lambda path: np.savetxt(path, distant, delimiter="\t"),
        "config.json": _json(about),
    }


def _kvpress(profiles: "Summed") -> Files:
    """Query statistics of kvpress's ExpectedAttentionStatsPress: means and covariances before rotary positions.

    Source: Devoto et al. 2025, arXiv:2510.00636.
    """
    stack = _all_layers(profiles, "kvpress")
    _require_queries(stack, "kvpress")
    try:
        import safetensors.numpy
    except ImportError as error:
        raise FormatError("export: 'kvpress' needs safetensors; pip install safetensors") from error
    tensors = {
        f"query_{label}": np.ascontiguousarray(getattr(stack, f"unrotated_{label}"), np.float32)
        for label in ("mean", "cov")
    }
    config = {
        "num_layers": len(stack.layers),
        "num_heads": stack.heads,
        "head_dim": stack.width,
        "model_name": profiles.settings.get("checkpoint") or profiles.model,
        "dataset_name": stack.digest or "unknown",
        "num_samples": stack.documents,
        "sample_seq_len": _mean_length(stack),
        "n_sink": profiles.settings["first"],
        **_source(profiles, stack),
    }
    return {
        "model.safetensors": _written(safetensors.numpy.save(tensors, {"format": "pt"})),
        "config.json": _json(config),
    }


_TOOLS: dict[str, Callable[..., Files]] = {
    "duo_attention": _duo_attention,
    "kvpress": _kvpress,
}


def _all_layers(profiles: "Summed", to: str) -> "Stack":
    """The one stack of a causal model, with layers numbered from 0: these tools number layers, and know no names.

    Raises:
        FormatError: there are other stacks, or layers are missing
    """
    if list(profiles.stacks) != ["causal"]:
        raise FormatError(f"export: '{to}' is for one stack of causal layers; found {', '.join(profiles.stacks)}")
    stack = profiles.stacks["causal"]
    found = [re.search(r"(?<=\.)\d+(?=\.|$)", path) for path in stack.layers]
    if [number and int(number[0]) for number in found] != list(range(len(found))) or any("did not run" in name for name in profiles.skipped):
        raise FormatError(
            f"export: '{to}' counts layers from 0 without gaps; found {', '.join(stack.layers[:4])} ..., "
            f"and skipped {', '.join(profiles.skipped[:4]) or 'none'}"
        )
    return stack


def _mean_length(stack: "Stack") -> int:
    return round(float(stack.rows[:, 0].sum()) / stack.documents)


def _require_queries(stack: "Stack", to: str) -> None:
    if not hasattr(stack, "unrotated_mean"):
        raise FormatError(
            f"export: '{to}' needs queries before rotary positions; "
            "watch with headwave.watch(model, queries=True)"
        )


def _source(profiles: "Summed", stack: "Stack") -> dict[str, Any]:
    """What was measured, of which weights, on which documents; the tools' loaders ignore it."""
    return {
        "source": "headwave",
        "model": profiles.model,
        "ids_sha256": stack.digest,
        "documents": stack.documents,
        **{name: profiles.settings.get(name, "") for name in ("checkpoint", "revision", "weights_digest")},
    }


def _written(content: bytes) -> Callable[[str], Any]:
    """A file's content as what writes it."""
    def write(path: str) -> None:
        with open(path, "wb") as file:
            file.write(content)
    return write


def _json(value: Any) -> Callable[[str], None]:
    """A value as what writes it."""
    return _written(json.dumps(value, indent=1).encode())
