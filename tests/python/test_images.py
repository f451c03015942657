"""Images: prepared by transformers, and attended as transformers attends to them."""

import shutil

import numpy as np
import pytest

import headwave
from conftest import MODELS
from test_jobs import job_of, same

GOLDEN = MODELS.parent / "images"
VIT = MODELS / "vit"


@pytest.fixture
def folder(tmp_path):
    pytest.importorskip("transformers")
    pytest.importorskip("PIL")
    images = tmp_path / "images"
    images.mkdir()
    for name in ("rgb.png", "color.jpg"):
        shutil.copy(GOLDEN / name, images)
    (images / "notes.txt").write_text("no image")
    return images


@pytest.fixture
def prepared(folder):
    """What transformers makes of the two images."""
    from PIL import Image
    from transformers import AutoImageProcessor
    files = sorted(folder.glob("*.[pj]*"))
    opened = [Image.open(file).convert("RGB") for file in files]
    return AutoImageProcessor.from_pretrained(VIT)(images=opened, return_tensors="np")


def test_heads_look_where_they_look_in_transformers(folder, prepared):
    torch = pytest.importorskip("torch")
    from transformers import ViTForImageClassification
    model = ViTForImageClassification.from_pretrained(VIT, attn_implementation="eager", num_labels=7)
    with torch.no_grad():
        attentions = model(torch.from_numpy(prepared["pixel_values"]), output_attentions=True).attentions
    weights = torch.stack(attentions, 1).numpy()  # (image, layer, head, query, key)
    found = headwave.run(VIT, images=folder, only="grid_offset")["grid_offset"]
    of_class = weights[0, :, :, 0, 1:].reshape(2, 3, 3, 5)
    np.testing.assert_allclose(np.asarray(found["map"])[:, :, 0], of_class, atol=1e-5)
    received = weights[..., 1:, 1:].mean((0, 3)).reshape(2, 3, 3, 5)
    np.testing.assert_allclose(np.asarray(found["received"]), received, atol=1e-5)


def test_prepared_images_give_the_numbers_of_the_program(program, tmp_path, folder, prepared):
    np.savez(tmp_path / "pixels.npz", **prepared, document_name=np.array(["color.jpg", "rgb.png"]))
    program("run", "--model", VIT, "--features", tmp_path / "pixels.npz", "--no-figures", "--out", tmp_path / "out")
    theirs = headwave.open(tmp_path / "out" / "results.h5")
    assert job_of(theirs)["features"] == str(tmp_path / "pixels.npz")
    same(headwave.run(VIT, features=tmp_path / "pixels.npz"), theirs)
    same(headwave.run(VIT, images=folder), theirs)
    files = [folder / "color.jpg", str(folder / "rgb.png")]
    same(headwave.run(VIT, images=files), theirs)
    named = headwave.run(VIT, features=prepared, only="grid_offset")
    assert np.array_equal(named["grid_offset"]["mean_weight"], theirs["grid_offset"]["mean_weight"])


def test_images_that_cannot_be_prepared_are_refused_by_name(tmp_path, folder):
    with pytest.raises(headwave.FormatError, match="length and special_tokens"):
        headwave.run(VIT, images=folder, length=4)
    with pytest.raises(headwave.ShapeError, match="image"):
        headwave.run(MODELS / "gpt2", features={"pixel_values": np.zeros((1, 3, 12, 20), "f4")})
    with pytest.raises(headwave.FormatError, match="no image processor"):
        headwave.run(MODELS / "gpt2", images=folder)
    with pytest.raises(headwave.IoError, match="nowhere: expected a folder of images"):
        headwave.run(VIT, images=tmp_path / "nowhere")
    with pytest.raises(headwave.FormatError, match="expected a folder, or a list"):
        headwave.run(VIT, images=3)
    with pytest.raises(headwave.FormatError, match="height x width"):
        headwave.run(VIT, features={"pixel_values": np.zeros((2, 3, 20, 12), "f4")})
    (folder / "broken.png").write_bytes(b"Dear reader")
    with pytest.raises(headwave.FormatError, match="images: broken.png: cannot be prepared"):
        headwave.run(VIT, images=folder)
