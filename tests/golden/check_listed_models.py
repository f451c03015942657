"""Whether headwave opens the 41 models that Neuronpedia lists, in their published sizes.

    python check_listed_models.py HEADWAVE [NAME ...]

The list is np_model_to_hf.json of github.com/hijohnnylin/neuronpedia. No weights are at hand: config.json is typed with the
published sizes, in two spellings, that of publication (rope_scaling beside rope_theta, a text_config without what its class
assumes) and that of transformers' class. model.safetensors is a header with the published names and shapes, those of
transformers' model, over a hole in the file. `HEADWAVE inspect` must say the family and its sizes, read every tensor and
setting of the text part, and print one map for both spellings; or refuse with the words below. Exits with 1 otherwise. Run
with transformers 5.24.0 and torch 2.13.0; 60 GB of free disk are claimed, but not written.
"""

import copy
import difflib
import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile

import torch
import transformers


def llama(layers, width, heads, feed_forward, factor):
    scaling = dict(factor=factor, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=8192,
                   rope_type="llama3")
    return dict(model_type="llama", num_hidden_layers=layers, hidden_size=width, num_attention_heads=heads,
                num_key_value_heads=8, intermediate_size=feed_forward, vocab_size=128256, max_position_embeddings=131072,
                rms_norm_eps=1e-5, rope_theta=500000.0, rope_scaling=scaling, tie_word_embeddings=False)


def gemma2(layers, width, heads, kv_heads, d_head, feed_forward, scalar):
    return dict(model_type="gemma2", num_hidden_layers=layers, hidden_size=width, num_attention_heads=heads,
                num_key_value_heads=kv_heads, head_dim=d_head, intermediate_size=feed_forward, vocab_size=256000,
                query_pre_attn_scalar=scalar, sliding_window=4096, rms_norm_eps=1e-6, rope_theta=10000.0,
                attn_logit_softcapping=50.0, final_logit_softcapping=30.0, max_position_embeddings=8192,
                hidden_act="gelu_pytorch_tanh", hidden_activation="gelu_pytorch_tanh", cache_implementation="hybrid")


def gemma3(layers, width, feed_forward):
    return dict(model_type="gemma3_text", num_hidden_layers=layers, hidden_size=width, num_attention_heads=4,
                num_key_value_heads=1, head_dim=256, intermediate_size=feed_forward, vocab_size=262144,
                query_pre_attn_scalar=256, sliding_window=512, rms_norm_eps=1e-6, rope_theta=1000000,
                rope_local_base_freq=10000, rope_scaling=None, max_position_embeddings=32768, sliding_window_pattern=6,
                attn_logit_softcapping=None, final_logit_softcapping=None, hidden_activation="gelu_pytorch_tanh")


def gemma3_seeing(layers, width, feed_forward, **more):
    """Published without the numbers that the class assumes."""
    return dict(model_type="gemma3", mm_tokens_per_image=256, text_config=dict(
        model_type="gemma3_text", num_hidden_layers=layers, hidden_size=width, intermediate_size=feed_forward,
        sliding_window=1024, rope_scaling=dict(factor=8.0, rope_type="linear"), **more), vision_config=dict(
        model_type="siglip_vision_model", hidden_size=1152, num_hidden_layers=27, num_attention_heads=16,
        intermediate_size=4304, image_size=896, patch_size=14, vision_use_head=False))


def gemma4(layers, width, heads, kv_heads, feed_forward, window, **more):
    full = [(layer + 1) % (6 if width == 5376 or width == 2560 else 5) == 0 for layer in range(layers)]
    return dict(model_type="gemma4", tie_word_embeddings=True, text_config=dict(
        dict(model_type="gemma4_text", num_hidden_layers=layers, hidden_size=width, num_attention_heads=heads,
             num_key_value_heads=kv_heads, head_dim=256, global_head_dim=512, intermediate_size=feed_forward,
             sliding_window=window, final_logit_softcapping=30.0, vocab_size=262144, rms_norm_eps=1e-6,
             layer_types=["full_attention" if one else "sliding_attention" for one in full],
             rope_parameters=dict(full_attention=dict(partial_rotary_factor=0.25, rope_theta=1000000.0, rope_type="proportional"),
                                  sliding_attention=dict(rope_theta=10000.0, rope_type="default"))), **more))


def qwen2(layers, width, heads, kv_heads, feed_forward, words, tied):
    return dict(model_type="qwen2", num_hidden_layers=layers, hidden_size=width, num_attention_heads=heads,
                num_key_value_heads=kv_heads, intermediate_size=feed_forward, vocab_size=words, rms_norm_eps=1e-6,
                rope_theta=1000000.0, max_position_embeddings=32768, use_sliding_window=False, sliding_window=32768,
                max_window_layers=21, tie_word_embeddings=tied)


def qwen3(layers, width, heads, feed_forward, tied):
    return dict(model_type="qwen3", num_hidden_layers=layers, hidden_size=width, num_attention_heads=heads,
                num_key_value_heads=8, head_dim=128, intermediate_size=feed_forward, vocab_size=151936, rms_norm_eps=1e-6,
                rope_theta=1000000, rope_scaling=None, max_position_embeddings=40960, use_sliding_window=False,
                sliding_window=None, max_window_layers=layers, attention_bias=False, tie_word_embeddings=tied)


def olmo3(layers, width, heads, kv_heads, feed_forward):
    return dict(model_type="olmo3", num_hidden_layers=layers, hidden_size=width, num_attention_heads=heads,
                num_key_value_heads=kv_heads, intermediate_size=feed_forward, vocab_size=100278, rms_norm_eps=1e-6,
                rope_theta=500000, sliding_window=4096, max_position_embeddings=65536, attention_bias=False,
                tie_word_embeddings=False, rope_scaling=dict(
                    rope_type="yarn", factor=8.0, attention_factor=1.2079441541679836, beta_fast=32.0, beta_slow=1.0,
                    original_max_position_embeddings=8192),
                layer_types=["full_attention" if (layer + 1) % 4 == 0 else "sliding_attention" for layer in range(layers)])


GPT2 = dict(model_type="gpt2", n_layer=12, n_embd=768, n_head=12, n_positions=1024, n_ctx=1024, vocab_size=50257,
            layer_norm_epsilon=1e-5, activation_function="gelu_new")
PYTHIA = dict(model_type="gpt_neox", num_hidden_layers=6, hidden_size=512, num_attention_heads=8, intermediate_size=2048,
              vocab_size=50304, max_position_embeddings=2048, layer_norm_eps=1e-5, rotary_pct=0.25, rotary_emb_base=10000,
              use_parallel_residual=True, hidden_act="gelu", tie_word_embeddings=False)
GPT_OSS = dict(model_type="gpt_oss", num_hidden_layers=24, hidden_size=2880, num_attention_heads=64, num_key_value_heads=8,
               head_dim=64, intermediate_size=2880, vocab_size=201088, num_local_experts=32, num_experts_per_tok=4,
               experts_per_token=4, sliding_window=128, attention_bias=True, rms_norm_eps=1e-5, rope_theta=150000,
               rope_scaling=dict(rope_type="yarn", factor=32.0, beta_fast=32.0, beta_slow=1.0, truncate=False,
                                 original_max_position_embeddings=4096),
               initial_context_length=4096, max_position_embeddings=131072, swiglu_limit=7.0, tie_word_embeddings=False,
               layer_types=["sliding_attention", "full_attention"] * 12, quantization_config=dict(quant_method="mxfp4"))

QWEN3_5 = dict(model_type="qwen3_5", text_config=dict(model_type="qwen3_5_text"))
MODELS = {
    "EleutherAI/pythia-70m-deduped": PYTHIA,
    "Qwen/Qwen2.5-1.5B-Instruct": qwen2(28, 1536, 12, 2, 8960, 151936, True),
    "Qwen/Qwen2.5-7B-Instruct": qwen2(28, 3584, 28, 4, 18944, 152064, False),
    "Qwen/Qwen3-1.7B": qwen3(28, 2048, 16, 6144, True),
    "Qwen/Qwen3-4B": qwen3(36, 2560, 32, 9728, True),
    "Qwen/Qwen3-8B": qwen3(36, 4096, 32, 12288, False),
    "Qwen/Qwen3-14B": qwen3(40, 5120, 40, 17408, False),
    "Qwen/Qwen3-32B": qwen3(64, 5120, 64, 25600, False),
    "Qwen/Qwen3.5-0.8B": QWEN3_5,
    "Qwen/Qwen3.5-2B-Base": QWEN3_5,
    "Qwen/Qwen3.5-4B": QWEN3_5,
    "Qwen/Qwen3.5-9B-Base": QWEN3_5,
    "Qwen/Qwen3.5-27B": QWEN3_5,
    "Qwen/Qwen3.6-27B": QWEN3_5,
    "allenai/Olmo-3-1025-7B": olmo3(32, 4096, 32, 32, 11008),
    "allenai/Olmo-3-1125-32B": olmo3(64, 5120, 40, 8, 27648),
    "deepseek-ai/DeepSeek-V4-Flash": dict(model_type="deepseek_v4"),
    "google/gemma-2-2b": gemma2(26, 2304, 8, 4, 256, 9216, 256),
    "google/gemma-2-9b": gemma2(42, 3584, 16, 8, 256, 14336, 256),
    "google/gemma-2-27b": gemma2(46, 4608, 32, 16, 128, 36864, 144),
    "google/gemma-3-270m": gemma3(18, 640, 2048),
    "google/gemma-3-1b-pt": gemma3(26, 1152, 6912),
    "google/gemma-3-4b-pt": gemma3_seeing(34, 2560, 10240),
    "google/gemma-3-12b-pt": gemma3_seeing(48, 3840, 15360, num_attention_heads=16, num_key_value_heads=8),
    "google/gemma-3-27b-pt": gemma3_seeing(62, 5376, 21504, num_attention_heads=32, num_key_value_heads=16, head_dim=128,
                                           query_pre_attn_scalar=168),
    "google/gemma-4-E2B": gemma4(35, 1536, 8, 1, 6144, 512, num_kv_shared_layers=20, use_double_wide_mlp=True),
    "google/gemma-4-E4B": gemma4(42, 2560, 8, 2, 10240, 512, num_kv_shared_layers=18),
    "google/gemma-4-31B": gemma4(60, 5376, 32, 16, 21504, 1024, hidden_size_per_layer_input=0, attention_k_eq_v=True,
                                 num_global_key_value_heads=4),
    "meta-llama/Llama-3.1-8B": llama(32, 4096, 32, 14336, 8.0),
    "meta-llama/Llama-3.3-70B-Instruct": llama(80, 8192, 64, 28672, 8.0),
    "meta-models/Muse-Glimmer-30B": dict(model_type="muse_glimmer", text_config=dict(model_type="muse_glimmer_text")),
    "openai-community/gpt2": GPT2,
    "openai/gpt-oss-20b": GPT_OSS,
}
# Those of the same sizes.
ALSO = {"google/gemma-2-2b": ["google/gemma-2-2b-it"], "google/gemma-2-9b": ["google/gemma-2-9b-it"],
        "google/gemma-3-270m": ["google/gemma-3-270m-it"], "google/gemma-3-1b-pt": ["google/gemma-3-1b-it"],
        "google/gemma-3-4b-pt": ["google/gemma-3-4b-it"], "google/gemma-3-12b-pt": ["google/gemma-3-12b-it"],
        "google/gemma-3-27b-pt": ["google/gemma-3-27b-it"], "meta-llama/Llama-3.1-8B": ["meta-llama/Llama-3.1-8B-Instruct"]}


# Those of families that are not known.
REFUSED = {"deepseek-ai/DeepSeek-V4-Flash", "google/gemma-4-E2B", "google/gemma-4-E4B", "google/gemma-4-31B", "meta-models/Muse-Glimmer-30B",
           *(name for name in MODELS if name.startswith(("Qwen/Qwen3.5", "Qwen/Qwen3.6")))}
# What is no part of a model of text: what images are seen by.
BESIDE = ("model.visual.", "vision_tower.", "multi_modal_projector.")


def made_of(config):
    """The same as transformers' class has it."""
    settings = {key: copy.deepcopy(value) for key, value in config.items() if key != "quantization_config"}
    return transformers.CONFIG_MAPPING[config["model_type"]].from_dict(settings)


def shapes(config):
    """Names and shapes of the tensors of transformers' model, as published."""
    kind = transformers.AutoModelForImageTextToText if "text_config" in config else transformers.AutoModelForCausalLM
    with torch.device("meta"):
        model = kind.from_config(made_of(config), dtype=torch.bfloat16)
    tied = set(model.all_tied_weights_keys)
    found = {name: tuple(value.shape) for name, value in model.state_dict().items() if name not in tied}
    if config["model_type"] == "gpt_neox":
        found["embed_out.weight"] = found.pop("lm_head.weight")
    if config["model_type"] == "gemma3":  # the order of the words is that before transformers 5
        found = {name.replace("model.language_model.", "language_model.model.").removeprefix("model."): shape
                 for name, shape in found.items()}
    if "quantization_config" in config:   # (E, in, out) of bf16 is stored as (E, out, blocks of 32 in, 16 bytes) and scales
        for name in [one for one in found if one.endswith(("gate_up_proj", "down_proj"))]:
            experts, inner, outer = found.pop(name)
            found[name + "_blocks"], found[name + "_scales"] = (experts, outer, inner // 32, 16), (experts, outer, inner // 32)
    return found


def write_tensors(path, config):
    header, end = {}, 0
    for name, shape in shapes(config).items():
        packed = name.endswith(("_blocks", "_scales"))
        begin, end = end, end + math.prod(shape) * (1 if packed else 2)
        header[name] = dict(dtype="U8" if packed else "BF16", shape=shape, data_offsets=[begin, end])
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + end)


def wrong(headwave, name, config):
    """What is not as it should be; empty: nothing."""
    def said(folder, option):
        return subprocess.run([headwave, "inspect", option, folder], capture_output=True, text=True)

    text = config.get("text_config", config)
    with tempfile.TemporaryDirectory() as work:
        folders = [pathlib.Path(work, one) for one in ("published", "class")]
        packed = {key: config[key] for key in ("quantization_config",) if key in config}
        for folder, spelled in zip(folders, (config, made_of(config).to_dict() | packed)):
            folder.mkdir()
            (folder / "config.json").write_text(json.dumps(spelled))
            write_tensors(folder / "model.safetensors", config)
        listed = json.loads(said(folders[0], "--json").stdout)
        maps = [said(folder, "--map") for folder in folders]
    if name in REFUSED:
        return "" if all("is not known" in one.stderr and one.returncode == 1 for one in maps) else f"not refused: {maps}"
    notes = [note for note in listed["notes"] if "no tokenizer" not in note and "that are not read" not in note
             and not any(f"'{part}" in note for part in BESIDE)]
    if notes or listed["facts"].get("family") not in (config["model_type"], config["model_type"] + "_text"):
        return f"{notes} {listed['facts']}"
    for fact, key in (("layers", "num_hidden_layers"), ("heads", "num_attention_heads"), ("d_model", "hidden_size")):
        if key in text and listed["facts"][fact] != text[key]:
            return f"{fact} is {listed['facts'][fact]}"
    if maps[0].stderr + maps[1].stderr:
        return maps[0].stderr + maps[1].stderr
    return "".join(difflib.unified_diff(maps[0].stdout.splitlines(True), maps[1].stdout.splitlines(True), n=0))


def main(headwave, *only):
    opened, refused, failed = 0, 0, False
    for name, config in MODELS.items():
        if only and name not in only:
            continue
        names = [name, *ALSO.get(name, [])]
        problem = wrong(headwave, name, config)
        print(*names, problem or ("refused" if name in REFUSED else "opened"))
        failed |= bool(problem)
        opened, refused = opened + len(names) * (name not in REFUSED), refused + (name in REFUSED)
    print(f"{opened} opened, {refused} refused")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
