"""Tiny random checkpoints of many transformer families and what transformers computes with them.

    python make_families.py OUT_DIR [FAMILY ...]

Writes OUT_DIR/<family>/{config.json, model.safetensors, expected.safetensors}; families with rotary positions also get
config_legacy.json, the same settings as spelled before transformers 5 (rope_theta, rope_scaling). Nothing is
downloaded: configurations are made here, every parameter is drawn from a seeded generator, tensors are named as
save_pretrained names them (tied weights left out). What is expected is computed by the model read back from the
directory, so config.json is known to say enough. Made with torch 2.13.0 (CPU), transformers 5.23.0 (gpt-neox-head-dim,
gemma3-capped, deberta-beyond, deberta-v2-beyond and all from mixtral on 5.24.0), safetensors 0.8.0; gpt-oss-mxfp4 needs
accelerate, too.

expected.safetensors, for "short" (7 tokens), "full" (24 tokens) and in some families "padded" (short, padded on the
right in a batch with full; only its 7 valid rows are kept); T tokens, d = d_model:
  {case}.ids (T)  {case}.hidden_states (layers + 1, T, d)  {case}.attentions (layers, heads, T, T)
  {case}.logits (T, vocab)
  {case}.attention_input (layers, T, d)   what the q, k, v projections of self-attention read, after a norm before them
  {case}.position_bias (heads, T, T)      Bloom: what is added to the scaled scores, before masking
  {case}.inv_freq (channels that turn / 2)  rotary families with one base: inverse frequencies, radians per token
  {case}.rope_factor (1)                  rotary families: multiplier of cosines and sines
Encoder-decoders, decoder of S = 5 (short) or 11 (full) tokens:
  {case}.ids (T)  {case}.decoder_ids (S)  {case}.logits (S, vocab)
  {case}.encoder_hidden_states, .encoder_attentions, .encoder_attention_input, .encoder_position_bias (T5)
  {case}.decoder_hidden_states, .decoder_attentions, .decoder_attention_input, .decoder_position_bias (T5)
  {case}.cross_attentions (decoder layers, heads, S, T)
  {case}.cross_attention_input (decoder layers, S, d)   query side of cross-attention
"""

import json
import pathlib
import re
import shutil
import sys
import tempfile

import torch
import transformers
from safetensors.torch import load_file, save_file

WORDS, SHORT, FULL, DECODER_SHORT, DECODER_FULL = 60, 7, 24, 5, 11

BERT = ("model_type architectures vocab_size hidden_size num_hidden_layers num_attention_heads intermediate_size "
        "hidden_act max_position_embeddings type_vocab_size layer_norm_eps pad_token_id tie_word_embeddings")
ROPE = ("model_type architectures vocab_size hidden_size num_hidden_layers num_attention_heads num_key_value_heads "
        "intermediate_size hidden_act max_position_embeddings rms_norm_eps tie_word_embeddings rope_parameters ")
LLAMA = ROPE + "head_dim attention_bias mlp_bias"
QWEN2 = ROPE + "use_sliding_window sliding_window max_window_layers"
DEBERTA = (BERT + " relative_attention max_relative_positions pos_att_type position_biased_input legacy")
DEBERTA_V2 = DEBERTA + " position_buckets share_att_key norm_rel_ebd"
NOMIC = ROPE.replace("num_key_value_heads ", "").replace("rms_norm_eps", "layer_norm_eps") + "head_dim type_vocab_size"
T5 = ("model_type architectures vocab_size d_model d_kv d_ff num_layers num_decoder_layers num_heads "
      "is_encoder_decoder relative_attention_num_buckets relative_attention_max_distance feed_forward_proj "
      "layer_norm_epsilon pad_token_id decoder_start_token_id tie_word_embeddings")
GPT = "model_type architectures vocab_size tie_word_embeddings "
NEOX = (GPT + "hidden_size num_hidden_layers num_attention_heads intermediate_size hidden_act max_position_embeddings "
        "layer_norm_eps use_parallel_residual rope_parameters attention_bias")
OPT = (GPT + "hidden_size num_hidden_layers num_attention_heads ffn_dim activation_function max_position_embeddings "
       "do_layer_norm_before enable_bias word_embed_proj_dim _remove_final_layer_norm layer_norm_elementwise_affine")
QWEN3 = ROPE + "head_dim attention_bias use_sliding_window sliding_window max_window_layers layer_types"
GEMMA2 = (ROPE.replace("hidden_act", "hidden_activation") + "head_dim attention_bias query_pre_attn_scalar "
          "sliding_window layer_types final_logit_softcapping attn_logit_softcapping use_bidirectional_attention")
SMOLLM3 = ROPE + ("attention_bias mlp_bias use_sliding_window sliding_window no_rope_layers no_rope_layer_interval "
                  "layer_types pad_token_id")
MODERNBERT = (GPT + "hidden_size intermediate_size num_hidden_layers num_attention_heads hidden_activation "
              "max_position_embeddings norm_eps norm_bias attention_bias layer_types rope_parameters local_attention "
              "mlp_bias decoder_bias classifier_bias classifier_activation pad_token_id")
NORMED = ROPE.replace("rms_norm_eps", "layer_norm_eps")  # with means taken away
PHI = NORMED + "qk_layernorm"
FALCON = (GPT + "hidden_size num_hidden_layers num_attention_heads num_kv_heads ffn_hidden_size activation "
          "max_position_embeddings layer_norm_epsilon multi_query new_decoder_architecture parallel_attn bias alibi "
          "num_ln_in_parallel_attn rope_parameters")
STABLELM = NORMED + "use_qkv_bias qk_layernorm use_parallel_residual"
COHERE = NORMED + "logit_scale attention_bias use_qk_norm"
GLM = ROPE + "head_dim attention_bias pad_token_id"
BART = ("model_type architectures vocab_size d_model encoder_layers decoder_layers encoder_attention_heads "
        "decoder_attention_heads encoder_ffn_dim decoder_ffn_dim activation_function max_position_embeddings "
        "scale_embedding is_encoder_decoder pad_token_id decoder_start_token_id tie_word_embeddings")
MIXTRAL = ROPE + "head_dim sliding_window num_local_experts num_experts_per_tok"
EXPERTS = " num_experts num_experts_per_tok norm_topk_prob "
QWEN2_MOE = (QWEN2 + EXPERTS + "moe_intermediate_size shared_expert_intermediate_size mlp_only_layers "
             "decoder_sparse_step qkv_bias layer_types")
QWEN3_MOE = (ROPE + EXPERTS + "num_local_experts moe_intermediate_size mlp_only_layers decoder_sparse_step head_dim "
             "attention_bias use_sliding_window sliding_window")
GPT_OSS = (ROPE + "head_dim sliding_window layer_types attention_bias num_local_experts num_experts_per_tok swiglu_limit "
           "swiglu_alpha quantization_config")
DEEPSEEK_V2 = (ROPE + "attention_bias mlp_bias q_lora_rank kv_lora_rank qk_nope_head_dim qk_rope_head_dim v_head_dim "
               "n_routed_experts num_experts_per_tok moe_intermediate_size n_shared_experts first_k_dense_replace "
               "routed_scaling_factor topk_method n_group topk_group norm_topk_prob")
DEEPSEEK_V3 = DEEPSEEK_V2.replace("topk_method ", "") + " rope_interleave"
LLAMA4 = (ROPE + "head_dim attention_bias intermediate_size_mlp num_local_experts num_experts_per_tok moe_layers "
          "interleave_moe_layer_step use_qk_norm no_rope_layers no_rope_layer_interval attention_chunk_size layer_types "
          "attn_temperature_tuning floor_scale attn_scale")
OLMOE = ROPE + EXPERTS + "attention_bias clip_qkv"


def bert_sizes(width):
    return dict(hidden_size=width, num_hidden_layers=2, num_attention_heads=4, intermediate_size=40)


def roberta_sizes(width):
    return dict(bert_sizes(width), max_position_embeddings=FULL + 2, type_vocab_size=1, layer_norm_eps=2e-3,
                pad_token_id=1)


def llama_sizes(**more):
    return dict(dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=12,
                     intermediate_size=40, max_position_embeddings=32, rms_norm_eps=1e-3), **more)


def scaled_llama(scaling, positions):
    """A still smaller Llama: two heads, wider together than the model, one key-value head, one kind of scaling."""
    return llama_sizes(hidden_size=16, num_attention_heads=2, num_key_value_heads=1, head_dim=16, intermediate_size=24,
                       max_position_embeddings=positions, rope_parameters=dict(rope_theta=100.0, **scaling))


def small_llama(**more):
    """Heads of six channels unless said, on a text of whatever length."""
    return dict(dict(hidden_size=24, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                     intermediate_size=28, max_position_embeddings=32, rms_norm_eps=1e-3, pad_token_id=0,
                     bos_token_id=1, eos_token_id=2, rope_parameters=dict(rope_type="default", rope_theta=500.0)), **more)


def without(key, settings):
    return {name: value for name, value in settings.items() if name != key}


def gpt_sizes(**more):
    return dict(dict(n_embd=24, n_layer=2, n_head=4, n_positions=FULL, layer_norm_epsilon=1e-3), **more)


def neox_sizes(**more):
    return dict(dict(hidden_size=24, num_hidden_layers=2, num_attention_heads=4, intermediate_size=28,
                     max_position_embeddings=FULL, layer_norm_eps=1e-3), **more)


def modernbert_sizes(**more):
    return dict(dict(hidden_size=24, intermediate_size=28, num_hidden_layers=3, num_attention_heads=4,
                     max_position_embeddings=32, norm_eps=1e-3, local_attention=6, pad_token_id=0, bos_token_id=1,
                     eos_token_id=2, cls_token_id=1, sep_token_id=2,
                     rope_parameters={"full_attention": dict(rope_type="default", rope_theta=800.0),
                                      "sliding_attention": dict(rope_type="default", rope_theta=50.0)}), **more)


def deberta_sizes(**more):
    """Texts of 24 tokens reach beyond the last vector of relative positions, except where there is one for each distance."""
    return dict(dict(hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=28,
                     max_position_embeddings=FULL, layer_norm_eps=1e-3, relative_attention=True, pad_token_id=0,
                     position_biased_input=False, type_vocab_size=0, pos_att_type=["c2p", "p2c"]), **more)


def nomic_sizes(**more):
    return dict(dict(hidden_size=24, num_hidden_layers=2, num_attention_heads=4, intermediate_size=28, layer_norm_eps=1e-3,
                     max_position_embeddings=32, rope_parameters=dict(rope_type="default", rope_theta=300.0)), **more)


def small_falcon(**more):
    return dict(dict(hidden_size=24, num_hidden_layers=2, num_attention_heads=4, ffn_hidden_size=28,
                     max_position_embeddings=32, layer_norm_epsilon=1e-3,
                     rope_parameters=dict(rope_type="default", rope_theta=300.0)), **more)


def partly(share, theta=300.0):
    """Rotary positions of a share of a head's channels."""
    return dict(rope_type="default", rope_theta=theta, partial_rotary_factor=share)


def t5_sizes(**more):
    return dict(d_model=20, d_kv=6, d_ff=32, num_layers=2, num_heads=4, layer_norm_epsilon=1e-3,
                decoder_start_token_id=0, **more)


def bart_sizes(**more):
    return dict(dict(d_model=24, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
                     decoder_attention_heads=4, encoder_ffn_dim=40, decoder_ffn_dim=40,
                     max_position_embeddings=FULL), **more)


# Family: class, configuration, settings kept in config.json. Epsilons are far above the published ones so that a reader
# which does not take them from the configuration is found out.
FAMILIES = {
    "distilbert": ("DistilBertForMaskedLM",
                   dict(dim=32, n_layers=2, n_heads=4, hidden_dim=40, max_position_embeddings=FULL),
                   "model_type architectures vocab_size dim n_layers n_heads hidden_dim activation "
                   "max_position_embeddings sinusoidal_pos_embds pad_token_id tie_word_embeddings"),
    "bert-mlm": ("BertForMaskedLM", dict(bert_sizes(24), max_position_embeddings=FULL, hidden_act="gelu_new",
                                       layer_norm_eps=1e-3), BERT),
    "roberta-mlm": ("RobertaForMaskedLM", roberta_sizes(24), BERT),
    "xlm-roberta": ("XLMRobertaForMaskedLM", roberta_sizes(24), BERT),
    "camembert": ("CamembertForMaskedLM", roberta_sizes(24), BERT),
    "gpt2": ("GPT2LMHeadModel",
             dict(n_embd=32, n_layer=2, n_head=4, n_inner=40, n_positions=FULL, layer_norm_epsilon=1e-3),
             "model_type architectures vocab_size n_embd n_layer n_head n_inner n_positions activation_function "
             "layer_norm_epsilon scale_attn_weights scale_attn_by_inverse_layer_idx tie_word_embeddings"),
    "llama": ("LlamaForCausalLM", llama_sizes(rope_parameters=dict(rope_type="default", rope_theta=500.0)), LLAMA),
    "llama-rope-linear": ("LlamaForCausalLM", scaled_llama(dict(rope_type="linear", factor=2.5), 32), LLAMA),
    "llama-rope-dynamic": ("LlamaForCausalLM", scaled_llama(dict(rope_type="dynamic", factor=3.0), 12), LLAMA),
    "llama-rope-llama3": ("LlamaForCausalLM", scaled_llama(dict(
        rope_type="llama3", factor=4.0, low_freq_factor=1.0, high_freq_factor=4.0,
        original_max_position_embeddings=64), 256), LLAMA),
    "llama-rope-yarn": ("LlamaForCausalLM", scaled_llama(dict(
        rope_type="yarn", factor=4.0, beta_fast=4.0, beta_slow=1.0, original_max_position_embeddings=64), 256), LLAMA),
    "mistral": ("MistralForCausalLM", llama_sizes(head_dim=8, sliding_window=5), ROPE + "head_dim sliding_window"),
    "qwen2": ("Qwen2ForCausalLM", dict(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=40,
        rms_norm_eps=1e-3, max_position_embeddings=32, tie_word_embeddings=True, max_window_layers=1,
        rope_parameters=dict(rope_type="default", rope_theta=1000.0)),
        QWEN2),
    "t5": ("T5ForConditionalGeneration",
           t5_sizes(relative_attention_num_buckets=8, relative_attention_max_distance=12), T5),
    "t5-gated": ("T5ForConditionalGeneration", t5_sizes(
        num_decoder_layers=1, feed_forward_proj="gated-gelu", tie_word_embeddings=False), T5),
    "bloom": ("BloomForCausalLM", dict(hidden_size=24, n_layer=2, n_head=6, layer_norm_epsilon=1e-3),
              "model_type architectures vocab_size hidden_size n_layer n_head layer_norm_epsilon "
              "apply_residual_connection_post_layernorm tie_word_embeddings"),
    "bart": ("BartForConditionalGeneration", bart_sizes(decoder_layers=1, decoder_ffn_dim=48), BART),
    "marian": ("MarianMTModel", bart_sizes(d_model=20, scale_embedding=True, activation_function="swish",
                                           pad_token_id=WORDS - 1, decoder_start_token_id=WORDS - 1),
               BART + " share_encoder_decoder_embeddings"),
    "gpt-neox": ("GPTNeoXForCausalLM", neox_sizes(rope_parameters=dict(
        rope_type="default", rope_theta=300.0, partial_rotary_factor=0.7)), NEOX),
    "gpt-neox-sequential": ("GPTNeoXForCausalLM", neox_sizes(
        use_parallel_residual=False, attention_bias=False, num_attention_heads=3, hidden_act="gelu_new",
        rope_parameters=dict(rope_type="default", rope_theta=300.0, partial_rotary_factor=1.0)), NEOX),
    "gpt-neox-head-dim": ("GPTNeoXForCausalLM", neox_sizes(head_dim=4, rope_parameters=dict(
        rope_type="default", rope_theta=300.0, partial_rotary_factor=1.0)), NEOX + " head_dim"),
    "gptj": ("GPTJForCausalLM", gpt_sizes(n_head=3, rotary_dim=4, n_inner=28),
             GPT + "n_embd n_layer n_head n_inner n_positions rotary_dim activation_function layer_norm_epsilon"),
    "gpt-neo": ("GPTNeoForCausalLM", dict(
        hidden_size=24, num_layers=2, num_heads=4, intermediate_size=28, max_position_embeddings=FULL, window_size=5,
        attention_types=[[["global", "local"], 1]], layer_norm_epsilon=1e-3),
        GPT + "hidden_size num_layers num_heads intermediate_size max_position_embeddings window_size attention_types "
        "activation_function layer_norm_epsilon"),
    "openai-gpt": ("OpenAIGPTLMHeadModel", gpt_sizes(),
                   GPT + "n_embd n_layer n_head n_positions afn layer_norm_epsilon"),
    "opt": ("OPTForCausalLM", dict(hidden_size=24, num_hidden_layers=2, num_attention_heads=4, ffn_dim=28,
                                   max_position_embeddings=FULL), OPT),
    "opt-post": ("OPTForCausalLM", dict(hidden_size=24, num_hidden_layers=2, num_attention_heads=3, ffn_dim=28,
                                        max_position_embeddings=FULL, do_layer_norm_before=False, enable_bias=False,
                                        activation_function="gelu"), OPT),
    "qwen3": ("Qwen3ForCausalLM", small_llama(head_dim=10), QWEN3),
    "qwen3-window": ("Qwen3ForCausalLM", small_llama(
        head_dim=10, attention_bias=True, use_sliding_window=True, sliding_window=5, max_window_layers=1), QWEN3),
    "gemma": ("GemmaForCausalLM", small_llama(head_dim=10, num_key_value_heads=1), ROPE + "head_dim attention_bias"),
    "gemma2": ("Gemma2ForCausalLM", small_llama(
        head_dim=10, query_pre_attn_scalar=7, sliding_window=5, attn_logit_softcapping=2.5, final_logit_softcapping=3.0),
        GEMMA2),
    "gemma3": ("Gemma3ForCausalLM", small_llama(
        head_dim=10, num_hidden_layers=3, query_pre_attn_scalar=7, sliding_window=5,
        layer_types=["sliding_attention", "full_attention", "sliding_attention"],
        rope_parameters={"full_attention": dict(rope_type="linear", factor=2.0, rope_theta=700.0),
                         "sliding_attention": dict(rope_type="default", rope_theta=60.0)}), GEMMA2),
    "gemma3-capped": ("Gemma3ForCausalLM", small_llama(
        head_dim=10, query_pre_attn_scalar=7, sliding_window=5, attn_logit_softcapping=1.5, final_logit_softcapping=3.0,
        rope_parameters={"full_attention": dict(rope_type="default", rope_theta=700.0),
                         "sliding_attention": dict(rope_type="default", rope_theta=60.0)}), GEMMA2),
    "phi3": ("Phi3ForCausalLM", small_llama(
        sliding_window=5, rope_parameters=dict(rope_type="default", rope_theta=500.0, partial_rotary_factor=0.7)),
        ROPE + "sliding_window pad_token_id"),
    "olmo2": ("Olmo2ForCausalLM", small_llama(), ROPE + "attention_bias"),
    "granite": ("GraniteForCausalLM", small_llama(
        attention_bias=True, mlp_bias=True, embedding_multiplier=3.0, logits_scaling=2.5, residual_multiplier=0.6,
        attention_multiplier=0.3), ROPE + "attention_bias mlp_bias embedding_multiplier logits_scaling "
        "residual_multiplier attention_multiplier"),
    "smollm3": ("SmolLM3ForCausalLM", small_llama(num_hidden_layers=3, no_rope_layers=[1, 0, 1]), SMOLLM3),
    "smollm3-window": ("SmolLM3ForCausalLM", small_llama(
        no_rope_layer_interval=2, use_sliding_window=True, sliding_window=5), SMOLLM3),
    "modernbert": ("ModernBertForMaskedLM", modernbert_sizes(), MODERNBERT),
    "modernbert-biased": ("ModernBertForMaskedLM", modernbert_sizes(
        num_hidden_layers=2, layer_types=["sliding_attention", "full_attention"], local_attention=8, norm_bias=True,
        attention_bias=True, mlp_bias=True, classifier_bias=True, decoder_bias=False, classifier_activation="silu",
        hidden_activation="gelu_new"), MODERNBERT),
    "electra": ("ElectraForMaskedLM", dict(bert_sizes(24), embedding_size=14, max_position_embeddings=FULL,
                                           hidden_act="relu", layer_norm_eps=1e-3), BERT + " embedding_size"),
    "albert": ("AlbertForMaskedLM", dict(bert_sizes(24), num_hidden_layers=3, embedding_size=14, intermediate_size=28,
                                         max_position_embeddings=FULL, layer_norm_eps=1e-3),
               BERT + " embedding_size num_hidden_groups inner_group_num"),
    "opt-bare": ("OPTForCausalLM", dict(
        hidden_size=24, num_hidden_layers=2, num_attention_heads=4, ffn_dim=28, max_position_embeddings=FULL,
        _remove_final_layer_norm=True), OPT),
    "qwen2-window": ("Qwen2ForCausalLM", small_llama(
        use_sliding_window=True, sliding_window=5, max_window_layers=1), QWEN2),
    "deberta": ("DebertaForMaskedLM", deberta_sizes(), DEBERTA),
    "deberta-p2c": ("DebertaForMaskedLM", deberta_sizes(
        num_attention_heads=4, pos_att_type=["p2c"], max_relative_positions=9, position_biased_input=True,
        type_vocab_size=2, hidden_act="relu"), DEBERTA),
    "deberta-v2": ("DebertaV2ForMaskedLM", deberta_sizes(
        max_relative_positions=20, position_buckets=8, position_biased_input=True, type_vocab_size=2), DEBERTA_V2),
    "deberta-v2-c2p": ("DebertaV2ForMaskedLM", deberta_sizes(
        num_attention_heads=4, pos_att_type=["c2p"], max_relative_positions=9), DEBERTA_V2),
    "deberta-v3": ("DebertaV2ForMaskedLM", deberta_sizes(
        max_relative_positions=13, position_buckets=5, share_att_key=True, norm_rel_ebd="layer_norm", legacy=False,
        hidden_act="gelu_new"), DEBERTA_V2),
    "deberta-beyond": ("DebertaForMaskedLM", deberta_sizes(max_position_embeddings=9), DEBERTA),
    "deberta-v2-beyond": ("DebertaV2ForMaskedLM", deberta_sizes(
        num_attention_heads=4, max_position_embeddings=9, position_buckets=6), DEBERTA_V2),
    "nomic-bert": ("NomicBertForMaskedLM", nomic_sizes(head_dim=10), NOMIC),
    "nomic-bert-published": ("NomicBertForMaskedLM", nomic_sizes(num_attention_heads=3), NOMIC),
    "olmo3": ("Olmo3ForCausalLM", small_llama(
        num_hidden_layers=3, layer_types=["sliding_attention", "full_attention", "sliding_attention"],
        sliding_window=5, max_position_embeddings=64, rope_parameters={
            "full_attention": dict(rope_type="yarn", factor=4.0, beta_fast=4.0, beta_slow=1.0, rope_theta=5e5,
                                   attention_factor=1.3, original_max_position_embeddings=16),
            "sliding_attention": dict(rope_type="default", rope_theta=5e5)}),
        ROPE + "attention_bias sliding_window layer_types"),
    "phi": ("PhiForCausalLM", dict(small_llama(rope_parameters=partly(0.7)), layer_norm_eps=1e-3), PHI),
    "phi-normed": ("PhiForCausalLM", dict(small_llama(rope_parameters=partly(0.7), num_key_value_heads=4),
                                          layer_norm_eps=1e-3, qk_layernorm=True, hidden_act="gelu"), PHI),
    "phi3-longrope": ("Phi3ForCausalLM", small_llama(
        max_position_embeddings=40, original_max_position_embeddings=10, rope_parameters=dict(
            rope_type="longrope", rope_theta=500.0, partial_rotary_factor=0.7, short_factor=[1.3, 1.7],
            long_factor=[2.5, 9.0], original_max_position_embeddings=10)),
        ROPE + "original_max_position_embeddings pad_token_id"),
    "falcon": ("FalconForCausalLM", small_falcon(multi_query=True, parallel_attn=True), FALCON),
    "falcon-grouped": ("FalconForCausalLM", small_falcon(
        new_decoder_architecture=True, num_kv_heads=2, bias=True, tie_word_embeddings=False), FALCON),
    "falcon-one-norm": ("FalconForCausalLM", small_falcon(
        new_decoder_architecture=True, num_kv_heads=2, num_ln_in_parallel_attn=1), FALCON),
    "falcon-serial": ("FalconForCausalLM", small_falcon(multi_query=False, parallel_attn=False, bias=True), FALCON),
    "starcoder2": ("Starcoder2ForCausalLM", dict(small_llama(sliding_window=5), norm_epsilon=1e-3),
                   ROPE.replace("rms_norm_eps", "norm_epsilon") + "sliding_window use_bias"),
    "stablelm": ("StableLmForCausalLM", dict(small_llama(rope_parameters=partly(0.7)), layer_norm_eps=1e-3,
                                             use_qkv_bias=True), STABLELM),
    "stablelm-parallel": ("StableLmForCausalLM", dict(
        small_llama(rope_parameters=partly(0.4)), layer_norm_eps=1e-3, use_parallel_residual=True,
        qk_layernorm=True), STABLELM),
    "cohere": ("CohereForCausalLM", dict(small_llama(), layer_norm_eps=1e-3, logit_scale=0.4), COHERE),
    "cohere-normed": ("CohereForCausalLM", dict(small_llama(), layer_norm_eps=1e-3, logit_scale=0.4, use_qk_norm=True,
                                                attention_bias=True), COHERE),
    "cohere2": ("Cohere2ForCausalLM", dict(
        small_llama(num_hidden_layers=3), layer_norm_eps=1e-3, logit_scale=0.4, sliding_window=5,
        layer_types=["sliding_attention", "full_attention", "sliding_attention"]),
        COHERE + " sliding_window layer_types head_dim"),
    "glm": ("GlmForCausalLM", small_llama(head_dim=10, attention_bias=True, rope_parameters=partly(0.4)), GLM),
    "glm4": ("Glm4ForCausalLM", small_llama(head_dim=10, attention_bias=True, rope_parameters=partly(0.4)), GLM),
    "esm": ("EsmForMaskedLM", dict(
        bert_sizes(24), max_position_embeddings=FULL + 2, position_embedding_type="rotary", layer_norm_eps=1e-3,
        token_dropout=True, mask_token_id=59, pad_token_id=1), BERT + " position_embedding_type token_dropout "
        "mask_token_id emb_layer_norm_before"),
    "esm-absolute": ("EsmForMaskedLM", dict(
        bert_sizes(24), max_position_embeddings=FULL + 2, position_embedding_type="absolute", layer_norm_eps=1e-3,
        token_dropout=False, emb_layer_norm_before=True, mask_token_id=59, pad_token_id=1),
        BERT + " position_embedding_type token_dropout mask_token_id emb_layer_norm_before"),
    "mpnet": ("MPNetForMaskedLM", dict(bert_sizes(24), max_position_embeddings=FULL + 2, layer_norm_eps=1e-3,
                                       relative_attention_num_buckets=32, hidden_act="gelu_new"),
              BERT + " relative_attention_num_buckets"),
    "roformer": ("RoFormerForMaskedLM", dict(bert_sizes(24), embedding_size=14, max_position_embeddings=FULL,
                                             layer_norm_eps=1e-3, intermediate_size=28),
                 BERT + " embedding_size rotary_value"),
    "gemma3-multimodal": ("Gemma3ForConditionalGeneration", dict(
        text_config=small_llama(vocab_size=WORDS, head_dim=10, query_pre_attn_scalar=7, sliding_window=5,
                                layer_types=["sliding_attention", "full_attention"], rope_parameters={
                                    "full_attention": dict(rope_type="default", rope_theta=700.0),
                                    "sliding_attention": dict(rope_type="default", rope_theta=60.0)}),
        vision_config=dict(hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8,
                           image_size=8, patch_size=4), mm_tokens_per_image=4),
        "model_type architectures text_config vision_config mm_tokens_per_image"),
    "mixtral": ("MixtralForCausalLM", small_llama(
        head_dim=10, intermediate_size=14, num_local_experts=5, num_experts_per_tok=2, sliding_window=5), MIXTRAL),
    "qwen2-moe": ("Qwen2MoeForCausalLM", small_llama(
        num_hidden_layers=3, num_experts=7, num_experts_per_tok=3, moe_intermediate_size=10,
        shared_expert_intermediate_size=14, mlp_only_layers=[1], use_sliding_window=True, sliding_window=5,
        max_window_layers=2), QWEN2_MOE),
    "qwen2-moe-no-bias": ("Qwen2MoeForCausalLM", small_llama(
        num_experts=6, num_experts_per_tok=2, moe_intermediate_size=10, shared_expert_intermediate_size=6,
        qkv_bias=False, norm_topk_prob=True), QWEN2_MOE),
    "qwen3-moe": ("Qwen3MoeForCausalLM", small_llama(
        num_hidden_layers=3, head_dim=10, num_experts=6, num_experts_per_tok=3, moe_intermediate_size=10,
        norm_topk_prob=True, decoder_sparse_step=2, attention_bias=True, use_sliding_window=True, sliding_window=5),
        QWEN3_MOE),
    "gpt-oss": ("GptOssForCausalLM", small_llama(
        head_dim=10, intermediate_size=14, num_local_experts=5, num_experts_per_tok=3, sliding_window=5,
        swiglu_limit=1.3, swiglu_alpha=1.5, rope_parameters=dict(
            rope_type="yarn", rope_theta=500.0, factor=4.0, beta_fast=4.0, beta_slow=1.0, truncate=False,
            original_max_position_embeddings=24)), GPT_OSS),
    "gpt-oss-mxfp4": ("GptOssForCausalLM", small_llama(
        hidden_size=32, num_key_value_heads=1, head_dim=6, intermediate_size=32, num_local_experts=3,
        num_experts_per_tok=2, sliding_window=7, layer_types=["full_attention", "sliding_attention"],
        rope_parameters=dict(rope_type="yarn", rope_theta=500.0, factor=4.0, beta_fast=4.0, beta_slow=1.0,
                             truncate=False, original_max_position_embeddings=24)), GPT_OSS),
    "deepseek-v2": ("DeepseekV2ForCausalLM", small_llama(
        num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=4, q_lora_rank=14, kv_lora_rank=10,
        qk_nope_head_dim=6, qk_rope_head_dim=4, v_head_dim=7, n_routed_experts=9, num_experts_per_tok=3,
        moe_intermediate_size=6, n_shared_experts=2, first_k_dense_replace=1, routed_scaling_factor=1.7,
        topk_method="group_limited_greedy", n_group=3, topk_group=2, attention_bias=True, rope_parameters=dict(
            rope_type="yarn", rope_theta=500.0, factor=4.0, beta_fast=4.0, beta_slow=1.0, mscale=0.5,
            mscale_all_dim=0.8, original_max_position_embeddings=24)), DEEPSEEK_V2),
    "deepseek-v2-lite": ("DeepseekV2ForCausalLM", small_llama(
        num_attention_heads=3, num_key_value_heads=3, q_lora_rank=None, kv_lora_rank=10, qk_nope_head_dim=4,
        qk_rope_head_dim=6, v_head_dim=12, n_routed_experts=5, num_experts_per_tok=2, moe_intermediate_size=6,
        n_shared_experts=1), DEEPSEEK_V2),
    "deepseek-v3": ("DeepseekV3ForCausalLM", small_llama(
        num_attention_heads=4, num_key_value_heads=4, q_lora_rank=14, kv_lora_rank=10, qk_nope_head_dim=6,
        qk_rope_head_dim=4, v_head_dim=7, n_routed_experts=9, num_experts_per_tok=3, moe_intermediate_size=6,
        n_shared_experts=2, first_k_dense_replace=0, routed_scaling_factor=1.7, n_group=3, topk_group=2,
        rope_parameters=dict(rope_type="yarn", rope_theta=500.0, factor=4.0, beta_fast=4.0, beta_slow=1.0, mscale=1.0,
                             mscale_all_dim=1.0, original_max_position_embeddings=24)), DEEPSEEK_V3),
    "deepseek-v3-halves": ("DeepseekV3ForCausalLM", small_llama(
        num_attention_heads=3, num_key_value_heads=3, q_lora_rank=None, kv_lora_rank=10, qk_nope_head_dim=4,
        qk_rope_head_dim=6, v_head_dim=12, n_routed_experts=6, num_experts_per_tok=2, moe_intermediate_size=6,
        n_shared_experts=1, first_k_dense_replace=1, n_group=1, topk_group=1, norm_topk_prob=False,
        rope_interleave=False), DEEPSEEK_V3),
    "llama4": ("Llama4ForCausalLM", small_llama(
        head_dim=10, num_hidden_layers=3, intermediate_size=10, intermediate_size_mlp=14, num_local_experts=5,
        num_experts_per_tok=2, interleave_moe_layer_step=2, no_rope_layers=[1, 0, 1], attention_chunk_size=7,
        floor_scale=4, attn_scale=0.4), LLAMA4.replace("moe_layers ", "").replace("layer_types ", "")),
    "llama4-plain": ("Llama4ForCausalLM", small_llama(
        head_dim=6, intermediate_size=10, intermediate_size_mlp=14, num_local_experts=3, num_experts_per_tok=1,
        moe_layers=[0], no_rope_layer_interval=2, attention_chunk_size=None, attn_temperature_tuning=False,
        use_qk_norm=False, attention_bias=True), LLAMA4.replace("no_rope_layers ", "")),
    "olmoe": ("OlmoeForCausalLM", small_llama(intermediate_size=10, num_experts=6, num_experts_per_tok=3), OLMOE),
    "llama-rope-proportional": ("LlamaForCausalLM", scaled_llama(dict(
        rope_type="proportional", factor=1.5, partial_rotary_factor=0.6), 32), LLAMA),
}

# Published configurations say these; transformers 5 drops them on reading or writes them back differently.
WRITTEN_OTHERWISE = {
    "gpt-oss-mxfp4": {"quantization_config": {"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]}},
    "qwen2": {"sliding_window": 5},  # to be ignored: use_sliding_window is false
    "t5-gated": {"tie_word_embeddings": False},  # says that lm_head is separate and that decoder states are not scaled
}

PADDED = ("distilbert", "llama", "modernbert", "deberta", "deberta-v2")

# Modules that read the input of self-attention and the query side of cross-attention (group: layer).
SELF_READER = (r"\.(\d+)\.(?:attention\.q_lin|attention\.self\.query|attn\.c_attn|self_attn\.q_proj|self_attn\.q_a_proj"
               r"|self_attention\.query_key_value|layer\.0\.SelfAttention\.q|attn\.attention\.q_proj|attn\.q_proj"
               r"|attention\.query_key_value|attention\.self\.(?:in|value)_proj|self_attn\.qkv_proj|attn\.Wqkv|attention\.attn\.q)$")
CROSS_READER = r"\.(\d+)\.(?:layer\.1\.EncDecAttention\.q|encoder_attn\.q_proj)$"


def model_of(family, seed):
    name, settings, _ = FAMILIES[family]
    cls = getattr(transformers, name)
    words = {} if "text_config" in settings else dict(vocab_size=WORDS)
    model = cls(cls.config_class(**words, **settings)).eval()
    if family == "t5-gated":  # version 1.1 keeps its own output matrix
        model.lm_head.weight = torch.nn.Parameter(torch.empty_like(model.lm_head.weight))
        model.all_tied_weights_keys.pop("lm_head.weight")
    norms = {f"{path}.weight" for path, module in model.named_modules() if "Norm" in type(module).__name__}
    drawn = dict(model.named_parameters())
    drawn.update((path, buffer) for path, buffer in model.named_buffers() if path == "final_logits_bias" or path.endswith("e_score_correction_bias"))
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for path, tensor in sorted(drawn.items()):
            noise = torch.randn(tensor.shape, generator=generator)
            if family in ("marian", "roformer") and "embed_positions" in path:
                continue  # sines and cosines
            # Weights large enough that attention is far from uniform; norms near one.
            offset = family.startswith("gemma")
            centre = 0 if offset else 1
            tensor.copy_(centre + 0.2 * noise if path in norms else 0.3 * noise)
            if "relative_attention_bias" in path or "rel_embeddings" in path:
                tensor.copy_(noise)
    return model


def write_model(family, model, out):
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        tensors = pathlib.Path(folder) / "model.safetensors"
        if family == "gpt-oss-mxfp4":
            quantise(tensors, generator=torch.Generator().manual_seed(4))
        shutil.copyfile(tensors, out / "model.safetensors")
    everything = dict(model.config.to_dict(), architectures=[FAMILIES[family][0]])
    everything.update(WRITTEN_OTHERWISE.get(family, {}))
    settings = {key: everything[key] for key in FAMILIES[family][2].split() if key in everything}
    if "text_config" in settings:  # of which the same keys matter as in a model of text alone
        settings["text_config"] = {key: value for key, value in settings["text_config"].items() if key in GEMMA2.split()}
        settings["vision_config"] = {key: settings["vision_config"][key] for key in FAMILIES[family][1]["vision_config"]}
    (out / "config.json").write_text(json.dumps(settings, indent=2) + "\n")
    if "rope_parameters" in settings and family != "nomic-bert":
        (out / "config_legacy.json").write_text(json.dumps(legacy_spelling(settings), indent=2) + "\n")


def quantise(path, generator):
    """Random MXFP4 numbers in the place of the experts' weights, as the published checkpoints store them: by rows of
    outputs, two numbers in a byte, a power of two for every 32."""
    tensors = load_file(path)
    for name in [name for name in tensors if name.endswith(("experts.gate_up_proj", "experts.down_proj"))]:
        experts, inputs, outputs = tensors.pop(name).shape
        rows = experts, outputs, inputs // 32
        tensors[f"{name}_blocks"] = torch.randint(0, 256, (*rows, 16), generator=generator, dtype=torch.uint8)
        tensors[f"{name}_scales"] = torch.randint(122, 126, rows, generator=generator, dtype=torch.uint8)
    save_file(tensors, path, {"format": "pt"})


def legacy_spelling(settings):
    """Before transformers 5: rope_theta on its own, rope_scaling null or without theta; the oldest say "type"."""
    scaling = dict(settings["rope_parameters"])
    if settings["model_type"] == "nomic_bert":
        return published_nomic(settings)
    legacy = {key: value for key, value in settings.items() if key != "rope_parameters"}
    if "full_attention" in scaling:
        everywhere, local = dict(scaling["full_attention"]), scaling["sliding_attention"]["rope_theta"]
        theta = everywhere.pop("rope_theta")
        if settings["model_type"] == "olmo3":  # one base, and what is scaled are the layers without a window
            return dict(legacy, rope_theta=theta, rope_scaling=everywhere)
        if settings["model_type"] == "modernbert":
            return dict(legacy, global_rope_theta=theta, local_rope_theta=local)
        return dict(legacy, rope_theta=theta, rope_local_base_freq=local, rope_scaling=everywhere)
    if settings["model_type"] == "gpt_neox":
        return dict(legacy, rotary_emb_base=scaling["rope_theta"], rotary_pct=scaling["partial_rotary_factor"])
    if "partial_rotary_factor" in scaling:
        legacy["partial_rotary_factor"] = scaling.pop("partial_rotary_factor")
    legacy["rope_theta"] = scaling.pop("rope_theta")
    if scaling["rope_type"] == "default":
        return dict(legacy, rope_scaling=None)
    if scaling["rope_type"] in ("linear", "dynamic", "yarn"):
        scaling = dict(type=scaling.pop("rope_type"), **scaling)
    return dict(legacy, rope_scaling=scaling)


def published_nomic(settings):
    """Of the code beside the published checkpoints, in GPT-2's words; transformers cannot read it."""
    spelled = dict(n_embd="hidden_size", n_layer="num_hidden_layers", n_head="num_attention_heads",
                   n_inner="intermediate_size", n_positions="max_position_embeddings",
                   layer_norm_epsilon="layer_norm_eps")
    kept = {key: settings[key] for key in ("model_type", "vocab_size", "type_vocab_size")}
    return dict(kept, architectures=["NomicBertForPreTraining"], activation_function="swiglu",
                rotary_emb_base=settings["rope_parameters"]["rope_theta"], rotary_emb_fraction=1.0,
                rotary_emb_interleaved=False, rotary_emb_scale_base=None, rotary_scaling_factor=None,
                max_trained_positions=settings["max_position_embeddings"], qkv_proj_bias=False, mlp_fc1_bias=False,
                mlp_fc2_bias=False, prenorm=False, parallel_block=False, parallel_block_tied_norm=False,
                use_rms_norm=False, causal=False, pad_vocab_size_multiple=4,
                **{key: settings[one] for key, one in spelled.items()})


def read_model(family, out, config_file="config.json"):
    cls = getattr(transformers, FAMILIES[family][0])
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(out / config_file, pathlib.Path(folder) / "config.json")
        shutil.copy(out / "model.safetensors", folder)
        model, report = cls.from_pretrained(folder, attn_implementation="eager", experts_implementation="eager",
                                            dtype=torch.float32, output_loading_info=True)
    left_over = {key: value for key, value in report.items() if value}
    assert not left_over, (family, left_over)
    return model.eval()


class Witness:
    """Notes what attention modules read and the position terms they add, by stack and layer."""

    def __init__(self, model):
        self.seen = {}
        for path, module in model.named_modules():
            stack = next((f"{side}_" for side in ("encoder", "decoder") if f"{side}." in path), "")
            stack = stack if model.config.is_encoder_decoder else ""
            if found := re.search(SELF_READER, path):
                self.watch(module, f"{stack}attention_input", int(found.group(1)))
            elif found := re.search(CROSS_READER, path):
                self.watch(module, "cross_attention_input", int(found.group(1)))
            elif path.endswith("albert_layers.0.attention.query"):  # one module for all layers
                module.register_forward_pre_hook(
                    lambda _, inputs: self.seen.update({("attention_input", len(self.seen)): inputs[0]}))
            elif path.endswith("block.0.layer.0.SelfAttention"):
                module.register_forward_hook(
                    lambda _, inputs, output, stack=stack: self.seen.update({(f"{stack}position_bias", 0): output[1]}))
            elif path.endswith("h.0.self_attention"):
                module.register_forward_pre_hook(
                    lambda _, inputs, named: self.seen.update({("alibi", 0): named["alibi"]}), with_kwargs=True)

    def watch(self, module, name, layer):
        module.register_forward_pre_hook(lambda _, inputs: self.seen.update({(name, layer): inputs[0]}))

    def layers(self, name):
        return torch.stack([value for (kind, _), value in sorted(self.seen.items()) if kind == name], 1)


def single_stack(model, ids, mask):
    witness = Witness(model)
    with torch.no_grad():
        out = model(input_ids=ids, attention_mask=mask, output_hidden_states=True, output_attentions=True)
    count = ids.shape[1]
    found = {
        "hidden_states": torch.stack(out.hidden_states, 1), "attentions": torch.stack(out.attentions, 1),
        "attention_input": witness.layers("attention_input"), "logits": out.logits,
    }
    found = {name: value[0] for name, value in found.items()}
    if witness.seen.get(("alibi", 0)) is not None:
        found["position_bias"] = witness.seen["alibi", 0][:model.config.n_head].expand(-1, count, -1)
    inner = getattr(model, "gpt_neox", getattr(model, "nomic_bert", getattr(model, "model", None)))
    rotary = getattr(inner, "rotary_emb", None)
    if hasattr(rotary, "inv_freq"):
        found["inv_freq"] = rotary.inv_freq
        found["rope_factor"] = torch.tensor([float(rotary.attention_scaling)])
    return found


def encoder_decoder(model, ids, decoder_ids):
    witness = Witness(model)
    with torch.no_grad():
        out = model(input_ids=ids, decoder_input_ids=decoder_ids, output_hidden_states=True, output_attentions=True,
                    use_cache=False)
    found = {"logits": out.logits[0], "decoder_ids": decoder_ids[0].to(torch.int32)}
    for name in ("encoder_hidden_states", "decoder_hidden_states", "encoder_attentions", "decoder_attentions",
                 "cross_attentions"):
        found[name] = torch.stack(getattr(out, name), 1)[0]
    for name in ("encoder_attention_input", "decoder_attention_input", "cross_attention_input"):
        found[name] = witness.layers(name)[0]
    for name in ("encoder_position_bias", "decoder_position_bias"):
        if (name, 0) in witness.seen:
            found[name] = witness.seen[name, 0][0]
    return found


def first_rows(found, count):
    """Keeps the first tokens of the padded case; inv_freq and rope_factor have no token axis."""
    keep = {"attentions": lambda x: x[..., :count, :count], "position_bias": lambda x: x[..., :count, :count],
            "hidden_states": lambda x: x[..., :count, :], "attention_input": lambda x: x[..., :count, :],
            "logits": lambda x: x[:count]}
    return {name: keep.get(name, lambda x: x)(value) for name, value in found.items()}


def expected_of(family, out, seed, config_file="config.json"):
    generator = torch.Generator().manual_seed(seed + 100)
    full = torch.randint(5, WORDS - 2, (1, FULL), generator=generator)
    decoder = torch.randint(5, WORDS - 2, (1, DECODER_FULL), generator=generator)
    short = full[:, 10:10 + SHORT]
    expected = {}
    for case, ids, decoder_ids in (("short", short, decoder[:, 3:3 + DECODER_SHORT]), ("full", full, decoder),
                                   ("padded", short, None)):
        if case == "padded" and family not in PADDED:
            continue
        # A fresh model for every case: dynamic rotary frequencies depend on what the model saw before.
        model = read_model(family, out, config_file)
        if model.config.is_encoder_decoder:
            found = encoder_decoder(model, ids, decoder_ids)
        elif case == "padded":
            pad = model.config.pad_token_id or 0
            batch = torch.cat([torch.nn.functional.pad(short, (0, FULL - SHORT), value=pad), full])
            mask = torch.ones_like(batch)
            mask[0, SHORT:] = 0
            found = first_rows(single_stack(model, batch, mask), SHORT)
        else:
            found = single_stack(model, ids, torch.ones_like(ids))
        expected[f"{case}.ids"] = ids[0].to(torch.int32).contiguous()
        expected.update((f"{case}.{name}", value.clone().contiguous()) for name, value in found.items())
    return expected


def main(folder, *only):
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    for seed, family in enumerate(FAMILIES, 1):
        if only and family not in only:
            continue
        out = pathlib.Path(folder) / family
        out.mkdir(parents=True, exist_ok=True)
        write_model(family, model_of(family, seed), out)
        expected = expected_of(family, out, seed)
        save_file(expected, out / "expected.safetensors")
        if (out / "config_legacy.json").exists() and family != "nomic-bert-published":
            legacy = expected_of(family, out, seed, "config_legacy.json")
            assert all(torch.equal(expected[name], legacy[name]) for name in expected), family


if __name__ == "__main__":
    main(*sys.argv[1:])
