"""Which keys of transformers' configurations headwave neither applies, nor refuses, nor is known to be harmless.

    python check_config_keys.py HEADWAVE [FAMILY ...]

For every golden of ./families the keys of its configuration class are walked. Each is given another value in config.json,
and `HEADWAVE inspect --map DIR` asked again: a key is applied if the map changes, and refused if the message names it or a
tensor that would then be expected. What is left must be named in HARMLESS below, with the reason; the rest is printed, and
the exit status is 1. What says nothing only beside a golden's other keys (INERT) is put to transformers as well: with the
other value it must compute the same to the bit. Run with transformers 5.23.0 and torch 2.13.0.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import torch
import transformers

import make_families

HARMLESS = set(
    # bookkeeping, and what a checkpoint holds anyway
    "architectures model_type transformers_version _name_or_path name_or_path dtype torch_dtype id2label label2id "
    "problem_type num_labels output_attentions output_hidden_states return_dict chunk_size_feed_forward is_encoder_decoder "
    "use_cache torchscript "
    # how it is trained
    "initializer_range initializer_factor initializer_cutoff_factor init_std layerdrop encoder_layerdrop decoder_layerdrop "
    "dropout attention_dropout activation_dropout hidden_dropout hidden_dropout_prob attention_probs_dropout_prob "
    "classifier_dropout classifier_dropout_prob attn_pdrop embd_pdrop resid_pdrop resid_dropout embed_dropout "
    "embedding_dropout mlp_dropout dropout_rate qa_dropout seq_classif_dropout attn_dropout deterministic_flash_attn "
    "sparse_prediction sparse_pred_ignore_index slow_but_exact pretraining_tp gradient_checkpointing "
    # heads that are not run
    "summary_type summary_use_proj summary_activation summary_first_dropout summary_last_dropout "
    "summary_proj_to_labels classifier_pooling "
    # tokens: ids come from the tokenizer; a masked pad never stands within a document
    "bos_token_id eos_token_id cls_token_id sep_token_id decoder_start_token_id forced_eos_token_id forced_bos_token_id "
    "pad_token_id "
    # order of operations alone, the same numbers but for rounding
    "reorder_and_upcast_attn "
    # read by nothing in the model: DistilBERT's table is stored either way; Marian's and BART's own names of sizes
    "sinusoidal_pos_embds num_hidden_layers share_encoder_decoder_embeddings decoder_vocab_size static_position_embeddings "
    # follows from tie_word_embeddings, which is read
    "scale_decoder_outputs "
    # of T5: how feed_forward_proj, which is read, was taken apart
    "dense_act_fn is_gated_act "
    # of experts: how routers are trained
    "output_router_logits router_aux_loss_coef router_jitter_noise "
    # DeBERTa's pooler, which is not run
    "pooler_dropout pooler_hidden_act pooler_hidden_size".split())

# The same of some model types alone: tied where the checkpoint holds no matrix of its own; what is made of other keys.
ENCODERS = "albert bert camembert deberta deberta-v2 distilbert electra modernbert roberta xlm-roberta".split()
HARMLESS_OF = {name: {"tie_word_embeddings"} for name in ENCODERS} | {
    "bart": {"is_decoder"}, "marian": {"is_decoder"},
    "gemma3_text": {"_sliding_window_pattern", "attn_logit_softcapping"},  # transformers does not apply the cap
    "gpt_neo": {"attention_layers"},
    # made of other keys; and layers beside those that predict the next token
    "deepseek_v2": {"head_dim", "qk_head_dim"}, "deepseek_v3": {"head_dim", "qk_head_dim", "num_nextn_predict_layers"}}

# What says nothing beside the other keys of a golden: transformers computes the same with another value.
NO_WINDOW = {"sliding_window", "max_window_layers"}  # the switch is off, or layer_types says which layers have one
INERT = {
    "opt-post": {"_remove_final_layer_norm"},  # post-norm: there is none to remove
    "t5": {"is_decoder"}, "t5-gated": {"is_decoder"},  # each side knows what it is
    "phi3": {"original_max_position_embeddings"},  # rotary positions are not scaled
    "qwen2-moe": {"max_window_layers"}, "qwen2-moe-no-bias": NO_WINDOW,  # layer_types says which layers have one
    "deepseek-v2-lite": {"n_group", "topk_group"},  # topk_method is greedy
    # queries are not tuned, moe_layers says which have experts
    "llama4-plain": {"attn_scale", "floor_scale", "interleave_moe_layer_step"},
    "llama4": {"no_rope_layer_interval"},  # no_rope_layers says which
    "qwen2": NO_WINDOW, "qwen3": NO_WINDOW | {"use_sliding_window"}, "qwen3-window": {"max_window_layers"},
    # no_rope_layers says which layers turn
    "smollm3": NO_WINDOW | {"use_sliding_window", "no_rope_layer_interval"}, "smollm3-window": {"no_rope_layer_interval"}}


def other(key, value):
    """A value unlike what stands there, of its kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 2
    if isinstance(value, float):
        return value * 1.5 + 0.25
    if key == "layer_types":
        swap = {"full_attention": "sliding_attention", "sliding_attention": "full_attention",
                "chunked_attention": "full_attention"}
        return [swap[one] for one in value]
    if key == "no_rope_layers":
        return [1 - one for one in value]
    if key == "attention_layers":
        return value[::-1]
    if key == "attention_types":
        return [[["local", "global"], value[0][1]]]
    if isinstance(value, str):
        return "relu" if value != "relu" else "gelu"
    if isinstance(value, dict):
        return {one: other(one, inner) for one, inner in value.items()}
    return True if value is None and key.startswith(("use_", "is_")) else 3


def answer(headwave, folder):
    run = subprocess.run([headwave, "inspect", "--map", str(folder)], capture_output=True, text=True)
    return run.returncode, run.stdout, run.stderr


def computed(golden, folder):
    return make_families.expected_of(golden.name, folder, 0)


def require_inert(golden, folder, key):
    """The copy in `folder` has another value of the key."""
    before, after = computed(golden, golden), computed(golden, folder)
    assert all(torch.equal(before[name], after[name]) for name in before), (golden.name, key)


def left_over(headwave, golden):
    config = json.loads((golden / "config.json").read_text())
    everything = transformers.CONFIG_MAPPING[config["model_type"]](**config).to_dict()
    left = []
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work) / "model"
        shutil.copytree(golden, folder)
        before = answer(headwave, folder)
        assert before[0] == 0, before
        for key in sorted(set(everything) | set(config)):
            if key in HARMLESS | HARMLESS_OF.get(config["model_type"], set()):
                continue
            (folder / "config.json").write_text(json.dumps(dict(config, **{key: other(key, config.get(key, everything.get(key)))})))
            code, text, message = answer(headwave, folder)
            if code != 0 or text != before[1] or message != before[2]:
                continue
            if key in INERT.get(golden.name, set()):
                require_inert(golden, folder, key)
            else:
                left.append(key)
    return left


def main(headwave, *only):
    goldens = pathlib.Path(__file__).parent / "families"
    failed = False
    for golden in sorted(path.parent for path in goldens.glob("*/config.json")):
        if only and golden.name not in only:
            continue
        left = left_over(headwave, golden)
        failed |= bool(left)
        print(golden.name, "neither applied, refused nor harmless: " + ", ".join(left) if left else "nothing left")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
