// Decoders of Llama's build: RMS norms, rotary positions, gated feed-forward. What each family adds to that: Mistral and
// Phi-3 a window, Qwen2 biases, Qwen3 and OLMo-2 norms of queries and keys, Gemma 1 to 3 offsets, caps and local layers,
// Granite multipliers, SmolLM3 layers that nothing turns.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../files/printable.h"
#include "model_family.h"

namespace headwave {

namespace {

bool is_gemma(const std::string& family) {
  return family.starts_with("gemma");
}

/// Key-value heads where config.json does not say; 0: as many as heads.
Index usual_kv_heads(const std::string& family) {
  if (family == "mistral") return 8;
  if (family == "qwen2" || family == "qwen3") return 32;
  if (family == "gemma") return 16;
  return is_gemma(family) || family == "smollm3" ? 4 : 0;
}

Activation llama_activation(const ModelConfig& config, const std::string& family) {
  if (family == "gemma2" || family == "gemma3_text") return config.activation("hidden_activation", "gelu_pytorch_tanh");
  if (family != "gemma") return config.activation("hidden_act", "silu");
  // Early Gemma says gelu and means its approximation.
  const std::string said = config.text_or("hidden_act", "gelu_pytorch_tanh");
  const Activation activation =
      said == "gelu" ? Activation::gelu_tanh : config.activation("hidden_act", "gelu_pytorch_tanh");
  if (config.has("hidden_activation") && config.activation("hidden_activation", "") != activation)
    config.fail("'hidden_activation' and 'hidden_act' name different activations; expected one");
  return activation;
}

/// A cap that is 0 where the config says null, and as published where it says nothing.
double cap_of(const ModelConfig& config, const char* key, double usual) {
  return config.is_null(key) ? 0 : config.positive_or(key, usual);
}

/// Layers that look no further than the window, where the config does not list them.
std::vector<Index> usual_local_layers(const ModelConfig& config, const std::string& family, Index layers) {
  std::vector<Index> local;
  const Index pattern = family == "gemma2"        ? 2
                        : family == "gemma3_text" ? config.size_or("sliding_window_pattern", 6)
                                                  : 0;
  const Index first = config.size_or("max_window_layers", 28, 0);
  for (Index layer = 0; layer < layers; ++layer)
    if (pattern > 0 ? (layer + 1) % pattern != 0 : layer >= first) local.push_back(layer);
  return local;
}

void set_windows(const ModelConfig& config, const std::string& family, StackMap& stack) {
  // Null says that there is none; where nothing is said the published code takes 4096.
  const bool always = family == "mistral" || family == "phi3";
  if (always) {
    if (!config.is_null("sliding_window"))
      stack.block.window = config.size_or("sliding_window", family == "mistral" ? 4096 : 0, 1);
    return;
  }
  const bool by_switch = family == "qwen2" || family == "qwen3" || family == "smollm3";
  if (!is_gemma(family) && !by_switch) return;
  if (family == "gemma") return;
  if (by_switch && !config.flag_or("use_sliding_window", false)) {
    if (config.has("layer_types") && !local_layers(config, stack.layers).empty())
      config.fail("'layer_types' has sliding_attention, but 'use_sliding_window' is false; expected both or neither");
    return;
  }
  require_few_layers(config, stack.layers);
  std::vector<Index> local;
  if (config.has("layer_types")) {
    local = local_layers(config, stack.layers);
  } else if (family == "smollm3") {
    local = stack.others.layers;
  } else {
    local = usual_local_layers(config, family, stack.layers);
  }
  if (local.empty() || (family == "smollm3" && !config.has("sliding_window"))) return;
  if (config.is_null("sliding_window")) config.fail("'sliding_window' is null, but some layers are to have one");
  const Index window = config.size_or("sliding_window", 4096);
  if (family == "smollm3" && local != stack.others.layers)
    config.fail(
        "'layer_types' gives a window to other layers than 'no_rope_layers' leaves unturned; expected the same");
  if (family != "smollm3") {
    stack.others.layers = local;
    stack.others.positions = stack.positions;
    if (family == "gemma3_text") {
      RotaryDefaults usual{10000, "rope_local_base_freq", "sliding_attention"};
      usual.scaled = false;
      stack.others.positions.rotary = rotary_options(config, stack.block.d_head, usual);
    }
  }
  stack.others.window = window;
}

/// Gemma 3 turns local layers by another base.
void set_rotations(const ModelConfig& config, const std::string& family, StackMap& stack) {
  stack.positions.kind = PositionKind::rotary;
  RotaryDefaults usual;
  if (family == "smollm3") usual.base = 2000000;
  usual.partial = family == "phi3";
  if (family == "gemma3_text") usual = {1000000, "rope_theta", "full_attention"};
  stack.positions.rotary = rotary_options(config, stack.block.d_head, usual);
  if (family == "phi3" && stack.positions.rotary.scaling != RotaryScaling::none)
    config.fail("its rotary positions are scaled, which is not known of a phi3; expected rope type default");
  if (family == "smollm3") {
    require_few_layers(config, stack.layers);
    const Index every = config.size_or("no_rope_layer_interval", 4);
    const std::vector<std::string> turned =
        config.has("no_rope_layers") ? config.by_layer("no_rope_layers", stack.layers) : std::vector<std::string>{};
    for (Index layer = 0; layer < stack.layers; ++layer)
      if (turned.empty() ? (layer + 1) % every == 0 : turned[static_cast<std::size_t>(layer)] == "0")
        stack.others.layers.push_back(layer);
  }
}

/// What Gemma, Granite, Qwen3 and OLMo-2 put beside Llama's arithmetic.
void set_additions(const ModelConfig& config, const std::string& family, const std::string& at, ModelMap& map) {
  StackMap& stack = map.stack;
  if (is_gemma(family)) {
    require_off(config, "use_bidirectional_attention");
    stack.norm_offset = 1;
    stack.word_scale = std::sqrt(static_cast<float>(stack.d_model));
  }
  if (family == "gemma2" || family == "gemma3_text") {
    const bool second = family == "gemma2";
    stack.block.score_scale = 1 / std::sqrt(config.positive_or("query_pre_attn_scalar", 256));
    const double cap = cap_of(config, "attn_logit_softcapping", second ? 50 : 0);
    stack.block.soft_cap = second ? cap : 0;  // transformers reads it of a Gemma 3, but does not apply it
    map.prediction.soft_cap = static_cast<float>(cap_of(config, "final_logit_softcapping", second ? 30 : 0));
    stack.self_added_norm = weight_alone(at + "post_attention_layernorm");
    stack.feed_forward_norm = weight_alone(at + "pre_feedforward_layernorm");
    stack.feed_forward_added_norm = weight_alone(at + "post_feedforward_layernorm");
  }
  if (family == "olmo2") {
    stack.self_norm = stack.feed_forward_norm = {};
    stack.self_added_norm = weight_alone(at + "post_attention_layernorm");
    stack.feed_forward_added_norm = weight_alone(at + "post_feedforward_layernorm");
    stack.norm_by_head = false;
  }
  if (family == "qwen3" || family == "gemma3_text" || family == "olmo2") {
    stack.query_norm = weight_alone(at + "self_attn.q_norm");
    stack.key_norm = weight_alone(at + "self_attn.k_norm");
  }
  if (family == "granite") {
    stack.word_scale = static_cast<float>(config.positive_or("embedding_multiplier", 1));
    stack.block.residual_scale = static_cast<float>(config.positive_or("residual_multiplier", 1));
    stack.block.score_scale = config.positive_or("attention_multiplier", 1);
    map.prediction.state_scale = static_cast<float>(1 / config.positive_or("logits_scaling", 1));
  }
}

}  // namespace

ModelMap llama_map(const ModelConfig& config, const HasTensor& has) {
  config.require("is_causal", true);
  const std::string family = config.family();
  const std::string prefix =
      prefix_before({"model.", "", "language_model.model.", "model.language_model."}, {"embed_tokens.weight"}, has);
  const std::string at = prefix + "layers.{layer}.";
  const auto linear = [&](const std::string& name, bool bias) {
    return bias ? weight_and_bias(at + name) : weight_alone(at + name);
  };

  ModelMap map;
  StackMap& stack = map.stack;
  set_sizes(stack, config);
  stack.norm = NormKind::rms;
  const bool coarse = family == "phi3" || family == "olmo2";
  stack.norm_eps = static_cast<float>(config.positive_or("rms_norm_eps", coarse ? 1e-5 : 1e-6));
  stack.block.norm_place = NormPlace::pre;
  stack.block.activation = llama_activation(config, family);
  stack.block.causal = true;
  set_heads(stack, config, "num_attention_heads", "head_dim",
            config.size_or("num_key_value_heads", usual_kv_heads(family)),
            is_gemma(family)    ? 256
            : family == "qwen3" ? 128
                                : 0);

  stack.words = prefix + "embed_tokens.weight";
  set_rotations(config, family, stack);
  set_windows(config, family, stack);
  const bool biases = config.flag_or("attention_bias", false);
  const bool qkv_biases = biases || family == "qwen2";
  stack.self = {linear("self_attn.q_proj", qkv_biases), linear("self_attn.k_proj", qkv_biases),
                linear("self_attn.v_proj", qkv_biases), linear("self_attn.o_proj", biases)};
  stack.self_norm = weight_alone(at + "input_layernorm");
  const bool mlp_biases = config.flag_or("mlp_bias", false);
  stack.gate = linear("mlp.gate_proj", mlp_biases);
  stack.widen = linear("mlp.up_proj", mlp_biases);
  stack.narrow = linear("mlp.down_proj", mlp_biases);
  if (family == "phi3") {
    const TensorNames fused = linear("self_attn.qkv_proj", biases);
    stack.self = {fused, fused, fused, stack.self.output, Fusion::qkv};
    stack.gate = stack.widen = linear("mlp.gate_up_proj", mlp_biases);
  }
  stack.feed_forward_norm = weight_alone(at + "post_attention_layernorm");
  stack.final_norm = weight_alone(prefix + "norm");

  // Rotary positions know no end, but the model was not made for more.
  const Index longest = config.size_or("max_position_embeddings", 0, 1);
  map.longest = stack.positions.rotary.scaling == RotaryScaling::dynamic ? 0 : longest;
  map.prediction.words = causal_head(config, has, stack.words, is_gemma(family) || family == "smollm3");
  set_additions(config, family, at, map);
  map.ignored = {"*rotary_emb.inv_freq"};
  return map;
}

}  // namespace headwave
