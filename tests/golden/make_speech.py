"""Tiny random Whisper checkpoints and what transformers computes with them.

    python make_speech.py GOLDEN_DIR

Writes GOLDEN_DIR/families/<family>/{config.json, model.safetensors, expected.safetensors}. Nothing is downloaded; every
number is drawn from a seeded generator. Made with torch 2.13.0 (CPU), transformers 5.23.0, safetensors 0.8.0.

expected.safetensors, for "short" and "full" (decoders of 4 tokens and of as many as there are positions); T positions of the
encoder, of 2 T frames, S tokens of the decoder, d = d_model:
  {case}.input_features (bins, 2 T)  {case}.decoder_ids (S)  {case}.logits (S, vocab)
  {case}.encoder_hidden_states, .encoder_attentions, .encoder_attention_input
  {case}.decoder_hidden_states, .decoder_attentions, .decoder_attention_input
  {case}.cross_attentions (decoder layers, heads, S, T)  {case}.cross_attention_input (decoder layers, S, d)
The last hidden states are after the final norm.

And GOLDEN_DIR/sounds.safetensors, three documents of made-up spectra for "whisper": input_features (3, bins, 2 T),
decoder_input_ids (3, S) of 9, 6 and 4 tokens, padded with -100.
"""

import json
import pathlib
import shutil
import sys
import tempfile

import torch
import transformers
from safetensors.torch import save_file

WORDS = 50
KEPT = ("model_type architectures vocab_size d_model num_mel_bins encoder_layers encoder_attention_heads encoder_ffn_dim "
        "decoder_layers decoder_attention_heads decoder_ffn_dim activation_function max_source_positions "
        "max_target_positions scale_embedding is_encoder_decoder pad_token_id decoder_start_token_id tie_word_embeddings")
TOKENS = dict(vocab_size=WORDS, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=3)
FAMILIES = {
    "whisper": ("WhisperForConditionalGeneration",
                dict(d_model=20, num_mel_bins=5, encoder_layers=2, encoder_attention_heads=4, encoder_ffn_dim=28,
                     decoder_layers=2, decoder_attention_heads=2, decoder_ffn_dim=33, max_source_positions=13,
                     max_target_positions=9)),
    # Shorter than its target, and without the prefix and the head.
    "whisper-model": ("WhisperModel",
                      dict(d_model=18, num_mel_bins=7, encoder_layers=1, encoder_attention_heads=3, encoder_ffn_dim=25,
                           decoder_layers=2, decoder_attention_heads=3, decoder_ffn_dim=25, max_source_positions=8,
                           max_target_positions=12, activation_function="gelu_new", scale_embedding=True)),
}


def model_of(name, settings, seed):
    cls = getattr(transformers, name)
    model = cls(cls.config_class(**TOKENS, **settings)).eval()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for path, tensor in sorted(model.named_parameters()):
            noise = torch.randn(tensor.shape, generator=generator)
            # Weights large enough that attention is far from uniform; norms near one.
            tensor.copy_(1 + 0.2 * noise if "norm" in path and path.endswith("weight") else 0.3 * noise)
    return model


def read_model(name, out):
    cls = getattr(transformers, name)
    with tempfile.TemporaryDirectory() as folder:
        for file in ("config.json", "model.safetensors"):
            shutil.copy(out / file, folder)
        model, report = cls.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32,
                                            output_loading_info=True)
    assert not any(report.values()), report
    return model.eval()


def case_of(model, features, ids):
    seen = {}

    def watch(module, kind, layer):
        module.register_forward_pre_hook(lambda _, inputs: seen.update({(kind, layer): inputs[0]}))

    for path, module in model.named_modules():
        if path.endswith("self_attn.q_proj"):
            side = "encoder" if "encoder." in path else "decoder"
            watch(module, f"{side}_attention_input", int(path.split(".")[-3]))
        elif path.endswith("encoder_attn.q_proj"):
            watch(module, "cross_attention_input", int(path.split(".")[-3]))
    with torch.no_grad():
        out = model(input_features=features, decoder_input_ids=ids, output_hidden_states=True, output_attentions=True,
                    use_cache=False)
    found = {"input_features": features[0], "decoder_ids": ids[0].to(torch.int32)}
    for name in ("encoder_hidden_states", "decoder_hidden_states", "encoder_attentions", "decoder_attentions",
                 "cross_attentions"):
        found[name] = torch.stack(getattr(out, name), 1)[0]
    for kind in ("encoder_attention_input", "decoder_attention_input", "cross_attention_input"):
        found[kind] = torch.stack([value for (one, _), value in sorted(seen.items()) if one == kind], 1)[0]
    if hasattr(out, "logits"):
        found["logits"] = out.logits[0]
    return found


def main(golden):
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    for seed, (family, (name, settings)) in enumerate(FAMILIES.items(), 61):
        out = pathlib.Path(golden) / "families" / family
        out.mkdir(parents=True, exist_ok=True)
        model = model_of(name, settings, seed)
        with tempfile.TemporaryDirectory() as folder:
            model.save_pretrained(folder)
            shutil.copy(pathlib.Path(folder) / "model.safetensors", out / "model.safetensors")
        everything = dict(model.config.to_dict(), architectures=[name])
        (out / "config.json").write_text(json.dumps({key: everything[key] for key in KEPT.split()}, indent=2) + "\n")
        model = read_model(name, out)
        generator = torch.Generator().manual_seed(seed + 100)
        expected = {}
        for case, tokens in (("short", 4), ("full", settings["max_target_positions"])):
            features = torch.randn((1, settings["num_mel_bins"], 2 * settings["max_source_positions"]), generator=generator)
            ids = torch.randint(4, WORDS, (1, tokens), generator=generator)
            expected.update((f"{case}.{key}", value.clone().contiguous())
                            for key, value in case_of(model, features, ids).items())
        save_file(expected, out / "expected.safetensors")
    save_file(documents_of(FAMILIES["whisper"][1]), pathlib.Path(golden) / "sounds.safetensors")


def documents_of(settings):
    generator = torch.Generator().manual_seed(7)
    bins, frames, tokens = settings["num_mel_bins"], 2 * settings["max_source_positions"], settings["max_target_positions"]
    ids = torch.randint(4, WORDS, (3, tokens), generator=generator)
    for row, length in enumerate((9, 6, 4)):
        ids[row, length:] = -100
    return {"input_features": torch.randn((3, bins, frames), generator=generator), "decoder_input_ids": ids}


if __name__ == "__main__":
    main(*sys.argv[1:])
