"""Images for a model that reads them, prepared by the model's own processor of transformers."""

from __future__ import annotations

import os
import pathlib
from typing import Any, Sequence

import numpy as np

from .errors import FormatError, IoError


def prepared_images(model: str, images: Any, documents: int | None) -> dict[str, np.ndarray]:
    """What `features` of run() takes: `pixel_values`, and `document_name`, the names of the files or "image 0" and so on.

    Args:
        model: a directory with preprocessor_config.json
        images: a folder of image files, read in the order of their names; or a list of files, images of Pillow or
            arrays (height, width, 3) of 8 bits
        documents: the first so many; None: 100

    Raises:
        FormatError: transformers or Pillow is missing, or what was given is no image; IoError: a folder has none.
    """
    try:
        from PIL import Image
        from transformers import AutoImageProcessor
    except ImportError as missing:
        raise FormatError(f"run: images are prepared by transformers and Pillow ({missing}); install both, or give prepared arrays as "
                          "features=") from missing
    if isinstance(images, (str, os.PathLike)):
        images = _files(pathlib.Path(images), Image.registered_extensions())
    if not isinstance(images, Sequence) or not images:
        raise FormatError(f"images: {type(images).__name__ if images != [] else 'an empty list'}; expected a folder, or a list of files or images; prepared arrays are given as "
                          "features=")
    images = images[:documents or 100]
    try:
        processor = AutoImageProcessor.from_pretrained(model)
    except (OSError, ValueError) as error:
        raise FormatError(f"{model}: transformers finds no image processor there: {_line(error)}") from error
    names = [os.path.basename(image) if isinstance(image, (str, os.PathLike)) else f"image {i}" for i, image in enumerate(images)]
    pixels = [_pixels(processor, Image, image, f"images: {name}") for image, name in zip(images, names)]
    return {"pixel_values": np.concatenate(pixels), "document_name": np.array([str(name) for name in names])}


def _files(folder: pathlib.Path, endings: dict[str, str]) -> list[pathlib.Path]:
    if not folder.is_dir():
        raise IoError(f"{folder}: expected a folder of images")
    files = sorted((file for file in folder.iterdir() if file.suffix.lower() in endings), key=lambda file: file.name)
    if not files:
        raise IoError(f"{folder}: no file in it has the ending of an image, such as .png or .jpg")
    return files


def _pixels(processor: Any, opener: Any, image: Any, name: str) -> np.ndarray:
    """(1, channels, height, width)"""
    try:
        if isinstance(image, (str, os.PathLike)):
            image = opener.open(image)
        if hasattr(image, "convert"):  # of Pillow
            image = image.convert("RGB")
        return np.asarray(processor(images=image, return_tensors="np")["pixel_values"], np.float32)
    except (OSError, ValueError, TypeError) as error:
        raise FormatError(f"{name}: cannot be prepared as an image: {_line(error)}") from error


def _line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
