"""Models whose weights lie in pytorch_model.bin, a pickle: read by PyTorch as tensors alone, and written as safetensors."""

from __future__ import annotations

import functools
import json
import os
import pathlib
import pickle
import tempfile
import warnings
import zipfile
from typing import Any, Iterator

from .errors import FormatError, IoError

_SINGLE, _INDEX = "pytorch_model.bin", "pytorch_model.bin.index.json"


def readable_model(folder: str) -> tuple[str, str]:
    """The folder that the program reads a model from, and what results call the model if that is another folder; else "".

    A folder with model.safetensors, and one with neither kind of weights, is read as it is. Of pytorch_model.bin, or of shards that
    pytorch_model.bin.index.json lists, `torch.load(weights_only=True)` reads the tensors, one file at a time, and refuses everything
    else: a pickle could run code. A temporary folder, removed when Python ends, gets them as safetensors, and links to the other files.
    A warning says so.

    Raises:
        FormatError: PyTorch is missing, or a file holds more than tensors; IoError: a file cannot be read or written.
    """
    place = pathlib.Path(folder)
    if place.name == _SINGLE and place.is_file():
        place = place.parent
    elif not place.is_dir() or any(place.glob("model.safetensors*")):
        return folder, ""
    files = _weights(place)
    if not files:
        return folder, ""
    known = tuple((str(file), file.stat().st_mtime_ns, file.stat().st_size) for file in files)
    return _converted(str(place.resolve()), known).name, str(files[0] if len(files) == 1 else place / _INDEX)


def _weights(folder: pathlib.Path) -> list[pathlib.Path]:
    if (folder / _SINGLE).is_file():
        return [folder / _SINGLE]
    if not (folder / _INDEX).is_file():
        return []
    try:
        names = sorted(set(json.loads((folder / _INDEX).read_text(encoding="utf-8"))["weight_map"].values()))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FormatError(f"{folder / _INDEX}: expected an object 'weight_map' from tensor names to files") from error
    if any(not isinstance(name, str) or os.path.basename(name) != name for name in names):
        raise FormatError(f"{folder / _INDEX}: a tensor must be mapped to the name of a file in the same folder")
    if lost := next((name for name in names if not (folder / name).is_file()), None):
        raise IoError(f"{folder / lost}: there is no such file, but {_INDEX} names it; get the whole model")
    return [folder / name for name in names]


@functools.cache
def _converted(folder: str, files: tuple[tuple[str, int, int], ...]) -> tempfile.TemporaryDirectory:
    """A folder of the same model with its weights as safetensors: once for the same files."""
    first = files[0][0]
    try:
        import torch
    except ImportError as missing:
        raise FormatError(f"{first}: PyTorch's format, a pickle, which is read by PyTorch alone ({missing}); pip install torch, or give "
                          "a model in safetensors") from missing
    warnings.warn(f"{first}: read by torch.load(weights_only=True) and written to a temporary safetensors file; save the model once "
                  "with save_pretrained() to spare that", stacklevel=7)
    made = tempfile.TemporaryDirectory(prefix="headwave-")
    into = pathlib.Path(made.name)
    shards: dict[str, str] = {}
    for number, (file, _, _) in enumerate(files):
        name = "model.safetensors" if len(files) == 1 else f"model-{number + 1:05}-of-{len(files):05}.safetensors"
        for tensor in _write(into / name, dict(_tensors(torch, file)), file):
            shards[tensor] = name
    if len(files) > 1:
        (into / "model.safetensors.index.json").write_text(json.dumps({"weight_map": shards}), encoding="utf-8")
    for other in pathlib.Path(folder).iterdir():
        if str(pathlib.Path(folder) / other.name) not in {file for file, _, _ in files} and not (into / other.name).exists():
            (into / other.name).symlink_to(other.resolve())
    return made


def _tensors(torch: Any, file: str) -> Iterator[tuple[str, Any]]:
    try:
        loaded = torch.load(file, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(file))
    except pickle.UnpicklingError as error:
        raise FormatError(f"{file}: holds more than tensors, and loading that would run code; get the model in safetensors, or convert it "
                          "where you trust its author") from error
    except (OSError, RuntimeError, EOFError, ValueError) as error:
        raise IoError(f"{file}: PyTorch cannot read it: {str(error).strip().partition(chr(10))[0]}") from error
    if not isinstance(loaded, dict) or not loaded or not all(isinstance(name, str) and torch.is_tensor(of) for name, of in loaded.items()):
        raise FormatError(f"{file}: is no dict of tensors by name; expected the weights of a model, as save_pretrained() writes them")
    yield from loaded.items()


def _write(path: pathlib.Path, tensors: dict[str, Any], called: str) -> list[str]:
    """Tensors as a safetensors file, one in memory at a time. https://github.com/huggingface/safetensors describes the format."""
    from .torch_models import dtype_of, raw_tensor

    header, end = {}, 0
    for name, tensor in tensors.items():
        size = tensor.numel() * tensor.element_size()
        header[name] = {"dtype": dtype_of(name, tensor, called), "shape": list(tensor.shape), "data_offsets": [end, end + size]}
        end += size
    text = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
    text += b" " * (-len(text) % 8)
    try:
        with path.open("wb") as file:
            file.write(len(text).to_bytes(8, "little") + text)
            for name, tensor in tensors.items():
                file.write(raw_tensor(name, tensor, called)[-1].data)
    except OSError as error:
        raise IoError(f"{path}: cannot be written: {error.strerror}; there must be room for the weights in the folder of temporary files "
                      "(TMPDIR)") from error
    return list(tensors)

