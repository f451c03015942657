"""Writes docs/families.md from the goldens of tests/golden/families and what a run of their tests measured.

    HEADWAVE_FAMILIES_LOG=measured.txt build/release/data_tests "*compute*"
    python make_families_page.py measured.txt ../../docs/families.md

A line of measured.txt is a golden's name and three numbers: the largest difference of an attention weight, of a hidden
state and of a logit from what transformers computes, the latter two in units of the rms of what is expected.
"""

import json
import pathlib
import sys

# Settings whose value a golden's line shows where they are there: what it traps.
SHOWN = ("head_dim num_key_value_heads sliding_window window_size local_attention layer_types attention_types "
         "no_rope_layers rotary_dim rope_parameters use_parallel_residual do_layer_norm_before attn_logit_softcapping "
         "final_logit_softcapping query_pre_attn_scalar embedding_multiplier residual_multiplier attention_multiplier "
         "logits_scaling embedding_size enable_bias attention_bias image_size patch_size qkv_bias "
         "_remove_final_layer_norm use_sliding_window pos_att_type max_relative_positions position_buckets "
         "num_mel_bins max_source_positions max_target_positions scale_embedding share_att_key norm_rel_ebd position_biased_input").split()

HEAD = """# Families

Families that `config.json` names, each checked against transformers' eager attention on tiny random checkpoints
(`tests/golden/families`, made by `make_families.py`, which names the versions), on 7 and on 24 tokens; those of images
(`make_vision.py`) on two images, those of sound (`make_speech.py`) on two spectra. Weights are large enough that attention is far from uniform. Tests ask for 1e-5 in attention and
1e-4 of the rms in hidden states and logits; the table holds the largest difference that was measured. Made by `tests/golden/make_families_page.py`; edit that.

What is not followed is refused by name: quantised weights, rotary scalings other than default, linear, dynamic, llama3 and
yarn (so Phi-3's longrope), OPT with `word_embed_proj_dim` unlike `hidden_size` (OPT-350m) or norms without weights, ALBERT
with groups of layers, Qwen and SmolLM3 whose layers have a window while the switch is off, Gemma that looks both ways,
DeBERTa with a convolution (v2 xlarge) or with other terms than c2p and p2c,
NomicBERT with experts or without a gate,
Gemma 3 with images, images of another size than a ViT was trained
on (position tables are not interpolated), and model types that are not in the table.

| golden | model type | attention | states | logits | settings |
|---|---|---|---|---|---|
"""


def shown(config):
    parts = []
    for key in SHOWN:
        value = config.get(key)
        if value is not None and value is not False:
            parts.append(f"`{key}` " + json.dumps(value).replace('"', ""))
    return "; ".join(parts)


def main(measured, page):
    goldens = pathlib.Path(__file__).parent / "families"
    largest = {}
    for line in pathlib.Path(measured).read_text().splitlines():
        name, *numbers = line.split()
        largest[name] = [max(a, float(b)) for a, b in zip(largest.get(name, [0, 0, 0]), numbers)]
    rows = []
    for folder in sorted(path.parent for path in goldens.glob("*/config.json")):
        config = json.loads((folder / "config.json").read_text())
        weights, states, logits = largest[folder.name]
        said = f"{logits:.1e}" if logits else "none"  # a checkpoint without a head
        rows.append(f"| {folder.name} | {config['model_type']} | {weights:.1e} | {states:.1e} | {said} | "
                    f"{shown(config)} |")
    pathlib.Path(page).write_text(HEAD + "\n".join(rows) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
