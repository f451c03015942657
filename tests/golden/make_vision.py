"""Tiny images, what Pillow and transformers make of them, and tiny random ViT and DeiT checkpoints that read them.

    python make_vision.py GOLDEN_DIR

Writes GOLDEN_DIR/images/{*.png, *.jpg, expected.safetensors} and GOLDEN_DIR/families/<family>/{config.json,
preprocessor_config.json, model.safetensors, expected.safetensors}. Nothing is downloaded; every number is drawn from a seeded
generator. Made with Pillow 13.0.0 (libjpeg-turbo 3.2.0), torch 2.13.0 (CPU), transformers 5.23.0, safetensors 0.8.0.

images/expected.safetensors, h x w pixels:
  {file}.rgb (h, w, 3)                          uint8: Image.open(file).convert("RGB")
  {file}.{height}x{width}.{resample} (height, width, 3)   uint8: that resized by Pillow
families/<family>/expected.safetensors, for two images, "first" (rgb.png) and "second" (palette.png); T tokens, d = d_model:
  {case}.pixel_values (3, height, width)        of the family's image processor (its Pillow backend)
  {case}.hidden_states (layers + 1, T, d)  {case}.attentions (layers, heads, T, T)  {case}.attention_input (layers, T, d)
  {case}.logits (labels)                        where there is a classifier
The last hidden state is after the final norm; pixel_values of the other images: images.{file} (3, height, width).
"""

import json
import pathlib
import shutil
import struct
import sys
import tempfile
import zlib

import numpy as np
import torch
import transformers
from PIL import Image
from safetensors.torch import save_file
from transformers.models.deit.image_processing_pil_deit import DeiTImageProcessorPil
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

REFUSED = ("grey16.png", "cmyk.jpg")  # by headwave
SIZES = ((12, 20), (5, 3), (40, 17), (11, 64), (3, 16))  # height, width; Pillow's numbers of resamplings: 1 lanczos, 2 bilinear, 3 bicubic

# Family: class, processor, configuration, settings kept in config.json, preprocessor_config.json.
KEPT = ("model_type architectures hidden_size num_hidden_layers num_attention_heads intermediate_size hidden_act "
        "layer_norm_eps image_size patch_size num_channels qkv_bias")
FAMILIES = {
    "vit": ("ViTForImageClassification", ViTImageProcessorPil,
            dict(hidden_size=15, num_hidden_layers=2, num_attention_heads=3, intermediate_size=23, layer_norm_eps=1e-3,
                 image_size=[12, 20], patch_size=4, num_labels=7),
            dict(image_processor_type="ViTImageProcessor", do_resize=True, size=dict(height=12, width=20), resample=2,
                 do_rescale=True, rescale_factor=1 / 255, do_normalize=True, image_mean=[0.5, 0.5, 0.5],
                 image_std=[0.5, 0.5, 0.5])),
    "vit-model": ("ViTModel", ViTImageProcessorPil,
                  dict(hidden_size=18, num_hidden_layers=2, num_attention_heads=3, intermediate_size=25,
                       layer_norm_eps=2e-3, image_size=12, patch_size=[4, 3], qkv_bias=False, hidden_act="gelu_new"),
                  dict(feature_extractor_type="ViTFeatureExtractor", do_resize=True, size=12, resample=3,
                       do_normalize=True, image_mean=[0.4, 0.5, 0.6], image_std=[0.3, 0.25, 0.2])),
    "deit": ("DeiTForImageClassificationWithTeacher", DeiTImageProcessorPil,
             dict(hidden_size=14, num_hidden_layers=2, num_attention_heads=2, intermediate_size=21, layer_norm_eps=1e-3,
                  image_size=[12, 20], patch_size=4, num_labels=5),
             dict(image_processor_type="DeiTImageProcessor", do_resize=True, size=dict(height=17, width=23), resample=3,
                  do_center_crop=True, crop_size=dict(height=12, width=20), do_rescale=True, rescale_factor=1 / 255,
                  do_normalize=True, image_mean=[0.485, 0.456, 0.406], image_std=[0.229, 0.224, 0.225])),
}


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def packed(numbers, depth):
    """A row of samples, as PNG packs them."""
    if depth == 16:
        return np.asarray(numbers, ">u2").tobytes()
    if depth == 8:
        return np.asarray(numbers, np.uint8).tobytes()
    bits = "".join(format(int(n), f"0{depth}b") for n in numbers)
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))


def png(samples, depth, color, interlaced=False, chunks=b""):
    """@param samples  (height, width, channels)"""
    height, width = samples.shape[:2]
    passes = [(0, 0, 1, 1)]
    if interlaced:  # first row, first column, rows apart, columns apart
        passes = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]
    raw = b""
    for row, column, down, right in passes:
        part = samples[row::down, column::right]
        if part.size:
            raw += b"".join(b"\0" + packed(line.ravel(), depth) for line in part)
    head = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, int(interlaced))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunks + chunk(b"IDAT", zlib.compress(raw, 9)) +
            chunk(b"IEND", b""))


def picture(generator, height, width, channels, most=255):
    """Waves and edges: smooth and sharp at once."""
    y, x = np.mgrid[0:height, 0:width]
    layers = []
    for _ in range(channels):
        a, b, c = generator.uniform(0.2, 1.4, 3)
        layers.append(0.5 + 0.3 * np.sin(a * x + b * y) + 0.2 * np.sign(np.sin(c * x - 0.7 * y)))
    return np.clip(np.round(np.stack(layers, -1) * most), 0, most).astype(np.int64)


def write_images(folder):
    generator = np.random.default_rng(7)
    folder.mkdir(parents=True, exist_ok=True)
    palette = generator.integers(0, 256, (16, 3), dtype=np.uint8)
    alphas = generator.integers(0, 256, 16, dtype=np.uint8)
    files = {
        "rgb.png": png(picture(generator, 11, 17, 3), 8, 2),
        "interlaced.png": png(picture(generator, 13, 9, 3), 8, 2, interlaced=True),
        "grey.png": png(picture(generator, 9, 31, 1), 8, 0),
        "grey1.png": png(picture(generator, 9, 11, 1, 1), 1, 0),
        "grey2.png": png(picture(generator, 9, 11, 1, 3), 2, 0),
        "grey4.png": png(picture(generator, 9, 11, 1, 15), 4, 0, chunks=chunk(b"tRNS", struct.pack(">H", 3))),
        "grey16.png": png(picture(generator, 5, 5, 1, 65535), 16, 0),
        "grey_alpha.png": png(picture(generator, 8, 8, 2), 8, 4),
        "rgb16.png": png(picture(generator, 7, 9, 3, 65535), 16, 2),
        "alpha.png": png(picture(generator, 10, 8, 4), 8, 6),
        "alpha16.png": png(picture(generator, 6, 5, 4, 65535), 16, 6),
        "palette.png": png(picture(generator, 14, 15, 1, 15), 4, 3,
                           chunks=chunk(b"PLTE", palette.tobytes()) + chunk(b"tRNS", alphas.tobytes())),
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    color = Image.fromarray(picture(generator, 19, 26, 3).astype(np.uint8))
    color.save(folder / "color.jpg", quality=80)
    color.save(folder / "fine.jpg", quality=95, subsampling=0)
    color.save(folder / "wide.JPEG", quality=70, subsampling=1)
    color.save(folder / "progressive.jpg", quality=75, progressive=True)
    color.convert("L").save(folder / "grey.jpg", quality=80)
    color.convert("CMYK").save(folder / "cmyk.jpg", quality=80)
    turned = Image.Exif()
    turned[0x0112] = 6  # orientation: to be turned by a quarter, which transformers does not do
    color.crop((0, 0, 9, 14)).save(folder / "turned.jpg", quality=80, exif=turned)
    expected = {}
    for file in image_files(folder):
        rgb = Image.open(file).convert("RGB")
        expected[f"{file.name}.rgb"] = torch.from_numpy(np.array(rgb))
        if file.name in ("rgb.png", "color.jpg"):
            for height, width in SIZES:
                for resample in (1, 2, 3):
                    expected[f"{file.name}.{height}x{width}.{resample}"] = torch.from_numpy(
                        np.array(rgb.resize((width, height), resample=resample)))
    save_file(expected, folder / "expected.safetensors")


def image_files(folder):
    return sorted(file for file in folder.iterdir()
                  if file.suffix.lower() in (".png", ".jpg", ".jpeg") and file.name not in REFUSED)


def model_of(name, settings, seed):
    cls = getattr(transformers, name)
    model = cls(cls.config_class(**settings)).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for path, tensor in sorted(model.named_parameters()):
            noise = torch.randn(tensor.shape, generator=generator)
            # Weights large enough that attention is far from uniform; norms near one.
            tensor.copy_(1 + 0.2 * noise if "norm" in path and path.endswith("weight") else 0.4 * noise)
    return model


def write_family(family, images, out, seed):
    name, processor, settings, preparation = FAMILIES[family]
    out.mkdir(parents=True, exist_ok=True)
    model = model_of(name, settings, seed)
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        shutil.copy(pathlib.Path(folder) / "model.safetensors", out / "model.safetensors")
    everything = dict(model.config.to_dict(), architectures=[name])
    (out / "config.json").write_text(json.dumps({key: everything[key] for key in KEPT.split()}, indent=2) + "\n")
    (out / "preprocessor_config.json").write_text(json.dumps(preparation, indent=2) + "\n")

    size = preparation["size"]
    prepare = processor(**{key: value for key, value in preparation.items() if not key.endswith("_type")} |
                        dict(size=size if isinstance(size, dict) else dict(height=size, width=size)))
    cls = getattr(transformers, name)
    with tempfile.TemporaryDirectory() as folder:
        for file in ("config.json", "model.safetensors"):
            shutil.copy(out / file, folder)
        labels = {} if name == "ViTModel" else dict(num_labels=settings["num_labels"])
        model, report = cls.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32,
                                            output_loading_info=True, **labels)
    assert not any(report.values()), report
    expected = {}
    pixels = {file.name: prepare(Image.open(file).convert("RGB"), return_tensors="pt")["pixel_values"]
              for file in image_files(images)}
    for file, values in pixels.items():
        expected[f"images.{file}"] = values[0]
    for case, file in (("first", "rgb.png"), ("second", "palette.png")):
        read = []
        hooks = [module.register_forward_pre_hook(lambda _, inputs: read.append(inputs[0][0]))
                 for path, module in model.named_modules() if path.endswith("attention.q_proj")]
        with torch.no_grad():
            out_of = model(pixel_values=pixels[file], output_hidden_states=True, output_attentions=True)
        for hook in hooks:
            hook.remove()
        states = list(out_of.hidden_states)
        base = model if name == "ViTModel" else getattr(model, model.base_model_prefix)
        with torch.no_grad():
            states[-1] = base.layernorm(states[-1])
        expected[f"{case}.pixel_values"] = pixels[file][0]
        expected[f"{case}.hidden_states"] = torch.stack(states, 1)[0]
        expected[f"{case}.attentions"] = torch.stack(out_of.attentions, 1)[0]
        expected[f"{case}.attention_input"] = torch.stack(read)
        if name != "ViTModel":
            expected[f"{case}.logits"] = out_of.logits[0]
        else:
            assert torch.equal(states[-1], out_of.last_hidden_state)
    save_file({key: value.clone().contiguous() for key, value in expected.items()}, out / "expected.safetensors")


def main(golden):
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    golden = pathlib.Path(golden)
    write_images(golden / "images")
    for seed, family in enumerate(FAMILIES, 41):
        write_family(family, golden / "images", golden / "families" / family, seed)


if __name__ == "__main__":
    main(*sys.argv[1:])
