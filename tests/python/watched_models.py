"""Tiny random models of transformers with large weights, for tests of headwave.watch, and what they are called with."""

import torch
import transformers as T

# Implementations of attention; flex_attention where transformers has it for the model, on a CPU and in batches.
BOTH, EAGER = ("sdpa", "eager"), ("eager",)
ALL, FLEX = ("sdpa", "eager", "flex_attention"), ("eager", "flex_attention")

SIZE = dict(vocab_size=64, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, initializer_range=0.6, pad_token_id=0,
            bos_token_id=1, eos_token_id=2)
GROUPED = dict(SIZE, num_key_value_heads=2)
WIDE = dict(GROUPED, head_dim=8)
MIXED = dict(layer_types=["sliding_attention", "full_attention"], sliding_window=9)
CODER = dict(vocab_size=64, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=48,
             decoder_ffn_dim=48, init_std=0.6, pad_token_id=0)
GPT = dict(vocab_size=64, n_positions=64, n_embd=32, n_layer=2, n_head=4, initializer_range=0.6, bos_token_id=1, eos_token_id=2)
TEXT = dict(SIZE, max_position_embeddings=64)
IMAGE = dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, image_size=24, patch_size=4)

# name: (config, implementations, how many layers have attention)
MODELS = {
    "llama": (lambda: T.LlamaConfig(**GROUPED), ALL, 2),
    "mistral": (lambda: T.MistralConfig(**WIDE, sliding_window=9), ALL, 2),
    "mixtral": (lambda: T.MixtralConfig(**GROUPED, num_local_experts=2), ALL, 2),
    "qwen2": (lambda: T.Qwen2Config(**GROUPED), ALL, 2),
    "qwen3": (lambda: T.Qwen3Config(**WIDE), ALL, 2),
    "qwen3_moe": (lambda: T.Qwen3MoeConfig(**WIDE, moe_intermediate_size=16, num_experts=4, num_experts_per_tok=2), ALL, 2),
    "qwen3_5": (lambda: T.Qwen3_5TextConfig(**dict(WIDE, num_hidden_layers=4), linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=8,
                                            linear_value_head_dim=8), BOTH, 1),
    "gemma": (lambda: T.GemmaConfig(**WIDE), ALL, 2),
    "gemma2": (lambda: T.Gemma2Config(**WIDE, sliding_window=9, query_pre_attn_scalar=8, attn_logit_softcapping=2.0), FLEX, 2),
    "gemma3": (lambda: T.Gemma3TextConfig(**WIDE, sliding_window=9, query_pre_attn_scalar=8), ALL, 2),
    "olmo2": (lambda: T.Olmo2Config(**GROUPED), ALL, 2),
    "olmo3": (lambda: T.Olmo3Config(**GROUPED, **MIXED), ALL, 2),
    "cohere": (lambda: T.CohereConfig(**GROUPED), ALL, 2),
    "cohere2": (lambda: T.Cohere2Config(**GROUPED, **MIXED), ALL, 2),
    "phi": (lambda: T.PhiConfig(**GROUPED), ALL, 2),
    "phi3": (lambda: T.Phi3Config(**GROUPED), ALL, 2),
    "granite": (lambda: T.GraniteConfig(**GROUPED, attention_multiplier=0.3), ALL, 2),
    "smollm3": (lambda: T.SmolLM3Config(**GROUPED), ALL, 2),
    "starcoder2": (lambda: T.Starcoder2Config(**GROUPED), ALL, 2),
    "glm": (lambda: T.GlmConfig(**WIDE), ALL, 2),
    "gpt_neox": (lambda: T.GPTNeoXConfig(**SIZE), ALL, 2),
    "gpt2": (lambda: T.GPT2Config(**GPT), BOTH, 2),
    "gptj": (lambda: T.GPTJConfig(**GPT, rotary_dim=4), ALL, 2),
    "opt": (lambda: T.OPTConfig(vocab_size=64, hidden_size=32, ffn_dim=48, num_hidden_layers=2, num_attention_heads=4, word_embed_proj_dim=32, init_std=0.6,
                                max_position_embeddings=64, pad_token_id=0), ALL, 2),
    "gpt_oss": (lambda: T.GptOssConfig(**WIDE, sliding_window=9, num_local_experts=2, num_experts_per_tok=1), EAGER, 2),
    "deepseek_v3": (lambda: T.DeepseekV3Config(**SIZE, num_key_value_heads=4, q_lora_rank=16, kv_lora_rank=16, qk_rope_head_dim=8, qk_nope_head_dim=8,
                                               v_head_dim=12, n_routed_experts=4, n_group=1, topk_group=1, num_experts_per_tok=2, moe_intermediate_size=16,
                                               first_k_dense_replace=1), ALL, 2),
    "llama4": (lambda: T.Llama4TextConfig(**WIDE, intermediate_size_mlp=48, num_local_experts=2, attention_chunk_size=12, num_experts_per_tok=1), ALL, 2),
    "jamba": (lambda: T.JambaConfig(**dict(GROUPED, num_hidden_layers=4), attn_layer_period=2, attn_layer_offset=1, num_experts=2, use_mamba_kernels=False,
                                    mamba_d_state=4), BOTH, 2),
    "bert": (lambda: T.BertConfig(**SIZE), ALL, 2),
    "roberta": (lambda: T.RobertaConfig(**SIZE), ALL, 2),
    "albert": (lambda: T.AlbertConfig(**SIZE, embedding_size=16), ALL, 2),
    "electra": (lambda: T.ElectraConfig(**SIZE, embedding_size=16), ALL, 2),
    "distilbert": (lambda: T.DistilBertConfig(vocab_size=64, dim=32, hidden_dim=48, n_layers=2, n_heads=4, initializer_range=0.6, pad_token_id=0), ALL, 2),
    "modernbert": (lambda: T.ModernBertConfig(**dict(SIZE, num_hidden_layers=4), local_attention=8, cls_token_id=1, sep_token_id=2), ALL, 4),
    "esm": (lambda: T.EsmConfig(**SIZE, position_embedding_type="rotary", mask_token_id=3), ALL, 2),
    "t5": (lambda: T.T5Config(vocab_size=64, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, initializer_factor=3.0, pad_token_id=0,
                              decoder_start_token_id=0), BOTH, 6),
    "bart": (lambda: T.BartConfig(**CODER, max_position_embeddings=64), ALL, 6),
    "whisper": (lambda: T.WhisperConfig(**CODER, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1, num_mel_bins=8, max_source_positions=20,
                                        max_target_positions=64), ALL, 6),
    "vit": (lambda: T.ViTConfig(**IMAGE, initializer_range=0.6), ALL, 2),
    "clip": (lambda: T.CLIPConfig(text_config=TEXT, vision_config=IMAGE), ALL, 4),
    "siglip_text": (lambda: T.SiglipTextConfig(**TEXT), ALL, 2),
    "siglip_vision": (lambda: T.SiglipVisionConfig(**IMAGE, vision_use_head=False), ALL, 2),
}

# name: (config, what the refusal names)
REFUSED = {
    "falcon": (lambda: T.FalconConfig(**SIZE), "FalconAttention"),
    "bloom": (lambda: T.BloomConfig(vocab_size=64, hidden_size=32, n_layer=2, n_head=4), "BloomAttention"),
    "mpt": (lambda: T.MptConfig(vocab_size=64, d_model=32, n_layers=2, n_heads=4), "MptAttention"),
    "deberta_v2": (lambda: T.DebertaV2Config(**SIZE), "DisentangledSelfAttention"),
    "xlnet": (lambda: T.XLNetConfig(vocab_size=64, d_model=32, n_layer=2, n_head=4, d_inner=48), "XLNetRelativeAttention"),
    "mamba2": (lambda: T.Mamba2Config(vocab_size=64, hidden_size=32, num_heads=8, head_dim=8, state_size=4, n_groups=1, num_hidden_layers=2), "Mamba2Model"),
    "siglip": (lambda: T.SiglipConfig(text_config=TEXT, vision_config=IMAGE), "MultiheadAttention"),
}


def built(config, implementation=None):
    """A model of random weights, the same every time."""
    torch.manual_seed(1)
    model = (T.SiglipTextModel(config) if isinstance(config, T.SiglipTextConfig) else T.AutoModel.from_config(config)).eval()
    torch.manual_seed(2)
    for name, parameter in model.named_parameters():
        if "sinks" in name:
            parameter.data.normal_(0, 1)
        elif type(config).__name__ in ("CLIPConfig", "SiglipTextConfig", "SiglipVisionConfig") and parameter.ndim == 2:
            parameter.data.normal_(0, 0.5)
    if implementation:
        model.set_attn_implementation(implementation)
    return model


def batch():
    """Three documents of 40, 33 and 30 tokens: whole, padded on the left, padded on the right."""
    ids = torch.randint(3, 64, (3, 40), generator=torch.Generator().manual_seed(5))
    mask = torch.ones_like(ids)
    mask[1, :7], mask[2, 30:] = 0, 0
    return ids * mask, mask


def given(name):
    """What a model of a name is called with."""
    ids, mask = batch()
    normal = torch.Generator().manual_seed(3)
    if name in ("vit", "siglip_vision"):
        return {"pixel_values": torch.randn(3, 3, 24, 24, generator=normal)}
    if name == "clip":
        return {"input_ids": ids, "attention_mask": mask, "pixel_values": torch.randn(3, 3, 24, 24, generator=normal)}
    if name == "whisper":
        return {"input_features": torch.randn(3, 8, 40, generator=normal), "decoder_input_ids": ids[:, 7:22]}
    if name in ("t5", "bart"):
        return {"input_ids": ids, "attention_mask": mask, "decoder_input_ids": ids[:, 7:29]}
    return {"input_ids": ids, "attention_mask": mask}


def verdicts():
    """The table of docs/profiles.md: which models watch follows on which implementations."""
    rows = {}
    for config, those, layers in MODELS.values():
        shown = ", ".join(each.removesuffix("_attention") for each in ("eager", "sdpa", "flex_attention") if each in those)
        rows.setdefault(shown, []).append(config)
    rows["refused: attention of their own"] = [config for config, named in REFUSED.values()]
    named = {key: ", ".join(type(config()).__name__.removesuffix("Config") for config in those) for key, those in rows.items()}
    return "\n".join(["| implementations | models |", "|---|---|", *(f"| {key} | {those} |" for key, those in named.items())])
