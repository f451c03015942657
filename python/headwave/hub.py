"""Finds models by name in the local cache of the Hugging Face hub. Nothing is downloaded."""

from __future__ import annotations

import os
import pathlib
import re
from typing import Any

from .arguments import path
from .errors import IoError

_NAME = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?")  # "gpt2", "sentence-transformers/all-MiniLM-L6-v2"


def model_folder(model: Any) -> str:
    """Finds the folder of a model: `model` itself, or for a name on the hub the snapshot in the local cache.

    Raises:
        FormatError: `model` is neither a path nor a name; IoError: the name is not in the cache, and the message says how to download the model
    """
    given = path(model, "model")
    if os.path.exists(given) or not _NAME.fullmatch(given):
        return given
    cache = _cache()
    snapshots = cache / f"models--{given.replace('/', '--')}" / "snapshots"
    main = snapshots.parent / "refs" / "main"
    if main.is_file() and (snapshots / main.read_text().strip()).is_dir():
        return str(snapshots / main.read_text().strip())
    found = sorted(snapshots.iterdir(), key=lambda one: one.stat().st_mtime) if snapshots.is_dir() else []
    if not found:
        raise IoError(f"model: there is no folder '{given}', and the cache of the Hugging Face hub ({cache}) holds no model of that "
                      f"name; give a model directory, or download it with huggingface_hub.snapshot_download('{given}')")
    return str(found[-1])


def _cache() -> pathlib.Path:
    """Finds the folder where huggingface_hub keeps downloads."""
    home = os.environ.get("HF_HOME") or "~/.cache/huggingface"
    return pathlib.Path(os.environ.get("HF_HUB_CACHE") or os.path.join(home, "hub")).expanduser()
