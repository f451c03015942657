// Encoders: BERT with RoBERTa, XLM-R and CamemBERT, which differ in where positions begin and what the prediction head
// is called, and ELECTRA, whose words may be narrower; DistilBERT and ALBERT.

#include <fmt/format.h>

#include "model_family.h"

namespace headwave {

namespace {

PositionMap position_table(const ModelConfig& config, const std::string& name, Index first_row) {
  PositionMap positions;
  positions.kind = PositionKind::table;
  positions.table = name;
  positions.rows = config.size("max_position_embeddings");
  positions.first_row = first_row;
  if (positions.rows <= first_row)
    config.fail(fmt::format("'max_position_embeddings' is {}, expected more than the {} rows before token 0's",
                            positions.rows, first_row));
  return positions;
}

/// transform, activation, norm, then the word embeddings again with a bias of their own.
PredictionMap masked_word_head(const ModelConfig& config, const HasTensor& has, const std::string& words, bool bert) {
  const std::string at = bert ? "cls.predictions." : "lm_head.";
  const std::string transform = at + (bert ? "transform.dense" : "dense");
  if (!has(transform + ".weight")) return {};
  const std::string own_words = at + "decoder.weight";
  const bool tied = config.flag_or("tie_word_embeddings", true) || !has(own_words);
  PredictionMap head;
  head.transform = weight_and_bias(transform);
  // RoBERTa's head is exact gelu whatever the blocks have.
  head.activation = bert ? config.activation("hidden_act", "gelu") : Activation::gelu;
  head.transform_norm = weight_and_bias(at + (bert ? "transform.LayerNorm" : "layer_norm"));
  head.words = {tied ? words : own_words, at + "bias"};
  return head;
}

/// Words of another width than the model's, projected to it.
void set_narrow_words(const ModelConfig& config, StackMap& stack, const char* key, Index usual,
                      const std::string& projection) {
  const Index width = config.size_or(key, usual);
  if (width == stack.d_model) return;
  stack.d_embedding = width;
  stack.embedding_projection = weight_and_bias(projection);
}

/// Of the generator; a discriminator predicts no words. Its activation is exact gelu whatever the blocks have.
PredictionMap electra_head(const ModelConfig& config, const HasTensor& has, const std::string& words) {
  if (!has("generator_predictions.dense.weight")) return {};
  const bool own = !config.flag_or("tie_word_embeddings", true) && has("generator_lm_head.weight");
  PredictionMap head;
  head.transform = weight_and_bias("generator_predictions.dense");
  head.activation = Activation::gelu;
  head.transform_norm = weight_and_bias("generator_predictions.LayerNorm");
  head.words = {own ? "generator_lm_head.weight" : words, "generator_lm_head.bias"};
  return head;
}

/// Old conversions from TensorFlow say gamma and beta for weight and bias.
TensorNames norm_names(const std::string& name, const std::string& sample, const HasTensor& has) {
  if (has(sample + ".gamma")) return {name + ".gamma", name + ".beta"};
  return weight_and_bias(name);
}

}  // namespace

ModelMap bert_map(const ModelConfig& config, const HasTensor& has) {
  config.require_text("position_embedding_type", "absolute");
  config.require("is_decoder", false);
  config.require("add_cross_attention", false);
  const bool electra = config.family() == "electra", bert = config.family() == "bert" || electra;
  const std::string prefix =
      prefix_before({"",
                     electra ? "electra."
                     : bert  ? "bert."
                             : "roberta.",
                     "model."},
                    {"embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight"}, has);
  const std::string at = prefix + "encoder.layer.{layer}.";

  ModelMap map;
  StackMap& stack = map.stack;
  set_sizes(stack, config);
  stack.norm_eps = static_cast<float>(config.positive_or("layer_norm_eps", 1e-12));
  stack.block.norm_place = NormPlace::post;
  stack.block.activation = config.activation("hidden_act", "gelu");
  set_heads(stack, config, "num_attention_heads", nullptr, 0);

  stack.words = prefix + "embeddings.word_embeddings.weight";
  // fairseq counts positions from padding_idx + 1: the rows before belong to no token.
  stack.positions = position_table(config, prefix + "embeddings.position_embeddings.weight",
                                   bert ? 0 : config.size_or("pad_token_id", 1, 0) + 1);
  stack.token_types = prefix + "embeddings.token_type_embeddings.weight";
  stack.token_type_count = config.size_or("type_vocab_size", 2);
  const std::string first_norm = prefix + "embeddings.LayerNorm";
  stack.embedding_norm = norm_names(first_norm, first_norm, has);

  stack.self = {weight_and_bias(at + "attention.self.query"), weight_and_bias(at + "attention.self.key"),
                weight_and_bias(at + "attention.self.value"), weight_and_bias(at + "attention.output.dense")};
  stack.self_norm = norm_names(at + "attention.output.LayerNorm", first_norm, has);
  stack.widen = weight_and_bias(at + "intermediate.dense");
  stack.narrow = weight_and_bias(at + "output.dense");
  stack.feed_forward_norm = norm_names(at + "output.LayerNorm", first_norm, has);

  if (electra) set_narrow_words(config, stack, "embedding_size", 128, prefix + "embeddings_project");

  map.longest = stack.positions.rows - stack.positions.first_row;
  map.prediction = electra ? electra_head(config, has, stack.words) : masked_word_head(config, has, stack.words, bert);
  map.ignored = {"*position_ids", "*token_type_ids"};
  return map;
}

ModelMap distilbert_map(const ModelConfig& config, const HasTensor& has) {
  const std::string prefix = prefix_before({"", "distilbert."}, {"embeddings.word_embeddings.weight"}, has);
  const std::string at = prefix + "transformer.layer.{layer}.";

  ModelMap map;
  StackMap& stack = map.stack;
  stack.layers = config.size("n_layers");
  stack.vocabulary = config.size("vocab_size");
  stack.d_model = config.size("dim");
  stack.d_feed_forward = config.size("hidden_dim");
  stack.norm_eps = 1e-12F;  // fixed in the published code
  stack.block.norm_place = NormPlace::post;
  stack.block.activation = config.activation("activation", "gelu");
  set_heads(stack, config, "n_heads", nullptr, 0);

  stack.words = prefix + "embeddings.word_embeddings.weight";
  stack.positions = position_table(config, prefix + "embeddings.position_embeddings.weight", 0);
  stack.embedding_norm = weight_and_bias(prefix + "embeddings.LayerNorm");
  stack.self = {weight_and_bias(at + "attention.q_lin"), weight_and_bias(at + "attention.k_lin"),
                weight_and_bias(at + "attention.v_lin"), weight_and_bias(at + "attention.out_lin")};
  stack.self_norm = weight_and_bias(at + "sa_layer_norm");
  stack.widen = weight_and_bias(at + "ffn.lin1");
  stack.narrow = weight_and_bias(at + "ffn.lin2");
  stack.feed_forward_norm = weight_and_bias(at + "output_layer_norm");

  map.longest = stack.positions.rows;
  if (has("vocab_transform.weight")) {
    map.prediction.transform = weight_and_bias("vocab_transform");
    map.prediction.activation = stack.block.activation;
    map.prediction.transform_norm = weight_and_bias("vocab_layer_norm");
    const bool own = !config.flag_or("tie_word_embeddings", true) && has("vocab_projector.weight");
    map.prediction.words = {own ? "vocab_projector.weight" : stack.words, "vocab_projector.bias"};
  }
  return map;
}

ModelMap albert_map(const ModelConfig& config, const HasTensor& has) {
  config.require_text("position_embedding_type", "absolute");
  for (const char* key : {"num_hidden_groups", "inner_group_num"})
    if (config.size_or(key, 1) != 1)
      config.fail(fmt::format("'{}' is {}, expected 1: layers that share weights in groups are not known here", key,
                              config.size(key)));
  const std::string prefix = prefix_before({"", "albert."}, {"embeddings.word_embeddings.weight"}, has);
  const std::string at = prefix + "encoder.albert_layer_groups.0.albert_layers.0.";  // every layer's

  ModelMap map;
  StackMap& stack = map.stack;
  set_sizes(stack, config);
  stack.norm_eps = static_cast<float>(config.positive_or("layer_norm_eps", 1e-12));
  stack.block.norm_place = NormPlace::post;
  stack.block.activation = config.activation("hidden_act", "gelu_new");
  set_heads(stack, config, "num_attention_heads", nullptr, 0);

  stack.words = prefix + "embeddings.word_embeddings.weight";
  stack.d_embedding = config.size_or("embedding_size", 128);
  stack.embedding_projection = weight_and_bias(prefix + "encoder.embedding_hidden_mapping_in");
  stack.positions = position_table(config, prefix + "embeddings.position_embeddings.weight", 0);
  stack.token_types = prefix + "embeddings.token_type_embeddings.weight";
  stack.token_type_count = config.size_or("type_vocab_size", 2);
  stack.embedding_norm = weight_and_bias(prefix + "embeddings.LayerNorm");
  stack.self = {weight_and_bias(at + "attention.query"), weight_and_bias(at + "attention.key"),
                weight_and_bias(at + "attention.value"), weight_and_bias(at + "attention.dense")};
  stack.self_norm = weight_and_bias(at + "attention.LayerNorm");
  stack.widen = weight_and_bias(at + "ffn");
  stack.narrow = weight_and_bias(at + "ffn_output");
  stack.feed_forward_norm = weight_and_bias(at + "full_layer_layer_norm");

  map.longest = stack.positions.rows;
  if (has("predictions.dense.weight")) {
    const bool own = !config.flag_or("tie_word_embeddings", true) && has("predictions.decoder.weight");
    map.prediction.transform = weight_and_bias("predictions.dense");
    map.prediction.activation = stack.block.activation;
    map.prediction.transform_norm = weight_and_bias("predictions.LayerNorm");
    map.prediction.words = {own ? "predictions.decoder.weight" : stack.words,
                            has("predictions.decoder.bias") ? "predictions.decoder.bias" : "predictions.bias"};
  }
  map.ignored = {"*position_ids", "*token_type_ids"};
  return map;
}

}  // namespace headwave
