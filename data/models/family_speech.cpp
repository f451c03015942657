// Models of sound: Whisper, whose encoder reads the frames of a spectrum and whose decoder writes what was said.

#include "model_family.h"

namespace headwave {

namespace {

/// Keys have no bias.
AttentionNames whisper_attention(const std::string& at) {
  return {weight_and_bias(at + ".q_proj"), weight_alone(at + ".k_proj"), weight_and_bias(at + ".v_proj"),
          weight_and_bias(at + ".out_proj")};
}

/// One side; `side` is "encoder" or "decoder".
StackMap whisper_stack(const ModelConfig& config, const std::string& prefix, const std::string& side) {
  const bool decoder = side == "decoder";
  StackMap stack;
  stack.layers = config.size((side + "_layers").c_str());
  stack.d_model = config.size("d_model");
  stack.d_feed_forward = config.size((side + "_ffn_dim").c_str());
  stack.norm_eps = 1e-5F;  // fixed in the published code
  stack.block.norm_place = NormPlace::pre;
  stack.block.activation = config.activation("activation_function", "gelu");
  stack.block.causal = decoder;
  set_heads(stack, config, (side + "_attention_heads").c_str(), nullptr, 0);

  stack.positions.kind = PositionKind::table;  // of the encoder sinusoids, which are stored
  stack.positions.table = prefix + side + ".embed_positions.weight";
  stack.positions.rows = config.size(decoder ? "max_target_positions" : "max_source_positions");
  const std::string at = prefix + side + ".layers.{layer}.";
  stack.self_norm = weight_and_bias(at + "self_attn_layer_norm");
  stack.self = whisper_attention(at + "self_attn");
  stack.feed_forward_norm = weight_and_bias(at + "final_layer_norm");
  stack.widen = weight_and_bias(at + "fc1");
  stack.narrow = weight_and_bias(at + "fc2");
  stack.final_norm = weight_and_bias(prefix + side + ".layer_norm");
  if (decoder) {
    stack.vocabulary = config.size("vocab_size");
    stack.words = prefix + "decoder.embed_tokens.weight";
    stack.cross_norm = weight_and_bias(at + "encoder_attn_layer_norm");
    stack.cross = whisper_attention(at + "encoder_attn");
  } else {
    stack.sound = {config.size("num_mel_bins"), weight_and_bias(prefix + "encoder.conv1"),
                   weight_and_bias(prefix + "encoder.conv2")};
  }
  return stack;
}

}  // namespace

ModelMap whisper_map(const ModelConfig& config, const HasTensor& has) {
  config.require("is_causal", true);
  (void)config.flag_or("scale_embedding", false);  // the published code reads it and scales nothing
  const std::string prefix = prefix_before({"model.", ""}, {"encoder.conv1.weight"}, has);
  ModelMap map;
  map.stack = whisper_stack(config, prefix, "encoder");
  map.decoder = whisper_stack(config, prefix, "decoder");
  map.longest = map.stack.positions.rows;
  map.longest_target = map.decoder->positions.rows;
  if (config.flag_or("tie_word_embeddings", true))
    map.prediction.words = {map.decoder->words, ""};
  else if (has("proj_out.weight"))
    map.prediction.words = {"proj_out.weight", ""};
  map.ignored = {"proj_out.weight"};  // the words again, where they are tied
  return map;
}

}  // namespace headwave
