"""Writes profiles as files for other tools, and so defines which of a tool's numbers come from which sums (docs/profiles.md)."""

from __future__ import annotations

import contextlib
import inspect
import io
import json
import os
import re
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from ..arguments import real, whole
from ..errors import FormatError, IoError
from .headvis import contents
from .written import replaced

if TYPE_CHECKING:
    from .result import Profiles
    from .stack import Stack

Files = dict[str, Callable[[str], Any]]  # by name, a function that writes the file to a path


def export(profiles: "Profiles", to: str, folder: str, options: dict[str, Any]) -> None:
    """Writes all files of a tool. If one of them fails, none is written.

    Raises:
        FormatError: there is no such tool or option, or the profiles lack what the tool needs
        IoError: a file exists, or cannot be written
    """
    if to not in _TOOLS:
        raise FormatError(f"export: to='{to}' is unknown; expected one of {', '.join(_TOOLS)}")
    known = list(inspect.signature(_TOOLS[to]).parameters)[1:]
    for name in options:
        if name not in known:
            raise FormatError(f"export: '{to}' has no option {name}; expected {' or '.join(known) or 'none'}")
    files = _TOOLS[to](profiles, **options)
    paths = {os.path.join(folder, name): write for name, write in files.items()}
    for path in paths:
        if os.path.lexists(path):
            raise IoError(f"{path}: is already there; choose another folder")
    try:
        for each in {os.path.dirname(path) for path in paths}:
            os.makedirs(each, exist_ok=True)
        with contextlib.ExitStack() as made:   # files get their names when all are written
            for path, write in paths.items():
                write(made.enter_context(replaced(path)))
    except IoError:
        raise
    except OSError as error:
        raise IoError(f"{folder}: cannot be written: {error}") from error


def _duo_attention(profiles: "Profiles", recent: int = 256) -> Files:
    """Makes the pattern file of DuoAttention, with key_head_distant as the number of every key head.

    DuoAttention trains these numbers. Here they are measured, so DuoAttention's thresholds do not apply. But its sparsity applies, since it
    only needs an order of the key heads.

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


def _kvpress(profiles: "Profiles") -> Files:
    """Makes query statistics for ExpectedAttentionStatsPress of kvpress: means and covariances before rotary positions.

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


def _triattention(profiles: "Profiles") -> Files:
    """Makes query statistics for TriAttention: mean and mean modulus of channels i and i + d/2 before rotary positions, and rotary
    frequencies. rope_theta is written too, since TriAttention's loaders for vLLM and sglang otherwise assume 10,000.

    Source: Mao et al. 2026, arXiv:2604.04921.
    """
    stack = _all_layers(profiles, "triattention")
    _require_queries(stack, "triattention")
    if np.isnan(stack.unrotated_modulus).any():
        raise FormatError("export: 'triattention' pairs channels i and i + d/2, but rotary positions of this model do not turn these together")
    import torch

    def tensor(of: Any) -> Any:
        return torch.from_numpy(np.ascontiguousarray(of, np.float32))

    half, mean = stack.width // 2, stack.unrotated_mean
    bases = [of for of in profiles.settings.get("rotary", []) if len(of["inv_freq"]) == half]
    if len(bases) != 1 or not isinstance(bases[0].get("rope_theta"), (int, float)):
        raise FormatError("export: 'triattention' needs one rope_theta for all layers, and the model's frequencies (inv_freq); found "
                          + (", ".join(str(of.get("rope_theta")) for of in bases) or "none"))
    scaling = {name: of for name, of in bases[0].items() if name not in ("inv_freq", "rope_theta")}
    heads = [[layer, head] for layer in range(len(stack.layers)) for head in range(stack.heads)]
    metadata = {
        "model_name": profiles.settings.get("checkpoint", ""), "num_layers": len(stack.layers), "num_attention_heads": stack.heads,
        "num_kv_heads": stack.kv_heads, "head_dim": stack.width, "inv_freq": tensor(bases[0]["inv_freq"]),
        "rope_theta": float(bases[0]["rope_theta"]), "rope_scaling": scaling if scaling.get("rope_type", "default") != "default" else None,
        "rope_style": "half", "rope_type": stack.rope_type, "sampled_heads": heads, **_source(profiles, stack)}
    stats = {f"layer{layer:02d}_head{head:02d}": {"q_mean_real": tensor(mean[layer, head, :half]), "q_mean_imag": tensor(mean[layer, head, half:]),
                                                  "q_abs_mean": tensor(stack.unrotated_modulus[layer, head])} for layer, head in heads}
    file = io.BytesIO()   # errors of torch.save are no OSError
    torch.save({"metadata": metadata, "stats": stats}, file)
    return {"stats.pt": _written(file.getvalue())}


def _headvis(profiles: "Profiles", model: str = "", dataset: str = "", tokenizer: Any = None, sequences: int = 20,
             megabytes: float = 2000, result: Any = None) -> Files:
    """Makes metrics of every head, and the largest attention weights in single documents. Findings come from `result`, by default run(profiles=).

    Source: Luger et al. 2026, transformer-circuits.pub/2026/headvis.
    """
    stack, numbers = _causal(profiles, "headvis")
    if None in numbers or len(set(numbers)) < len(numbers):
        raise FormatError(f"export: 'headvis' needs a different number in the name of each layer; found {', '.join(stack.layers[:4])} ...")
    if not hasattr(stack, "kept_query"):
        raise FormatError("export: 'headvis' needs attention in single documents; watch with headwave.watch(model, deal=True)")
    if result is None:
        from ..jobs import run
        result = run(profiles=profiles, reach=min(64, profiles.settings["exact"] // 2))
    if isinstance(tokenizer, str):
        from transformers import AutoTokenizer
        tokenizer = AutoTokenizer.from_pretrained(tokenizer)
    said = {"model_name": model or profiles.settings.get("checkpoint") or profiles.model, "dataset_name": dataset or stack.digest or "unknown"}
    files = contents(stack, numbers, result, said | _source(profiles, stack), whole(sequences, "sequences", 1), real(megabytes, "megabytes", 0),
                     str if tokenizer is None else lambda token: tokenizer.decode([token]))
    return {name: _json(of, indent=None) for name, of in files.items()}


_TOOLS: dict[str, Callable[..., Files]] = {
    "duo_attention": _duo_attention,
    "kvpress": _kvpress,
    "triattention": _triattention,
    "headvis": _headvis,
}


def _causal(profiles: "Profiles", to: str) -> tuple["Stack", list[Any]]:
    """Gives the stack of a causal model, and each layer's number in the model, or None if the layer's path has no number.

    Raises:
        FormatError: there are other stacks
    """
    if list(profiles.stacks) != ["causal"]:
        raise FormatError(f"export: '{to}' needs profiles of one stack of causal layers; found the stacks {', '.join(profiles.stacks)}")
    stack = profiles.stacks["causal"]
    found = [re.search(r"(?<=\.)\d+(?=\.|$)", path) for path in stack.layers]
    return stack, [number and int(number[0]) for number in found]


def _all_layers(profiles: "Profiles", to: str) -> "Stack":
    """Gives the stack of a causal model. Its layers must be numbered 0, 1, 2, ..., since these tools do not know layers by name.

    Raises:
        FormatError: there are other stacks, or layers are missing
    """
    stack, numbers = _causal(profiles, to)
    if numbers != list(range(len(numbers))) or any("did not run" in name for name in profiles.skipped):
        raise FormatError(
            f"export: '{to}' needs layers numbered from 0 without gaps; found {', '.join(stack.layers[:4])} ..., "
            f"skipped {', '.join(profiles.skipped[:4]) or 'none'}"
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


def _source(profiles: "Profiles", stack: "Stack") -> dict[str, Any]:
    """Says which model was measured on which documents. The tools' loaders ignore this entry."""
    return {
        "source": "headwave",
        "model": profiles.model,
        "ids_sha256": stack.digest,
        "documents": stack.documents,
        **{name: profiles.settings.get(name, "") for name in ("checkpoint", "revision", "weights_digest")},
    }


def _written(content: bytes) -> Callable[[str], Any]:
    """Makes a function that writes a file with this content."""
    def write(path: str) -> None:
        with open(path, "wb") as file:
            file.write(content)
    return write


def _json(value: Any, indent: int | None = 1) -> Callable[[str], Any]:
    """Makes a function that writes a value as JSON. If the value is a function, its result is written."""
    return lambda path: _written(json.dumps(value() if callable(value) else value, indent=indent).encode())(path)
