// Encoder-decoders: T5, and BART with Marian, which has sinusoids for positions and no norm after its embeddings.

#include <cmath>

#include <fmt/format.h>

#include "../files/printable.h"
#include "model_family.h"

namespace headwave {

namespace {

AttentionNames t5_attention(const std::string& at) {
  return {weight_alone(at + ".q"), weight_alone(at + ".k"), weight_alone(at + ".v"), weight_alone(at + ".o")};
}

/// One side of T5; `at` is "encoder" or "decoder".
StackMap t5_stack(const ModelConfig& config, const std::string& at, const std::string& words, Index layers) {
  const bool decoder = at == "decoder";
  const std::string feed_forward = config.text_or("feed_forward_proj", "relu");
  const bool gated = feed_forward.starts_with("gated-");
  StackMap stack;
  stack.layers = layers;
  stack.vocabulary = config.size("vocab_size");
  stack.d_model = config.size("d_model");
  stack.d_feed_forward = config.size("d_ff");
  stack.norm = NormKind::rms;
  stack.norm_eps = static_cast<float>(config.positive_or("layer_norm_epsilon", 1e-6));
  stack.block.norm_place = NormPlace::pre;
  // The published code reads gated-gelu as the tanh form.
  stack.block.activation = feed_forward == "gated-gelu"
                               ? Activation::gelu_tanh
                               : activation_of(gated ? feed_forward.substr(6) : feed_forward, "'feed_forward_proj'");
  stack.block.causal = decoder;
  set_heads(stack, config, "num_heads", "d_kv", 0);
  stack.block.score_scale = 1;

  stack.words = words;
  stack.positions.kind = PositionKind::buckets;
  stack.positions.table = at + ".block.0.layer.0.SelfAttention.relative_attention_bias.weight";
  stack.positions.rows = config.size("relative_attention_num_buckets");
  stack.positions.farthest = config.size_or("relative_attention_max_distance", 128);
  const std::string layer = at + ".block.{layer}.layer.";
  stack.self_norm = weight_alone(layer + "0.layer_norm");
  stack.self = t5_attention(layer + "0.SelfAttention");
  if (decoder) {
    stack.cross_norm = weight_alone(layer + "1.layer_norm");
    stack.cross = t5_attention(layer + "1.EncDecAttention");
  }
  const std::string last = layer + (decoder ? "2." : "1.");
  stack.feed_forward_norm = weight_alone(last + "layer_norm");
  if (gated) stack.gate = weight_alone(last + "DenseReluDense.wi_0");
  stack.widen = weight_alone(last + (gated ? "DenseReluDense.wi_1" : "DenseReluDense.wi"));
  stack.narrow = weight_alone(last + "DenseReluDense.wo");
  stack.final_norm = weight_alone(at + ".final_layer_norm");
  return stack;
}

AttentionNames bart_attention(const std::string& at) {
  return {weight_and_bias(at + ".q_proj"), weight_and_bias(at + ".k_proj"), weight_and_bias(at + ".v_proj"),
          weight_and_bias(at + ".out_proj")};
}

PositionMap bart_positions(const ModelConfig& config, const std::string& table, bool marian, const HasTensor& has) {
  PositionMap positions;
  positions.rows = config.size("max_position_embeddings");
  positions.table = table;
  positions.kind = PositionKind::table;
  if (marian && !has(table)) {
    positions.kind = PositionKind::sinusoids;
    positions.sinusoids.layout = SinusoidLayout::concatenated;
  } else if (!marian) {
    positions.first_row = 2;  // fairseq's padding rows
    positions.rows += positions.first_row;
  }
  return positions;
}

/// One side of BART or Marian; `side` is "encoder" or "decoder".
StackMap bart_stack(const ModelConfig& config, const std::string& prefix, const std::string& side,
                    const HasTensor& has) {
  const bool marian = config.family() == "marian";
  const bool decoder = side == "decoder";
  StackMap stack;
  stack.layers = config.size((side + "_layers").c_str());
  stack.vocabulary = config.size("vocab_size");
  stack.d_model = config.size("d_model");
  stack.d_feed_forward = config.size((side + "_ffn_dim").c_str());
  stack.norm_eps = 1e-5F;  // fixed in the published code
  stack.block.norm_place = NormPlace::post;
  stack.block.activation = config.activation("activation_function", "gelu");
  stack.block.causal = decoder;
  set_heads(stack, config, (side + "_attention_heads").c_str(), nullptr, 0);

  stack.words = prefix + "shared.weight";
  if (config.flag_or("scale_embedding", false))
    stack.word_scale = static_cast<float>(std::sqrt(static_cast<double>(stack.d_model)));
  stack.positions = bart_positions(config, prefix + side + ".embed_positions.weight", marian, has);
  if (!marian) stack.embedding_norm = weight_and_bias(prefix + side + ".layernorm_embedding");
  const std::string at = prefix + side + ".layers.{layer}.";
  stack.self = bart_attention(at + "self_attn");
  stack.self_norm = weight_and_bias(at + "self_attn_layer_norm");
  if (decoder) {
    stack.cross = bart_attention(at + "encoder_attn");
    stack.cross_norm = weight_and_bias(at + "encoder_attn_layer_norm");
  }
  stack.widen = weight_and_bias(at + "fc1");
  stack.narrow = weight_and_bias(at + "fc2");
  stack.feed_forward_norm = weight_and_bias(at + "final_layer_norm");
  return stack;
}

}  // namespace

ModelMap t5_map(const ModelConfig& config, const HasTensor& has) {
  config.require("is_causal", true);
  std::string words = "shared.weight";
  if (!has(words) && has("encoder.embed_tokens.weight")) words = "encoder.embed_tokens.weight";
  const Index layers = config.size("num_layers");
  ModelMap map;
  map.stack = t5_stack(config, "encoder", words, layers);
  map.ignored = {"encoder.embed_tokens.weight", "decoder.embed_tokens.weight"};  // the shared table again
  if (!has("decoder.final_layer_norm.weight") && !has("decoder.block.0.layer.0.layer_norm.weight")) return map;
  map.decoder = t5_stack(config, "decoder", words, config.size_or("num_decoder_layers", layers));
  map.prediction.words = {has("lm_head.weight") ? "lm_head.weight" : words, ""};
  // A tied head reads states scaled down by sqrt(d_model), as the words were not scaled up; older files repeat the words.
  if (config.flag_or("tie_word_embeddings", true))
    map.prediction.state_scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(map.stack.d_model)));
  return map;
}

ModelMap bart_map(const ModelConfig& config, const HasTensor& has) {
  config.require("is_causal", true);
  config.require("tie_word_embeddings", true);  // else each side has words of its own
  config.require("normalize_before", false);
  config.require("add_final_layer_norm", false);
  config.require("share_encoder_decoder_embeddings", true);
  const std::string prefix = prefix_before({"model.", ""}, {"shared.weight"}, has);
  ModelMap map;
  map.stack = bart_stack(config, prefix, "encoder", has);
  map.decoder = bart_stack(config, prefix, "decoder", has);
  map.longest = config.size("max_position_embeddings");
  map.prediction.words = {map.stack.words, has("final_logits_bias") ? "final_logits_bias" : ""};
  map.ignored = {prefix + "encoder.embed_tokens.weight", prefix + "decoder.embed_tokens.weight", "lm_head.weight"};
  if (config.family() == "marian") map.ignored.push_back(prefix + "*.embed_positions.weight");
  return map;
}

}  // namespace headwave
