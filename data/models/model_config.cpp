#include "model_config.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../core/errors/error.h"
#include "../files/printable.h"

namespace headwave {

using nlohmann::json;

const json* ModelConfig::look(const std::string& key) const {
  asked_->insert(prefix_ + key);
  const std::size_t dot = key.find('.');
  const json* found = JsonObject::look(key.substr(0, dot));
  if (found == nullptr || dot == std::string::npos) return found;
  const std::string outer = key.substr(0, dot), inner = key.substr(dot + 1);
  if (found->is_object()) return object(outer).look(inner);
  asked_->insert(prefix_ + outer);
  return nullptr;
}

bool ModelConfig::is_null(const std::string& key) const {
  const json* value = look(key);
  return value != nullptr && value->is_null();
}

std::string ModelConfig::shown(const std::string& key) const {
  const json* value = look(key);
  return value == nullptr ? "null" : shown_value(*value);
}

std::optional<double> ModelConfig::number(const std::string& key) const {
  if (!has(key)) return {};
  const json& value = *find(key);
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (!value.is_number() || !std::isfinite(value.get<double>()))
    fail(fmt::format("'{}' is {}, expected a number, true or false", key, shown_value(value)));
  return value.get<double>();
}

Index ModelConfig::size(const std::string& key) const {
  const json& value = wanted(key, &json::is_number_integer, "a whole number of at least 1");
  const auto number = value.get<double>();
  if (number < 1 || number > static_cast<double>(largest_size))
    fail(fmt::format("'{}' is {}, expected 1 to {}", key, shown_value(value), largest_size));
  return value.get<Index>();
}

double ModelConfig::positive(const std::string& key) const {
  const json& value = wanted(key, &json::is_number, "a number above 0");
  const double number = value.get<double>();
  if (!std::isfinite(number) || number <= 0)
    fail(fmt::format("'{}' is {}, expected a number above 0", key, shown_value(value)));
  return number;
}

double ModelConfig::positive_or(const std::string& key, double otherwise) const {
  return has(key) ? positive(key) : otherwise;
}

std::vector<double> ModelConfig::numbers(const std::string& key) const {
  std::vector<double> numbers;
  if (!has(key)) return numbers;
  for (const json& entry : list(key)) {
    if (!entry.is_number() || !std::isfinite(entry.get<double>()))
      fail(fmt::format("'{}' is {}, expected a list of numbers", key, shown(key)));
    numbers.push_back(entry.get<double>());
  }
  return numbers;
}

ModelConfig ModelConfig::object(const std::string& key) const {
  ModelConfig inner(wanted(key, &json::is_object, "an object of settings"), fmt::format("{}: {}", place(), key));
  inner.prefix_ = prefix_ + key + ".";
  inner.asked_ = asked_;
  asked_->insert(inner.prefix_);
  return inner;
}

std::vector<std::string> ModelConfig::words(const std::string& key) const {
  const auto refuse = [&] {
    fail(fmt::format("'{}' is {}, expected a list of strings, or one string such as \"a|b\"", key, shown(key)));
  };
  std::vector<std::string> words;
  if (!has(key)) return words;
  const json& value = *find(key);
  if (!value.is_string() && !value.is_array()) refuse();
  std::string all = value.is_string() ? value.get<std::string>() : "";
  for (const json& entry : value.is_array() ? value : json::array()) {
    if (!entry.is_string()) refuse();
    if (!all.empty()) all += '|';
    all += entry.get<std::string>();
  }
  std::istringstream parts(all);
  for (std::string word; std::getline(parts, word, '|');) {
    std::erase(word, ' ');
    std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::tolower(c); });
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

std::vector<std::string> ModelConfig::by_layer(const std::string& key, Index count) const {
  const auto refuse = [&] {
    fail(fmt::format("'{}' is {}, expected a list with a string for each of {} layers", key, shown(key), count));
  };
  if (!has(key) || !find(key)->is_array()) refuse();
  const auto wanted = static_cast<std::size_t>(count);
  std::vector<std::string> words;
  const auto add = [&](const json& word) {
    if (word.is_string())
      words.push_back(word.get<std::string>());
    else if (word.is_number_integer())
      words.push_back(word.dump());
    else
      refuse();
  };
  for (const json& entry : *find(key)) {
    if (!entry.is_array()) {
      add(entry);
      continue;
    }
    if (entry.size() != 2 || !entry[0].is_array() || entry[0].empty() || !entry[1].is_number_unsigned()) refuse();
    for (std::uint64_t time = 0; time < entry[1].get<std::uint64_t>() && words.size() < wanted; ++time)
      for (const json& word : entry[0]) add(word);
  }
  if (words.size() < wanted) refuse();
  words.resize(wanted);
  return words;
}

std::string ModelConfig::architecture() const {
  const json* classes = find("architectures");
  const bool named = classes != nullptr && classes->is_array() && !classes->empty() && classes->front().is_string();
  return named ? classes->front().get<std::string>() : "";
}

namespace {

/// Whether a key leaves attention and states alone, whatever its value.
bool is_harmless(std::string_view key) {
  static const std::set<std::string_view> names{
      // what the file is, and who wrote it
      "_name_or_path", "_attn_implementation", "_attn_implementation_autoset", "_commit_hash", "architectures",
      "auto_map", "custom_pipelines", "dtype", "finetuning_task", "id2label", "label2id", "language", "model_type",
      "name_or_path", "num_labels", "problem_type", "task_specific_params", "tokenizer_class", "torch_dtype",
      "transformers_version", "use_bfloat16", "vocab_size_or_config_json_file",
      // how it is trained
      "dropout", "embd_pdrop", "gradient_checkpointing", "initializer_factor", "initializer_range", "label_smoothing",
      "layerdrop", "output_attentions", "output_hidden_states", "output_past", "pretraining_tp", "resid_pdrop",
      "return_dict", "tf_legacy_loss", "torchscript", "use_cache", "chunk_size_feed_forward", "output_router_logits",
      "router_aux_loss_coef", "router_jitter_noise", "aux_loss_alpha", "seq_aux", "ep_size", "cache_implementation",
      "for_llm_compressor",
      // how it predicts tokens
      "classifier_activation", "classifier_bias", "decoder_bias", "final_logit_softcapping", "legacy", "logit_scale",
      "logits_scaling",
      // told by which tensors exist
      "is_encoder_decoder", "tie_encoder_decoder", "tie_word_embeddings",
      // what it generates, and with which tokens
      "bad_words_ids", "begin_suppress_tokens", "diversity_penalty", "do_sample", "early_stopping",
      "encoder_no_repeat_ngram_size", "exponential_decay_length_penalty", "length_penalty", "max_length", "min_length",
      "no_repeat_ngram_size", "num_beam_groups", "num_beams", "num_return_sequences", "output_scores", "prefix",
      "remove_invalid_values", "repetition_penalty", "return_dict_in_generate", "suppress_tokens", "temperature",
      "top_k", "top_p", "typical_p"};
  if (key == "token_dropout" || key == "moe_token_dropout") return false;  // these act at inference too
  return names.contains(key) || key.ends_with("_token_id") || key.ends_with("_dropout") ||
         key.ends_with("_dropout_prob") || key.ends_with("_pdrop") || key.ends_with("_layerdrop") ||
         key.starts_with("summary_");
}

/// Whether a switch changes nothing while it is off.
bool is_harmless_off(std::string_view key) {
  static const std::set<std::string_view> names{"add_cross_attention", "is_decoder",  "qk_norm",
                                                "use_mrope",           "use_qk_norm", "use_sliding_window"};
  return names.contains(key);
}

}  // namespace

void ModelConfig::leave_all_but(const std::string& key) const {
  for (const auto& [name, value] : value().items())
    if (name != key) asked_->insert(prefix_ + name);
}

std::vector<std::string> ModelConfig::unread() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : value().items()) {
    const bool empty = value.is_null() || (value.is_structured() && value.empty());
    if (value.is_object() && asked_->contains(prefix_ + key + ".")) {
      const std::vector<std::string> inside = object(key).unread();
      keys.insert(keys.end(), inside.begin(), inside.end());
    } else if (!empty && !asked_->contains(prefix_ + key) && !is_harmless(key) &&
               !(value == json(false) && is_harmless_off(key))) {
      keys.push_back(prefix_ + key);
    }
  }
  return keys;
}

}  // namespace headwave
