#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "model_map.h"

namespace headwave {

/// The words that stand for an option's values in a map file.
template <class Enum, std::size_t count>
using Words = std::array<std::pair<const char*, Enum>, count>;

inline constexpr Words<NormKind, 2> norm_words{{{"layer", NormKind::layer}, {"rms", NormKind::rms}}};
inline constexpr Words<NormPlace, 2> norm_place_words{{{"post", NormPlace::post}, {"pre", NormPlace::pre}}};
inline constexpr Words<Activation, 4> activation_words{{{"gelu", Activation::gelu},
                                                        {"gelu_tanh", Activation::gelu_tanh},
                                                        {"relu", Activation::relu},
                                                        {"silu", Activation::silu}}};
inline constexpr Words<Fusion, 5> fusion_words{{{"none", Fusion::none},
                                                {"qkv", Fusion::qkv},
                                                {"kv", Fusion::kv},
                                                {"qkv_by_head", Fusion::qkv_by_head},
                                                {"kv_by_head", Fusion::kv_by_head}}};
inline constexpr Words<RouterScore, 3> router_score_words{{{"softmax", RouterScore::softmax},
                                                           {"softmax_of_chosen", RouterScore::softmax_of_chosen},
                                                           {"sigmoid", RouterScore::sigmoid}}};
inline constexpr Words<GroupWorth, 2> group_worth_words{
    {{"best", GroupWorth::best}, {"best_two", GroupWorth::best_two}}};
inline constexpr Words<PositionKind, 7> position_words{{{"none", PositionKind::none},
                                                        {"table", PositionKind::table},
                                                        {"sinusoids", PositionKind::sinusoids},
                                                        {"rotary", PositionKind::rotary},
                                                        {"linear_bias", PositionKind::linear_bias},
                                                        {"buckets", PositionKind::buckets},
                                                        {"disentangled", PositionKind::disentangled}}};
inline constexpr Words<SinusoidLayout, 2> sinusoid_words{
    {{"interleaved", SinusoidLayout::interleaved}, {"concatenated", SinusoidLayout::concatenated}}};
inline constexpr Words<RotaryPairing, 2> pairing_words{
    {{"halves", RotaryPairing::halves}, {"neighbours", RotaryPairing::neighbours}}};
inline constexpr Words<HeadNorm, 3> head_norm_words{
    {{"shared", HeadNorm::shared}, {"own", HeadNorm::own}, {"whole", HeadNorm::whole}}};
inline constexpr Words<RotaryScaling, 7> scaling_words{{{"none", RotaryScaling::none},
                                                        {"linear", RotaryScaling::linear},
                                                        {"dynamic", RotaryScaling::dynamic},
                                                        {"llama3", RotaryScaling::llama3},
                                                        {"yarn", RotaryScaling::yarn},
                                                        {"longrope", RotaryScaling::longrope},
                                                        {"proportional", RotaryScaling::proportional}}};

/// Every key of a map file and what it stands for, said once for reading and for writing: `keys(name,
/// member)` is called for each key, `keys.table(name, visit)` for each table inside.
template <class Keys>
void visit_rotary(Keys& keys, RotaryOptions& rotary) {
  keys("channels", rotary.channels);
  keys("first_channel", rotary.first);
  keys("base", rotary.base);
  keys("pairing", rotary.pairing, pairing_words);
  keys("scaling", rotary.scaling, scaling_words);
  if (rotary.scaling == RotaryScaling::none) return;
  if (rotary.scaling == RotaryScaling::longrope) {
    keys("short_factors", rotary.short_factors);
    keys("long_factors", rotary.long_factors);
    keys("trained", rotary.trained);
    keys("attention_factor", rotary.attention_factor);
    return;
  }
  keys("factor", rotary.factor);
  if (rotary.scaling == RotaryScaling::proportional) return keys("share", rotary.share);
  keys("trained", rotary.trained);
  if (rotary.scaling == RotaryScaling::llama3) {
    keys("low", rotary.low);
    keys("high", rotary.high);
  }
  if (rotary.scaling == RotaryScaling::yarn) {
    keys("fast", rotary.fast);
    keys("slow", rotary.slow);
    keys.usual("whole_channels", rotary.whole_channels, true);
    keys("attention_factor", rotary.attention_factor);
  }
}

template <class Keys>
void visit_rope(Keys& keys, RopeKeys& rope) {
  keys("base", rope.base);
  keys("base_key", rope.base_key);
  keys("group", rope.group);
  keys("scaled", rope.scaled);
  keys("partial", rope.partial);
  keys("share_key", rope.share_key);
  keys("share", rope.share);
  keys("width", rope.width);
}

template <class Keys>
void visit_positions(Keys& keys, PositionMap& positions) {
  keys("kind", positions.kind, position_words);
  switch (positions.kind) {
    case PositionKind::table:
      keys("table", positions.table);
      keys("rows", positions.rows);
      keys("first_row", positions.first_row);
      keys("biases", positions.biases);
      if (positions.biases.empty()) break;
      keys("buckets", positions.buckets);
      keys("farthest", positions.farthest);
      break;
    case PositionKind::sinusoids:
      keys("layout", positions.sinusoids.layout, sinusoid_words);
      keys("base", positions.sinusoids.base);
      keys("first", positions.sinusoids.first);
      keys("last_is_base", positions.sinusoids.last_is_base);
      break;
    case PositionKind::rotary:
      visit_rotary(keys, positions.rotary);
      keys.rope("rope", positions.rope);
      break;
    case PositionKind::buckets:
      keys("table", positions.table);
      keys("rows", positions.rows);
      keys("farthest", positions.farthest);
      break;
    case PositionKind::disentangled:
      keys("vectors", positions.disentangled.vectors);
      keys("norm", positions.disentangled.norm);
      keys("buckets", positions.disentangled.rows.buckets);
      keys("farthest", positions.disentangled.rows.farthest);
      keys("table", positions.table);
      keys("rows", positions.rows);
      break;
    case PositionKind::none:
    case PositionKind::linear_bias:
      break;
  }
}

template <class Keys>
void visit_tensors(Keys& keys, StackMap& stack) {
  keys("words", stack.words);
  keys("token_types", stack.token_types);
  keys("embedding_norm", stack.embedding_norm);
  keys("self_norm", stack.self_norm);
  keys("embedding_projection", stack.embedding_projection);
  keys("query", stack.self.query);
  keys("key", stack.self.key);
  keys("value", stack.self.value);
  keys("output", stack.self.output);
  keys("fusion", stack.self.fusion, fusion_words);
  keys("query_norm", stack.query_norm);
  keys("key_norm", stack.key_norm);
  keys("sinks", stack.sinks);
  keys("position_key", stack.position_key);
  keys("position_query", stack.position_query);
  keys("self_added_norm", stack.self_added_norm);
  keys("cross_norm", stack.cross_norm);
  keys("cross_query", stack.cross.query);
  keys("cross_key", stack.cross.key);
  keys("cross_value", stack.cross.value);
  keys("cross_output", stack.cross.output);
  keys("cross_fusion", stack.cross.fusion, fusion_words);
  keys("feed_forward_norm", stack.feed_forward_norm);
  keys("widen", stack.widen);
  keys("gate", stack.gate);
  keys("narrow", stack.narrow);
  keys("feed_forward_added_norm", stack.feed_forward_added_norm);
  keys("final_norm", stack.final_norm);
}

template <class Keys>
void visit_latent(Keys& keys, LatentMap& latent) {
  keys("key_rank", latent.key_rank);
  if (latent.empty()) return;
  keys("query_rank", latent.query_rank);
  keys("shared_channels", latent.shared_channels);
  keys("norm_eps", latent.norm_eps);
  keys("query", latent.query);
  keys("query_norm", latent.query_norm);
  keys("key", latent.key);
  keys("key_norm", latent.key_norm);
}

/// @param layers  how many the stack has
template <class Keys>
void visit_experts(Keys& keys, ExpertsMap& experts, RouterSpec& router, Index layers) {
  keys("count", experts.count);
  if (experts.count == 0) return;
  keys("chosen", router.chosen);
  keys("score", router.score, router_score_words);
  keys("normalised", router.normalised);
  keys("weighs_input", router.weighs_input);
  keys("scale", router.scale);
  keys("groups", router.groups);
  keys("chosen_groups", router.chosen_groups);
  keys("worth", router.worth, group_worth_words);
  keys("d_feed_forward", experts.d_feed_forward);
  keys("d_shared", experts.d_shared);
  keys.layers("dense", experts.dense, layers);
  keys("in_out", experts.in_out);
  keys("alternating", experts.alternating);
  keys("router", experts.router);
  keys("correction", experts.correction);
  keys("gate", experts.gate);
  keys("widen", experts.widen);
  keys("narrow", experts.narrow);
  keys("shared_gate", experts.shared_gate);
  keys("shared_widen", experts.shared_widen);
  keys("shared_narrow", experts.shared_narrow);
  keys("shared_weight", experts.shared_weight);
}

/// @param count  of the stack's layers
template <class Keys>
void visit_others(Keys& keys, OthersMap& others, Index count) {
  keys.layers("layers", others.layers, count);
  keys("window", others.window);
  keys("chunk", others.chunk);
  keys("unit_head_norm", others.unit_head_norm);
  keys.usual("temperature", others.temperature.strength, 0.0);
  keys.usual("temperature_step", others.temperature.step, 1.0);
  keys.table("positions", [&](Keys& inner) { visit_positions(inner, others.positions); });
}

template <class Keys>
void visit_stack(Keys& keys, StackMap& stack) {
  keys("layers", stack.layers);
  keys("vocabulary", stack.vocabulary);
  keys("d_model", stack.d_model);
  keys("d_feed_forward", stack.d_feed_forward);
  keys("heads", stack.block.heads);
  keys("kv_heads", stack.block.kv_heads);
  keys("d_head", stack.block.d_head);
  keys("d_value", stack.d_value);
  keys("score_scale", stack.block.score_scale);
  keys.usual("soft_cap", stack.block.soft_cap, 0.0);
  keys("causal", stack.block.causal);
  keys("window", stack.block.window);
  keys("chunk", stack.block.chunk);
  keys("norm", stack.norm, norm_words);
  keys("norm_eps", stack.norm_eps);
  keys.usual("norm_offset", stack.norm_offset, 0.0F);
  keys("norm_place", stack.block.norm_place, norm_place_words);
  keys("self_norm_from", stack.self_norm_from);
  keys("head_norm", stack.head_norm, head_norm_words);
  keys("unit_head_norm", stack.unit_head_norm);
  keys.usual("residual_scale", stack.block.residual_scale, 1.0F);
  keys("parallel", stack.block.parallel);
  keys("activation", stack.block.activation, activation_words);
  keys.usual("gate_limit", stack.block.gate_clip.limit, 0.0F);
  keys.usual("gate_slope", stack.block.gate_clip.slope, 1.0F);
  keys("in_out", stack.in_out);
  keys("word_scale", stack.word_scale);
  keys.usual("refused_word", stack.refused_word, Index{-1});
  keys("d_embedding", stack.d_embedding);
  keys("token_type_count", stack.token_type_count);
  keys.table("positions", [&](Keys& inner) { visit_positions(inner, stack.positions); });
  keys.table("others", [&](Keys& inner) { visit_others(inner, stack.others, stack.layers); });
  keys.table("latent", [&](Keys& inner) { visit_latent(inner, stack.latent); });
  keys.table("experts", [&](Keys& inner) { visit_experts(inner, stack.experts, stack.block.router, stack.layers); });
  keys.table("tensors", [&](Keys& inner) { visit_tensors(inner, stack); });
}

template <class Keys>
void visit_prediction(Keys& keys, PredictionMap& prediction) {
  keys("words", prediction.words);
  keys("transform", prediction.transform);
  keys("transform_norm", prediction.transform_norm);
  keys("activation", prediction.activation, activation_words);
  keys("state_scale", prediction.state_scale);
  keys.usual("soft_cap", prediction.soft_cap, 0.0F);
}

}  // namespace headwave
