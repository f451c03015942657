// DeBERTa: BERT whose scores compare queries and keys with vectors of relative positions. The first has query, key and
// value in one tensor and a vector for each distance; the second, which the third is too, log-spaced ones.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../files/printable.h"
#include "model_family.h"

namespace headwave {

namespace {

/// Which of both comparisons there are; the scale counts them whether or not positions are relative.
struct Compared {
  bool keys = false;     ///< c2p: queries with position keys
  bool queries = false;  ///< p2c: keys with position queries
};

Compared compared_terms(const ModelConfig& config) {
  Compared compared;
  for (const std::string& term : config.words("pos_att_type")) {
    bool& one = term == "c2p" ? compared.keys : compared.queries;
    if ((term != "c2p" && term != "p2c") || one)
      config.fail(fmt::format("'pos_att_type' has '{}', expected c2p and p2c, each once at most", printable(term, 60)));
    one = true;
  }
  return compared;
}

DisentangledMap relative_vectors(const ModelConfig& config, const std::string& prefix, bool second) {
  DisentangledMap map;
  map.vectors = prefix + "encoder.rel_embeddings.weight";
  const Index said = config.size_or("max_relative_positions", -1, -1);
  map.rows.farthest = said < 1 ? config.size("max_position_embeddings") : said;
  if (!second) return map;
  map.rows.buckets = std::max<Index>(0, config.size_or("position_buckets", -1, -1));
  for (const std::string& word : config.words("norm_rel_ebd")) {
    if (word == "layer_norm")
      map.norm = weight_and_bias(prefix + "encoder.LayerNorm");
    else if (word != "none")
      config.fail(fmt::format("'norm_rel_ebd' is '{}', expected layer_norm or none", printable(word, 60)));
  }
  if (!DisentangledTerm::allows(map.rows))
    config.fail(
        fmt::format("'position_buckets' is {} for 'max_relative_positions' {}; expected at least 2 buckets, and "
                    "distances beyond half of them",
                    map.rows.buckets, map.rows.farthest));
  return map;
}

void set_comparisons(const ModelConfig& config, const std::string& prefix, const std::string& at, bool second,
                     StackMap& stack) {
  const Compared compared = compared_terms(config);
  const Index terms = 1 + static_cast<Index>(compared.keys) + static_cast<Index>(compared.queries);
  stack.block.score_scale = 1.0 / std::sqrt(static_cast<double>(stack.block.d_head * terms));
  if (!config.flag_or("relative_attention", false) || terms == 1) return;
  stack.positions.kind = PositionKind::disentangled;
  stack.positions.disentangled = relative_vectors(config, prefix, second);
  const bool shared = second && config.flag_or("share_att_key", false);
  TensorNames key = second ? weight_and_bias(at + "pos_key_proj") : weight_alone(at + "pos_proj");
  TensorNames query = weight_and_bias(at + (second ? "pos_query_proj" : "pos_q_proj"));
  if (compared.keys) stack.position_key = shared ? stack.self.key : key;
  if (compared.queries) stack.position_query = shared ? stack.self.query : query;
}

/// Published files of the third have the newer head, whatever transformers makes of them.
PredictionMap masked_head(const ModelConfig& config, const HasTensor& has, const std::string& words) {
  const bool legacy = config.flag_or("legacy", !has("lm_predictions.lm_head.dense.weight"));
  const std::string at = legacy ? "cls.predictions." : "lm_predictions.lm_head.", inner = legacy ? "transform." : "";
  if (!has(at + inner + "dense.weight")) return {};
  const std::string own = at + "decoder.weight";
  const bool untied = legacy && !config.flag_or("tie_word_embeddings", true) && has(own);
  PredictionMap head;
  head.transform = weight_and_bias(at + inner + "dense");
  head.activation = config.activation("hidden_act", "gelu");
  head.transform_norm = weight_and_bias(at + inner + "LayerNorm");
  head.words = {untied ? own : words, at + (untied && has(at + "decoder.bias") ? "decoder.bias" : "bias")};
  return head;
}

void refuse_unfollowed(const ModelConfig& config, bool second) {
  if (!second) config.require("talking_head", false);
  if (second && config.size_or("conv_kernel_size", 0, 0) > 0)
    config.fail(fmt::format("'conv_kernel_size' is {}: a convolution beside layer 0 is not known here",
                            config.size("conv_kernel_size")));
  if (const Index width = config.size("hidden_size"); config.size_or("embedding_size", width) != width)
    config.fail(
        fmt::format("'embedding_size' is {}, expected 'hidden_size' {}: words projected before their norm are "
                    "not known here",
                    config.size("embedding_size"), width));
}

}  // namespace

ModelMap deberta_map(const ModelConfig& config, const HasTensor& has) {
  const bool second = config.family() == "deberta-v2";
  refuse_unfollowed(config, second);
  const std::string prefix = prefix_before({"", "deberta."}, {"embeddings.word_embeddings.weight"}, has);
  const std::string at = prefix + "encoder.layer.{layer}.", self = at + "attention.self.";

  ModelMap map;
  StackMap& stack = map.stack;
  set_sizes(stack, config);
  stack.norm_eps = static_cast<float>(config.positive_or("layer_norm_eps", 1e-7));
  stack.block.norm_place = NormPlace::post;
  stack.block.activation = config.activation("hidden_act", "gelu");
  set_heads(stack, config, "num_attention_heads", second ? "attention_head_size" : nullptr, 0);

  stack.words = prefix + "embeddings.word_embeddings.weight";
  if (config.flag_or("position_biased_input", true)) {
    stack.positions.kind = PositionKind::table;
    stack.positions.table = prefix + "embeddings.position_embeddings.weight";
    stack.positions.rows = config.size("max_position_embeddings");
  }
  stack.token_type_count = config.size_or("type_vocab_size", 0, 0);
  if (stack.token_type_count > 0) stack.token_types = prefix + "embeddings.token_type_embeddings.weight";
  stack.embedding_norm = weight_and_bias(prefix + "embeddings.LayerNorm");

  const TensorNames output = weight_and_bias(at + "attention.output.dense");
  const std::string fused = self + "in_proj.weight";
  if (second)
    stack.self = {weight_and_bias(self + "query_proj"), weight_and_bias(self + "key_proj"),
                  weight_and_bias(self + "value_proj"), output};
  else
    stack.self = {{fused, self + "q_bias"}, {fused, ""}, {fused, self + "v_bias"}, output, Fusion::qkv_by_head};
  set_comparisons(config, prefix, self, second, stack);
  stack.self_norm = weight_and_bias(at + "attention.output.LayerNorm");
  stack.widen = weight_and_bias(at + "intermediate.dense");
  stack.narrow = weight_and_bias(at + "output.dense");
  stack.feed_forward_norm = weight_and_bias(at + "output.LayerNorm");

  // Without a position table nothing ends: distances beyond the last vector read that vector.
  map.longest = stack.positions.has_table() ? stack.positions.rows : 0;
  map.prediction = masked_head(config, has, stack.words);
  map.ignored = {"*position_ids"};
  return map;
}

}  // namespace headwave
