// Decoders: GPT-2 and Bloom.

#include <fmt/format.h>

#include "model_family.h"

namespace headwave {

namespace {

const char* first_of(const ModelConfig& config, const char* key, const char* other) {
  return config.has(other) && !config.has(key) ? other : key;
}

}  // namespace

ModelMap gpt2_map(const ModelConfig& config, const HasTensor& has) {
  config.require("is_causal", true);
  config.require("scale_attn_by_inverse_layer_idx", false);
  config.require("add_cross_attention", false);
  const std::string prefix = prefix_before({"", "transformer."}, {"wte.weight", "wpe.weight"}, has);
  const std::string at = prefix + "h.{layer}.";

  ModelMap map;
  StackMap& stack = map.stack;
  stack.layers = config.size("n_layer");
  stack.vocabulary = config.size("vocab_size");
  stack.d_model = config.size("n_embd");
  stack.d_feed_forward = config.size_or("n_inner", 4 * stack.d_model);
  stack.norm_eps = static_cast<float>(config.positive_or("layer_norm_epsilon", 1e-5));
  stack.in_out = true;
  stack.block.norm_place = NormPlace::pre;
  stack.block.activation = config.activation("activation_function", "gelu_new");
  stack.block.causal = true;
  set_heads(stack, config, "n_head", nullptr, 0);
  if (!config.flag_or("scale_attn_weights", true)) stack.block.score_scale = 1;

  stack.words = prefix + "wte.weight";
  stack.positions.kind = PositionKind::table;
  stack.positions.table = prefix + "wpe.weight";
  stack.positions.rows = config.size(first_of(config, "n_positions", "n_ctx"));
  const TensorNames fused = weight_and_bias(at + "attn.c_attn");
  stack.self = {fused, fused, fused, weight_and_bias(at + "attn.c_proj"), Fusion::qkv};
  stack.self_norm = weight_and_bias(at + "ln_1");
  stack.widen = weight_and_bias(at + "mlp.c_fc");
  stack.narrow = weight_and_bias(at + "mlp.c_proj");
  stack.feed_forward_norm = weight_and_bias(at + "ln_2");
  stack.final_norm = weight_and_bias(prefix + "ln_f");

  map.longest = stack.positions.rows;
  map.prediction.words = causal_head(config, has, stack.words, true);
  map.ignored = {prefix + "h.*.attn.bias", prefix + "h.*.attn.masked_bias"};  // masks
  return map;
}

ModelMap bloom_map(const ModelConfig& config, const HasTensor& has) {
  config.require("is_causal", true);
  config.require("apply_residual_connection_post_layernorm", false);
  const std::string prefix = prefix_before({"", "transformer."}, {"word_embeddings.weight"}, has);
  const std::string at = prefix + "h.{layer}.";

  ModelMap map;
  StackMap& stack = map.stack;
  stack.layers = config.size(first_of(config, "n_layer", "num_hidden_layers"));
  stack.vocabulary = config.size("vocab_size");
  stack.d_model = config.size(first_of(config, "hidden_size", "n_embed"));
  stack.d_feed_forward = 4 * stack.d_model;
  stack.norm_eps = static_cast<float>(config.positive_or("layer_norm_epsilon", 1e-5));
  stack.block.norm_place = NormPlace::pre;
  stack.block.activation = Activation::gelu_tanh;
  stack.block.causal = true;
  set_heads(stack, config, first_of(config, "n_head", "num_attention_heads"), nullptr, 0);

  stack.words = prefix + "word_embeddings.weight";
  stack.embedding_norm = weight_and_bias(prefix + "word_embeddings_layernorm");
  stack.positions.kind = PositionKind::linear_bias;
  const TensorNames fused = weight_and_bias(at + "self_attention.query_key_value");
  stack.self = {fused, fused, fused, weight_and_bias(at + "self_attention.dense"), Fusion::qkv_by_head};
  stack.self_norm = weight_and_bias(at + "input_layernorm");
  stack.widen = weight_and_bias(at + "mlp.dense_h_to_4h");
  stack.narrow = weight_and_bias(at + "mlp.dense_4h_to_h");
  stack.feed_forward_norm = weight_and_bias(at + "post_attention_layernorm");
  stack.final_norm = weight_and_bias(prefix + "ln_f");

  map.prediction.words = causal_head(config, has, stack.words, true);
  return map;
}

}  // namespace headwave
