"""Tiny random ViT and DeiT checkpoints, and what transformers makes of two images with them.

    python make_vision.py GOLDEN_DIR

Reads GOLDEN_DIR/images, three small pictures of waves and edges, and writes GOLDEN_DIR/families/<family>/{config.json,
preprocessor_config.json, model.safetensors, expected.safetensors} and GOLDEN_DIR/images.safetensors, the two images as the processor of
the first family prepares them (`pixel_values`). Nothing is downloaded; weights are drawn from a seeded generator. Made with Pillow
13.0.0, torch 2.13.0 (CPU), transformers 5.23.0, safetensors 0.8.0.

families/<family>/expected.safetensors, for two images, "first" (rgb.png) and "second" (palette.png); T tokens, d = d_model:
  {case}.pixel_values (3, height, width)        of the family's image processor (its Pillow backend)
  {case}.hidden_states (layers + 1, T, d)  {case}.attentions (layers, heads, T, T)  {case}.attention_input (layers, T, d)
  {case}.logits (labels)                        where there is a classifier
The last hidden state is after the final norm.
"""

import json
import pathlib
import shutil
import sys
import tempfile

import torch
import transformers
from PIL import Image
from safetensors.torch import save_file
from transformers.models.deit.image_processing_pil_deit import DeiTImageProcessorPil
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

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
    pixels = {file: prepare(Image.open(images / file).convert("RGB"), return_tensors="pt")["pixel_values"]
              for file in ("rgb.png", "palette.png")}
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
    return torch.cat(list(pixels.values()))


def main(golden):
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    golden = pathlib.Path(golden)
    prepared = [write_family(family, golden / "images", golden / "families" / family, seed) for seed, family in enumerate(FAMILIES, 41)]
    save_file({"pixel_values": prepared[0]}, golden / "images.safetensors")


if __name__ == "__main__":
    main(*sys.argv[1:])
