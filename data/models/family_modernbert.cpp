// ModernBERT: an encoder of Llama's time, global layers among local ones, each with its own rotation.

#include "model_family.h"

namespace headwave {

namespace {

TensorNames with_bias(const std::string& name, bool bias) {
  return bias ? weight_and_bias(name) : weight_alone(name);
}

/// A window that reaches equally far to both sides: |i - j| <= local_attention / 2.
void set_local_layers(const ModelConfig& config, StackMap& stack) {
  require_few_layers(config, stack.layers);
  OthersMap& others = stack.others;
  if (config.has("layer_types")) {
    others.layers = local_layers(config, stack.layers);
  } else {
    const Index every = config.size_or("global_attn_every_n_layers", 3);
    for (Index layer = 0; layer < stack.layers; ++layer)
      if (layer % every != 0) others.layers.push_back(layer);
  }
  stack.positions.kind = PositionKind::rotary;
  stack.positions.rotary = rotary_options(config, stack.block.d_head, {160000, "global_rope_theta", "full_attention"});
  const RotaryOptions local =
      rotary_options(config, stack.block.d_head, {10000, "local_rope_theta", "sliding_attention"});
  const Index window = config.size_or("local_attention", 128) / 2 + 1;
  if (others.layers.empty()) return;
  others.window = window;
  others.positions.kind = PositionKind::rotary;
  others.positions.rotary = local;
}

}  // namespace

ModelMap modernbert_map(const ModelConfig& config, const HasTensor& has) {
  config.require("is_causal", false);
  const std::string prefix = prefix_before({"", "model."}, {"embeddings.tok_embeddings.weight"}, has);
  const std::string at = prefix + "layers.{layer}.";
  const bool norm_bias = config.flag_or("norm_bias", false);

  ModelMap map;
  StackMap& stack = map.stack;
  set_sizes(stack, config);
  stack.norm_eps = static_cast<float>(config.positive_or("norm_eps", 1e-5));
  stack.block.norm_place = NormPlace::pre;
  stack.block.activation = config.activation("hidden_activation", "gelu");
  set_heads(stack, config, "num_attention_heads", nullptr, 0);

  stack.words = prefix + "embeddings.tok_embeddings.weight";
  stack.embedding_norm = with_bias(prefix + "embeddings.norm", norm_bias);
  set_local_layers(config, stack);
  const bool biases = config.flag_or("attention_bias", false), wide_biases = config.flag_or("mlp_bias", false);
  const TensorNames fused = with_bias(at + "attn.Wqkv", biases);
  stack.self = {fused, fused, fused, with_bias(at + "attn.Wo", biases), Fusion::qkv};
  stack.self_norm = with_bias(at + "attn_norm", norm_bias);
  stack.self_norm_from = 1;  // the embeddings' stands before layer 0
  stack.gate = stack.widen = with_bias(at + "mlp.Wi", wide_biases);
  stack.narrow = with_bias(at + "mlp.Wo", wide_biases);
  stack.feed_forward_norm = with_bias(at + "mlp_norm", norm_bias);
  stack.final_norm = with_bias(prefix + "final_norm", norm_bias);

  map.longest = config.size_or("max_position_embeddings", 8192);
  if (has("head.dense.weight")) {
    const bool own = !config.flag_or("tie_word_embeddings", true) && has("decoder.weight");
    map.prediction.transform = with_bias("head.dense", config.flag_or("classifier_bias", false));
    map.prediction.activation = config.activation("classifier_activation", "gelu");
    map.prediction.transform_norm = with_bias("head.norm", norm_bias);
    map.prediction.words = {own ? "decoder.weight" : stack.words,
                            config.flag_or("decoder_bias", true) ? "decoder.bias" : ""};
  }
  return map;
}

}  // namespace headwave
