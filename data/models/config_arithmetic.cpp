#include "config_arithmetic.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace headwave {

namespace {

/// Keys that leave attention and states alone whatever they hold.
bool is_harmless(std::string_view key) {
  static const std::set<std::string_view> names{
      // what the file is, and who wrote it
      "_name_or_path", "_attn_implementation", "_attn_implementation_autoset", "_commit_hash", "architectures",
      "auto_map", "custom_pipelines", "dtype", "finetuning_task", "id2label", "label2id", "language", "model_type",
      "name_or_path", "num_labels", "pooler_act", "pooler_output_size", "problem_type", "task_specific_params",
      "tokenizer_class", "torch_dtype", "transformers_version", "use_bfloat16", "vocab_size_or_config_json_file",
      // how it is trained
      "embd_pdrop", "gradient_checkpointing", "initializer_factor", "initializer_range", "label_smoothing", "layerdrop",
      "output_attentions", "output_hidden_states", "output_past", "pretraining_tp", "resid_pdrop", "return_dict",
      "tf_legacy_loss", "torchscript", "use_cache", "chunk_size_feed_forward",
      // told by which tensors there are
      "is_encoder_decoder", "tie_encoder_decoder", "tie_word_embeddings",
      // what it writes, and with which tokens
      "bad_words_ids", "begin_suppress_tokens", "diversity_penalty", "do_sample", "early_stopping",
      "encoder_no_repeat_ngram_size", "exponential_decay_length_penalty", "length_penalty", "max_length", "min_length",
      "no_repeat_ngram_size", "num_beam_groups", "num_beams", "num_return_sequences", "output_scores", "prefix",
      "remove_invalid_values", "repetition_penalty", "return_dict_in_generate", "suppress_tokens", "temperature",
      "top_k", "top_p", "typical_p"};
  if (key == "token_dropout" || key == "moe_token_dropout") return false;  // these act on what is read, not in training
  return names.contains(key) || key.ends_with("_token_id") || key.ends_with("_dropout") ||
         key.ends_with("_dropout_prob") || key.ends_with("_pdrop") || key.ends_with("_layerdrop") || key == "dropout" ||
         key.starts_with("summary_");
}

/// Switches that change nothing while they are off.
bool is_harmless_off(std::string_view key) {
  static const std::set<std::string_view> names{"add_cross_attention", "is_decoder",  "qk_norm",
                                                "use_mrope",           "use_qk_norm", "use_sliding_window"};
  return names.contains(key);
}

}  // namespace

std::vector<std::string> unread_arithmetic(const ModelConfig& config) {
  std::vector<std::string> unread;
  for (const UnreadSetting& setting : config.unread()) {
    const std::size_t dot = setting.key.rfind('.');
    const std::string_view name = std::string_view(setting.key).substr(dot == std::string::npos ? 0 : dot + 1);
    if (!is_harmless(name) && !(setting.is_off && is_harmless_off(name))) unread.push_back(setting.key);
  }
  return unread;
}

bool is_of_a_head(std::string_view tensor) {
  static const std::set<std::string_view> names{"pooler",
                                                "classifier",
                                                "classification_head",
                                                "cls",
                                                "score",
                                                "qa_outputs",
                                                "lm_head",
                                                "predictions",
                                                "generator_lm_head",
                                                "vocab_projector",
                                                "vocab_transform",
                                                "vocab_layer_norm",
                                                "lm_predictions",
                                                "mask_predictions",
                                                "final_logits_bias"};
  bool is_head = false;
  while (!tensor.empty()) {
    const std::size_t dot = std::min(tensor.find('.'), tensor.size());
    const std::string_view part = tensor.substr(0, dot);
    // What has a number belongs to a layer.
    if (std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; })) return false;
    is_head = is_head || names.contains(part);
    tensor.remove_prefix(std::min(dot + 1, tensor.size()));
  }
  return is_head;
}

std::string silent_arithmetic(const std::string& model_type) {
  const std::string offset_norms =
      "its norms multiply by 1 + weight and its words are scaled by sqrt(d_model): give norm_offset and word_scale in "
      "a "
      "map";
  const std::string pairs_of_neighbours =
      "its rotary positions turn neighbouring channels: give pairing = \"neighbours\" in a map";
  const std::string norms_first = "its norms come first in a block and once more at the end of each side";
  static const std::map<std::string, std::string> known{
      {"blenderbot", norms_first},
      {"blenderbot-small", "its embedding norm comes before the positions in one side"},
      {"data2vec-text", "its positions begin at row pad_token_id + 1: give first_row in a map"},
      {"ernie4_5", pairs_of_neighbours},
      {"eurobert", "it looks in both directions: leave causal out of a map"},
      {"cohere", pairs_of_neighbours},
      {"glm", pairs_of_neighbours},
      {"glm4", pairs_of_neighbours},
      {"helium", pairs_of_neighbours},
      {"m2m_100", norms_first},
      {"mbart", norms_first},
      {"pegasus", norms_first},
      {"vaultgemma", offset_norms},
      {"vit_mae", "it hides most patches of an image at random"},
  };
  const auto found = known.find(model_type);
  return found == known.end() ? "" : found->second;
}

}  // namespace headwave
