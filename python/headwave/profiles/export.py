"""Files of profiles that other tools read (docs/profiles.md): which number of ours becomes which of theirs."""

from __future__ import annotations

import contextlib
import inspect
import io
import json
import os
import re
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from ..errors import FormatError, IoError
from .headvis import contents
from .written import replaced

if TYPE_CHECKING:
    from .result import Profiles, Stack

Files = dict[str, Callable[[str], Any]]  # by name: what writes it to a path


def export(profiles: "Profiles", to: str, folder: str, options: dict[str, Any]) -> None:
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
    within = {os.path.dirname(path) for path in paths} - {os.fspath(folder)}
    try:
        for each in (folder, *within):
            os.makedirs(each, exist_ok=True)
        with contextlib.ExitStack() as made:   # names are given when all files are written
            for path, write in paths.items():
                write(made.enter_context(replaced(path)))
    except OSError as error:
        raise IoError(f"{folder}: cannot be written: {error}") from error
    finally:
        for each in within:
            if os.path.isdir(each) and not os.listdir(each):
                os.rmdir(each)


def _duo_attention(profiles: "Profiles", recent: int = 256) -> Files:
    """Patterns of DuoAttention: distant() of every key head.

    DuoAttention trains its numbers, and these are measured: no threshold of theirs means anything here. What both give is an order of heads,
    of which a sparsity takes the first ones.

    Source: Xiao et al. 2024, arXiv:2410.10819.
    """
    stack = _all_layers(profiles, "duo_attention")
    distant = stack.distant(recent, groups=True)
    about = {
        "sink_size": profiles.settings["first"],
        "recent_size": recent,
        **_source(profiles, stack),
        "measure": "distant share of attention",
        "standard_error": np.where(np.isnan(distant.error), -1, distant.error).tolist(),
    }
    return {
        "full_attention_heads.tsv": lambda path: np.savetxt(path, distant.value, delimiter="\t"),
        "config.json": _json(about),
    }


def _kvpress(profiles: "Profiles") -> Files:
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


def _triattention(profiles: "Profiles") -> Files:
    """Statistics of TriAttention: mean query and mean modulus of channels i and i + d/2, before rotary positions.

    Source: Mao et al. 2026, arXiv:2604.04921.
    """
    stack = _all_layers(profiles, "triattention")
    _require_queries(stack, "triattention")
    if np.isnan(stack.unrotated_modulus).any():
        raise FormatError(
            "export: 'triattention' reads channels i and i + d/2 as a pair, and rotary positions of this model "
            "do not turn these together"
        )
    try:
        import torch
    except ImportError as error:
        raise FormatError("export: 'triattention' needs PyTorch; pip install torch") from error

    def tensor(of: np.ndarray) -> Any:
        return torch.from_numpy(np.ascontiguousarray(of, np.float32))

    half = stack.width // 2
    inv_freq, scaling = _rotary(profiles, half)
    theta = float(scaling.pop("rope_theta"))
    mean, modulus = stack.unrotated_mean, stack.unrotated_modulus
    heads = [[layer, head] for layer in range(len(stack.layers)) for head in range(stack.heads)]
    metadata = {
        "num_traces": stack.documents,
        "model_name": profiles.settings.get("checkpoint", ""),
        "num_layers": len(stack.layers),
        "num_attention_heads": stack.heads,
        "num_kv_heads": stack.kv_heads,
        "head_dim": stack.width,
        "inv_freq": tensor(np.array(inv_freq)),
        "rope_theta": theta,
        "rope_scaling": scaling if scaling.get("rope_type", "default") != "default" else None,
        "dtype": stack.dtype,
        "use_chat_template": False,
        "system_prompt": "",
        "prompt_template": "",
        "kv_budget": 0,
        "attn_implementation": stack.implementation,
        "rope_style": "half",
        "rope_type": stack.rope_type,
        "sampled_heads": heads,
        **_source(profiles, stack),
    }
    stats = {
        f"layer{layer:02d}_head{head:02d}": {
            "q_mean_real": tensor(mean[layer, head, :half]),
            "q_mean_imag": tensor(mean[layer, head, half:]),
            "q_abs_mean": tensor(modulus[layer, head]),
        }
        for layer, head in heads
    }
    file = io.BytesIO()  # torch's own errors of writing are no OSError
    torch.save({"metadata": metadata, "stats": stats}, file)
    return {"stats.pt": _written(file.getvalue())}


def _headvis(profiles: "Profiles", model: str = "", dataset: str = "") -> Files:
    """Metrics of every head, and the largest weights of single documents.

    Source: Luger et al. 2026, transformer-circuits.pub/2026/headvis.
    """
    stack, numbers = _causal(profiles, "headvis")
    name = model or profiles.settings.get("checkpoint") or profiles.model
    made = contents(stack, numbers, name, dataset, profiles.settings["exact"], _source(profiles, stack))
    return {name: _json(of, indent=None) for name, of in made.items()}


_TOOLS: dict[str, Callable[..., Files]] = {
    "duo_attention": _duo_attention,
    "kvpress": _kvpress,
    "triattention": _triattention,
    "headvis": _headvis,
}


def _causal(profiles: "Profiles", to: str) -> tuple["Stack", list[int]]:
    """The one stack of a causal model, and the number of each layer in it; -1: its path has none.

    Raises:
        FormatError: there are other stacks
    """
    if list(profiles.stacks) != ["causal"]:
        raise FormatError(f"export: '{to}' is for one stack of causal layers; found {profiles!r}")
    stack = profiles["causal"]
    found = [re.search(r"(?<=\.)\d+(?=\.|$)", path) for path in stack.layers]
    return stack, [-1 if number is None else int(number[0]) for number in found]


def _all_layers(profiles: "Profiles", to: str) -> "Stack":
    """The one stack of a causal model, with layers numbered from 0: these tools number layers, and know no names.

    Raises:
        FormatError: there are other stacks, or layers are missing
    """
    stack, numbers = _causal(profiles, to)
    if numbers != list(range(len(numbers))) or any(
        "did not run" in name for name in profiles.skipped
    ):
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


def _rotary(profiles: "Profiles", pairs: int) -> tuple[list[float], dict[str, Any]]:
    """The frequencies of rotary positions, in radians per token, and what the model's config says of them, `rope_theta` among it.

    Without them TriAttention's loaders take those of theta = 10,000.

    Raises:
        FormatError: they are not known, or differ between layers
    """
    bases = [of for of in profiles.settings.get("rotary", []) if len(of["inv_freq"]) == pairs]
    if len(bases) > 1:
        raise FormatError("export: 'triattention' knows one base of rotary positions for all layers; this model has several: "
                          + ", ".join(str(of.get("rope_theta")) for of in bases))
    if not bases or not isinstance(bases[0].get("rope_theta"), (int, float)):
        raise FormatError("export: 'triattention' needs the frequencies of rotary positions, and these profiles hold none: an earlier headwave "
                          "watched the model, or it has no inv_freq and rope_parameters as models of transformers have; watch it again")
    return bases[0]["inv_freq"], {name: of for name, of in bases[0].items() if name != "inv_freq"}


def _source(profiles: "Profiles", stack: "Stack") -> dict[str, Any]:
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


def _json(value: Any, indent: int | None = 1) -> Callable[[str], None]:
    """A value, or a function that makes it, as what writes it."""
    def write(path: str) -> None:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(value() if callable(value) else value, file, indent=indent)

    return write
