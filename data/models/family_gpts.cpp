// Decoders of GPT's build: the first GPT, GPT-Neo, GPT-J, GPT-NeoX (Pythia) and OPT.

#include <fmt/format.h>

#include "model_family.h"

namespace headwave {

namespace {

/// What these have in common: layer norms, and the sizes of a config that calls them so.
ModelMap gpt_sizes(const ModelConfig& config, const char* layers, const char* d_model, const char* heads) {
  config.require("is_causal", true);
  ModelMap map;
  StackMap& stack = map.stack;
  stack.layers = config.size(layers);
  stack.vocabulary = config.size("vocab_size");
  stack.d_model = config.size(d_model);
  stack.norm_eps = static_cast<float>(config.positive_or("layer_norm_epsilon", 1e-5));
  stack.block.norm_place = NormPlace::pre;
  stack.block.causal = true;
  set_heads(stack, config, heads, nullptr, 0);
  return map;
}

void set_table(StackMap& stack, const std::string& name, Index positions, Index first_row) {
  stack.positions.kind = PositionKind::table;
  stack.positions.table = name;
  stack.positions.rows = positions + first_row;
  stack.positions.first_row = first_row;
}

}  // namespace

ModelMap openai_gpt_map(const ModelConfig& config, const HasTensor& has) {
  ModelMap map = gpt_sizes(config, "n_layer", "n_embd", "n_head");
  const std::string prefix = prefix_before({"", "transformer."}, {"tokens_embed.weight"}, has);
  const std::string at = prefix + "h.{layer}.";
  StackMap& stack = map.stack;
  stack.d_feed_forward = 4 * stack.d_model;
  stack.in_out = true;
  stack.block.norm_place = NormPlace::post;
  // Its "gelu" is the approximation.
  const std::string said = config.text_or("afn", "gelu");
  stack.block.activation = said == "gelu" ? Activation::gelu_tanh : config.activation("afn", "gelu");
  if (said != "gelu" && said != "relu" && said != "silu" && said != "swish")
    config.fail("'afn' is not known of a first GPT; expected gelu, relu, silu or swish");

  stack.words = prefix + "tokens_embed.weight";
  set_table(stack, prefix + "positions_embed.weight", config.size("n_positions"), 0);
  const TensorNames fused = weight_and_bias(at + "attn.c_attn");
  stack.self = {fused, fused, fused, weight_and_bias(at + "attn.c_proj"), Fusion::qkv};
  stack.self_norm = weight_and_bias(at + "ln_1");
  stack.widen = weight_and_bias(at + "mlp.c_fc");
  stack.narrow = weight_and_bias(at + "mlp.c_proj");
  stack.feed_forward_norm = weight_and_bias(at + "ln_2");

  map.longest = stack.positions.rows;
  map.prediction.words = causal_head(config, has, stack.words, true);
  map.ignored = {"*attn.bias", "*position_ids"};
  return map;
}

ModelMap gpt_neo_map(const ModelConfig& config, const HasTensor& has) {
  ModelMap map = gpt_sizes(config, "num_layers", "hidden_size", "num_heads");
  const std::string prefix = prefix_before({"", "transformer."}, {"wte.weight"}, has);
  const std::string at = prefix + "h.{layer}.";
  StackMap& stack = map.stack;
  stack.d_feed_forward = config.size_or("intermediate_size", 4 * stack.d_model);
  stack.block.activation = config.activation("activation_function", "gelu_new");
  stack.block.score_scale = 1;  // scores are not scaled

  require_few_layers(config, stack.layers);
  const std::vector<std::string> kinds =
      config.has("attention_types") ? config.by_layer("attention_types", stack.layers) : std::vector<std::string>{};
  for (Index layer = 0; layer < stack.layers; ++layer) {
    const std::string kind = !kinds.empty()   ? kinds[static_cast<std::size_t>(layer)]
                             : layer % 2 == 0 ? "global"
                                              : "local";
    if (kind == "local") stack.others.layers.push_back(layer);
    if (kind != "local" && kind != "global")
      config.fail("'attention_types' has a layer that is neither global nor local");
  }
  if (!stack.others.layers.empty()) stack.others.window = config.size_or("window_size", 256);

  stack.words = prefix + "wte.weight";
  set_table(stack, prefix + "wpe.weight", config.size("max_position_embeddings"), 0);
  stack.self = {weight_alone(at + "attn.attention.q_proj"), weight_alone(at + "attn.attention.k_proj"),
                weight_alone(at + "attn.attention.v_proj"), weight_and_bias(at + "attn.attention.out_proj")};
  stack.self_norm = weight_and_bias(at + "ln_1");
  stack.widen = weight_and_bias(at + "mlp.c_fc");
  stack.narrow = weight_and_bias(at + "mlp.c_proj");
  stack.feed_forward_norm = weight_and_bias(at + "ln_2");
  stack.final_norm = weight_and_bias(prefix + "ln_f");

  map.longest = stack.positions.rows;
  map.prediction.words = causal_head(config, has, stack.words, true);
  map.ignored = {"*attention.bias", "*attention.masked_bias"};
  return map;
}

ModelMap gptj_map(const ModelConfig& config, const HasTensor& has) {
  ModelMap map = gpt_sizes(config, "n_layer", "n_embd", "n_head");
  const std::string prefix = prefix_before({"transformer.", ""}, {"wte.weight"}, has);
  const std::string at = prefix + "h.{layer}.";
  StackMap& stack = map.stack;
  stack.d_feed_forward = config.size_or("n_inner", 4 * stack.d_model);
  stack.block.activation = config.activation("activation_function", "gelu_new");
  stack.block.parallel = true;

  stack.words = prefix + "wte.weight";
  stack.positions.kind = PositionKind::rotary;
  stack.positions.rotary.channels = config.size("rotary_dim", 2);
  stack.positions.rotary.pairing = RotaryPairing::neighbours;
  if (stack.positions.rotary.channels % 2 != 0 || stack.positions.rotary.channels > stack.block.d_head)
    config.fail(fmt::format("'rotary_dim' is {}, expected an even number up to {}", stack.positions.rotary.channels,
                            stack.block.d_head));
  stack.self = {weight_alone(at + "attn.q_proj"), weight_alone(at + "attn.k_proj"), weight_alone(at + "attn.v_proj"),
                weight_alone(at + "attn.out_proj")};
  stack.self_norm = weight_and_bias(at + "ln_1");
  stack.widen = weight_and_bias(at + "mlp.fc_in");
  stack.narrow = weight_and_bias(at + "mlp.fc_out");
  stack.final_norm = weight_and_bias(prefix + "ln_f");

  map.longest = config.size("n_positions");
  map.prediction.words = causal_head(config, has, stack.words, false);
  if (has("lm_head.bias") && !map.prediction.words.empty()) map.prediction.words.bias = "lm_head.bias";
  map.ignored = {"*attn.bias", "*attn.masked_bias", "*embed_positions"};
  return map;
}

ModelMap gpt_neox_map(const ModelConfig& config, const HasTensor& has) {
  config.require("is_decoder", false);
  ModelMap map = gpt_sizes(config, "num_hidden_layers", "hidden_size", "num_attention_heads");
  const std::string prefix = prefix_before({"gpt_neox.", ""}, {"embed_in.weight"}, has);
  const std::string at = prefix + "layers.{layer}.";
  StackMap& stack = map.stack;
  stack.d_feed_forward = config.size("intermediate_size");
  stack.norm_eps = static_cast<float>(config.positive_or("layer_norm_eps", 1e-5));
  stack.block.activation = config.activation("hidden_act", "gelu");
  stack.block.parallel = config.flag_or("use_parallel_residual", true);

  stack.words = prefix + "embed_in.weight";
  stack.positions.kind = PositionKind::rotary;
  RotaryDefaults usual{10000, "rotary_emb_base", nullptr};
  usual.partial = true;
  usual.partial_key = "rotary_pct";
  usual.share = 0.25;
  // 'head_dim' does not say how wide heads are: only the share of channels that turn is counted by it.
  const Index turning = config.size_or("head_dim", stack.block.d_head);
  stack.positions.rotary = rotary_options(config, turning, usual);
  if (stack.positions.rotary.channels > stack.block.d_head)
    config.fail(fmt::format("'head_dim' is {}, of which {} channels would turn, but heads have {}", turning,
                            stack.positions.rotary.channels, stack.block.d_head));
  const bool biases = config.flag_or("attention_bias", true);
  const auto linear = [&](const char* name) { return biases ? weight_and_bias(at + name) : weight_alone(at + name); };
  const TensorNames fused = linear("attention.query_key_value");
  stack.self = {fused, fused, fused, linear("attention.dense"), Fusion::qkv_by_head};
  stack.self_norm = weight_and_bias(at + "input_layernorm");
  stack.widen = weight_and_bias(at + "mlp.dense_h_to_4h");
  stack.narrow = weight_and_bias(at + "mlp.dense_4h_to_h");
  stack.feed_forward_norm = weight_and_bias(at + "post_attention_layernorm");
  stack.final_norm = weight_and_bias(prefix + "final_layer_norm");

  map.longest = stack.positions.rotary.scaling == RotaryScaling::dynamic ? 0 : config.size("max_position_embeddings");
  const bool tied = config.flag_or("tie_word_embeddings", false);
  map.prediction.words = {tied ? stack.words : has("embed_out.weight") ? "embed_out.weight" : "", ""};
  map.ignored = {"*attention.bias", "*attention.masked_bias", "*rotary_emb.inv_freq"};
  return map;
}

ModelMap opt_map(const ModelConfig& config, const HasTensor& has) {
  ModelMap map = gpt_sizes(config, "num_hidden_layers", "hidden_size", "num_attention_heads");
  const std::string prefix = prefix_before({"model.decoder.", "decoder.", ""}, {"embed_tokens.weight"}, has);
  const std::string at = prefix + "layers.{layer}.";
  StackMap& stack = map.stack;
  if (const Index width = config.size_or("word_embed_proj_dim", stack.d_model); width != stack.d_model)
    config.fail(
        fmt::format("'word_embed_proj_dim' is {}, expected 'hidden_size' {}: words projected before positions "
                    "are added are not known here",
                    width, stack.d_model));
  config.require("layer_norm_elementwise_affine", true);
  stack.norm_eps = 1e-5F;  // fixed in the published code
  stack.d_feed_forward = config.size("ffn_dim");
  stack.block.activation = config.activation("activation_function", "relu");
  const bool before = config.flag_or("do_layer_norm_before", true);
  stack.block.norm_place = before ? NormPlace::pre : NormPlace::post;
  const bool biases = config.flag_or("enable_bias", true);
  const auto linear = [&](const char* name) { return biases ? weight_and_bias(at + name) : weight_alone(at + name); };

  stack.words = prefix + "embed_tokens.weight";
  set_table(stack, prefix + "embed_positions.weight", config.size("max_position_embeddings"), 2);
  stack.self = {linear("self_attn.q_proj"), linear("self_attn.k_proj"), linear("self_attn.v_proj"),
                linear("self_attn.out_proj")};
  stack.self_norm = weight_and_bias(at + "self_attn_layer_norm");
  stack.widen = linear("fc1");
  stack.narrow = linear("fc2");
  stack.feed_forward_norm = weight_and_bias(at + "final_layer_norm");
  if (before && !config.flag_or("_remove_final_layer_norm", false))
    stack.final_norm = weight_and_bias(prefix + "final_layer_norm");

  map.longest = stack.positions.rows - stack.positions.first_row;
  map.prediction.words = causal_head(config, has, stack.words, true);
  return map;
}

}  // namespace headwave
