"""TransformerLens' HookedTransformer: its own weights, folded or not, as those of a GPT-2."""

from __future__ import annotations

import json
from typing import Any

import torch

from .errors import FormatError

# What a GPT-2 has, by the names of its cfg; another value would change the numbers.
_ASKED: dict[str, tuple] = {
    "attention_dir": ("causal",),
    "positional_embedding_type": ("standard",),
    "normalization_type": ("LN", "LNPre"),
    "act_fn": ("gelu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh", "relu", "silu"),
    "n_key_value_heads": (None,),
    "parallel_attn_mlp": (False,),
    "gated_mlp": (False,),
    "num_experts": (None,),
    "use_local_attn": (False,),
    "use_qk_norm": (False,),
    "post_embedding_ln": (False,),
    "use_normalization_before_and_after": (False,),
    "scale_attn_by_inverse_layer_idx": (False,),
    "use_split_qkv_input": (False,),
    "use_attn_in": (False,),
    "attn_scores_soft_cap": (-1, None),
    "use_logn_attn": (False,),
    "use_attention_sinks": (False,),
    "clip_qkv": (None,),
}


def is_hooked(module: Any) -> bool:
    """Whether it is a HookedTransformer: blocks with weights by head."""
    return hasattr(module, "run_with_cache") and hasattr(getattr(module, "cfg", None), "d_head") and any(
        name.endswith("attn.W_Q") for name, _ in module.named_parameters())


def hooked(module: Any) -> tuple[str, dict[str, torch.Tensor], dict[int, str]]:
    """Its config as that of a GPT-2, its weights by that one's names, and the modules that read normed states, by layer.

    Raises:
        FormatError: it is built otherwise than a GPT-2; its cache (run_with_cache) can be given as states.
    """
    cfg, called = module.cfg, type(module).__name__
    asked = dict(_ASKED)
    if cfg.attn_only:
        del asked["act_fn"]
    for name, allowed in asked.items():
        value = getattr(cfg, name, allowed[0])
        if value not in allowed and not (name == "n_key_value_heads" and value == cfg.n_heads):
            raise FormatError(f"{called}: its cfg says {name}={value!r}, which is not followed; expected {allowed[0]!r}; give its "
                              "cache: headwave.run(states=model.run_with_cache(ids)[1])")
    usual = cfg.d_head ** 0.5 if cfg.use_attn_scale else 1.0
    scale = cfg.attn_scale if cfg.use_attn_scale and (cfg.attn_scale or -1) > 0 else usual
    if cfg.n_heads * cfg.d_head != cfg.d_model or abs(scale - usual) > 1e-9 * usual:
        raise FormatError(f"{called}: {cfg.n_heads} heads of {cfg.d_head}, scores divided by {scale:g}; expected {cfg.d_model} / heads "
                          f"and {usual:g}; give its cache: headwave.run(states=model.run_with_cache(ids)[1])")
    config = {"model_type": "gpt2", "n_layer": cfg.n_layers, "n_head": cfg.n_heads, "n_embd": cfg.d_model,
              "n_inner": 1 if cfg.attn_only else cfg.d_mlp, "n_positions": cfg.n_ctx, "vocab_size": cfg.d_vocab,
              "activation_function": "relu" if cfg.attn_only else cfg.act_fn, "layer_norm_epsilon": float(cfg.eps),
              "scale_attn_weights": bool(cfg.use_attn_scale), "tie_word_embeddings": False}
    return json.dumps(config), _weights(module), {layer: f"blocks.{layer}.attn" for layer in range(cfg.n_layers)}


def _weights(module: Any) -> dict[str, torch.Tensor]:
    cfg = module.cfg
    own = {name: tensor.detach().float().cpu() for name, tensor in module.state_dict().items()}
    found = {"wte.weight": own["embed.W_E"], "wpe.weight": own["pos_embed.W_pos"], "lm_head.weight": own["unembed.W_U"].T}

    def norm(theirs: str, ours: str) -> None:  # LNPre has no weights: they are folded into what comes after
        found[ours + ".weight"] = own.get(theirs + ".w", torch.ones(cfg.d_model))
        found[ours + ".bias"] = own.get(theirs + ".b", torch.zeros(cfg.d_model))

    norm("ln_final", "ln_f")
    for layer in range(cfg.n_layers):
        theirs, ours = f"blocks.{layer}.", f"h.{layer}."
        norm(theirs + "ln1", ours + "ln_1")
        norm(theirs + "ln2", ours + "ln_2")
        attention = theirs + "attn."
        found[ours + "attn.c_attn.weight"] = torch.cat(
            [own[attention + name].transpose(0, 1).flatten(1) for name in ("W_Q", "W_K", "W_V")], 1)
        found[ours + "attn.c_attn.bias"] = torch.cat([own[attention + name].flatten() for name in ("b_Q", "b_K", "b_V")])
        found[ours + "attn.c_proj.weight"] = own[attention + "W_O"].flatten(0, 1)
        found[ours + "attn.c_proj.bias"] = own[attention + "b_O"]
        empty = {"W_in": torch.zeros(cfg.d_model, 1), "b_in": torch.zeros(1), "W_out": torch.zeros(1, cfg.d_model),
                 "b_out": torch.zeros(cfg.d_model)}
        for place, (weight, bias) in {"c_fc": ("W_in", "b_in"), "c_proj": ("W_out", "b_out")}.items():
            found[f"{ours}mlp.{place}.weight"] = own.get(f"{theirs}mlp.{weight}", empty[weight])
            found[f"{ours}mlp.{place}.bias"] = own.get(f"{theirs}mlp.{bias}", empty[bias])
    return found
