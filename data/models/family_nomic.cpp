// NomicBERT: a post-norm BERT with rotary positions and a gated feed-forward, without biases. transformers calls its sizes
// as BERT's; the published code, which came first, as GPT-2's, and its tensors keep those names.

#include <fmt/format.h>

#include "../files/printable.h"
#include "model_family.h"

namespace headwave {

namespace {

/// Whether config.json is one of the published code.
bool is_published(const ModelConfig& config) {
  return config.has("n_embd") && !config.has("hidden_size");
}

/// Of the published code: a share of the channels, neighbours where interleaved, the base stretched on long texts.
RotaryOptions published_rotary(const ModelConfig& config, Index d_head) {
  RotaryOptions rotary;
  rotary.base = config.positive_or("rotary_emb_base", 10000);
  if (config.has("rotary_emb_scale_base"))
    config.fail("'rotary_emb_scale_base' is there: keys that fade with distance are not known here");
  if (config.flag_or("rotary_emb_interleaved", false)) rotary.pairing = RotaryPairing::neighbours;
  const double share = config.positive("rotary_emb_fraction");
  rotary.channels = static_cast<Index>(share * static_cast<double>(d_head));
  if (share > 1 || rotary.channels < 2 || rotary.channels % 2 != 0)
    config.fail(
        fmt::format("'rotary_emb_fraction' is {} of heads of width {}, expected an even number of channels up "
                    "to all",
                    share, d_head));
  if (!config.has("rotary_scaling_factor")) return rotary;
  rotary.scaling = RotaryScaling::dynamic;
  rotary.factor = config.positive("rotary_scaling_factor");
  rotary.trained = static_cast<double>(config.size_or("max_trained_positions", 2048));
  return rotary;
}

/// What gates the feed-forward: of the published code's "swiglu" silu.
Activation gate_of(const ModelConfig& config) {
  if (!is_published(config)) return config.activation("hidden_act", "silu");
  const std::string said = config.text_or("activation_function", "");
  if (said != "swiglu" && said != "geglu")
    config.fail(
        fmt::format("'activation_function' is '{}', expected swiglu or geglu: a feed-forward without a gate is "
                    "not known here",
                    printable(said, 60)));
  return said == "swiglu" ? Activation::silu : Activation::gelu;
}

void refuse_other_blocks(const ModelConfig& config) {
  for (const char* key : {"prenorm", "parallel_block", "parallel_block_tied_norm", "use_rms_norm", "causal"})
    require_off(config, key);
  for (const char* key : {"moe_every_n_layers", "num_experts"})
    if (config.size_or(key, 0, 0) > 0)
      config.fail(fmt::format("'{}' is {}: layers of several experts are not known here", key, config.size(key)));
}

void set_sizes(const ModelConfig& config, bool published, ModelMap& map) {
  StackMap& stack = map.stack;
  stack.layers = config.size(published ? "n_layer" : "num_hidden_layers");
  stack.d_model = config.size(published ? "n_embd" : "hidden_size");
  stack.d_feed_forward = published ? config.size_or("n_inner", 4 * stack.d_model) : config.size("intermediate_size");
  const Index multiple = published ? config.size_or("pad_vocab_size_multiple", 1) : 1;
  stack.vocabulary = (config.size("vocab_size") + multiple - 1) / multiple * multiple;
  const char* eps = published ? "layer_norm_epsilon" : "layer_norm_eps";
  stack.norm_eps = static_cast<float>(config.positive_or(eps, published ? 1e-5 : 1e-12));
  set_heads(stack, config, published ? "n_head" : "num_attention_heads", published ? nullptr : "head_dim", 0);

  stack.positions.kind = PositionKind::rotary;
  RotaryDefaults usual;
  usual.base = 1000;
  stack.positions.rotary =
      published ? published_rotary(config, stack.block.d_head) : rotary_options(config, stack.block.d_head, usual);
  const Index longest = config.size_or(published ? "n_positions" : "max_position_embeddings", 0, 1);
  map.longest = stack.positions.rotary.scaling == RotaryScaling::dynamic && !published ? 0 : longest;
}

/// Names of the published code, or those that transformers gives them while it runs.
void set_layer_names(const ModelConfig& config, const std::string& prefix, bool published, const HasTensor& has,
                     StackMap& stack) {
  const bool old = !has(prefix + "layers.0.self_attn.q_proj.weight");
  const std::string at = prefix + (old ? "encoder.layers.{layer}." : "layers.{layer}.");
  const auto linear = [&](const char* name, const char* switched) {
    return published && config.flag_or(switched, true) ? weight_and_bias(at + name) : weight_alone(at + name);
  };
  stack.embedding_norm = weight_and_bias(prefix + (old ? "emb_ln" : "embeddings.LayerNorm"));
  const TensorNames fused = linear("attn.Wqkv", "qkv_proj_bias");
  if (old)
    stack.self = {fused, fused, fused, linear("attn.out_proj", "qkv_proj_bias"), Fusion::qkv};
  else
    stack.self = {weight_alone(at + "self_attn.q_proj"), weight_alone(at + "self_attn.k_proj"),
                  weight_alone(at + "self_attn.v_proj"), weight_alone(at + "self_attn.o_proj")};
  stack.self_norm = weight_and_bias(at + (old ? "norm1" : "post_attention_layernorm"));
  stack.widen = linear(old ? "mlp.fc11" : "mlp.up_proj", "mlp_fc1_bias");
  stack.gate = linear(old ? "mlp.fc12" : "mlp.gate_proj", "mlp_fc1_bias");
  stack.narrow = linear(old ? "mlp.fc2" : "mlp.down_proj", "mlp_fc2_bias");
  stack.feed_forward_norm = weight_and_bias(at + (old ? "norm2" : "post_mlp_layernorm"));
}

}  // namespace

ModelMap nomic_bert_map(const ModelConfig& config, const HasTensor& has) {
  const bool published = is_published(config);
  refuse_other_blocks(config);
  const std::string prefix = prefix_before({"", "nomic_bert.", "bert."}, {"embeddings.word_embeddings.weight"}, has);

  ModelMap map;
  StackMap& stack = map.stack;
  stack.block.norm_place = NormPlace::post;
  stack.block.activation = gate_of(config);
  set_sizes(config, published, map);
  stack.words = prefix + "embeddings.word_embeddings.weight";
  stack.token_type_count = config.size_or("type_vocab_size", 2, 0);
  if (stack.token_type_count > 0) stack.token_types = prefix + "embeddings.token_type_embeddings.weight";
  set_layer_names(config, prefix, published, has, stack);

  if (const std::string head = "cls.predictions.", dense = head + "transform.dense"; has(dense + ".weight")) {
    map.prediction.transform = has(dense + ".bias") ? weight_and_bias(dense) : weight_alone(dense);
    map.prediction.activation = stack.block.activation;
    map.prediction.transform_norm = weight_and_bias(head + "transform.layer_norm");
    const bool own = !config.flag_or("tie_word_embeddings", true) && has(head + "decoder.weight");
    const bool inner = has(head + "decoder.bias");
    map.prediction.words = {own ? head + "decoder.weight" : stack.words, inner                ? head + "decoder.bias"
                                                                         : has(head + "bias") ? head + "bias"
                                                                                              : ""};
  }
  map.ignored = {"*position_ids", "*token_type_ids", "*inv_freq"};
  return map;
}

}  // namespace headwave
