#include "model_config.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../core/errors/error.h"
#include "../files/printable.h"
#include "class_family.h"

namespace headwave {

using nlohmann::json;

namespace {

std::string shown_value(const json& value) {
  return printable(value.dump(-1, ' ', false, json::error_handler_t::replace), 60);
}

}  // namespace

ModelConfig::ModelConfig(const json& value, std::string place) : value_(value), place_(std::move(place)) {
  if (!value_.is_object()) fail("expected an object of settings, found another JSON value");
}

void ModelConfig::fail(const std::string& what) const {
  throw FormatError(fmt::format("{}: {}", place_, what));
}

bool ModelConfig::has(const char* key) const {
  asked_->insert(prefix_ + key);
  return value_.contains(key) && !value_.at(key).is_null();
}

bool ModelConfig::is_null(const char* key) const {
  asked_->insert(prefix_ + key);
  return value_.contains(key) && value_.at(key).is_null();
}

Index ModelConfig::size(const char* key, Index least) const {
  if (!has(key)) fail(fmt::format("'{}' is missing; expected a whole number of at least {}", key, least));
  const json& value = value_.at(key);
  if (!value.is_number_integer()) fail(fmt::format("'{}' is {}, expected a whole number", key, shown_value(value)));
  const bool fits = value.is_number_unsigned() ? value.get<std::uint64_t>() <= static_cast<std::uint64_t>(largest_size)
                                               : value.get<std::int64_t>() <= largest_size;
  if (!fits || value.get<std::int64_t>() < least)
    fail(fmt::format("'{}' is {}, expected {} to {}", key, shown_value(value), least, largest_size));
  return value.get<Index>();
}

Index ModelConfig::size_or(const char* key, Index otherwise, Index least) const {
  return has(key) ? size(key, least) : otherwise;
}

double ModelConfig::positive(const char* key) const {
  if (!has(key)) fail(fmt::format("'{}' is missing; expected a number above 0", key));
  const json& value = value_.at(key);
  if (!value.is_number()) fail(fmt::format("'{}' is {}, expected a number", key, shown_value(value)));
  const double number = value.get<double>();
  if (!std::isfinite(number) || number <= 0)
    fail(fmt::format("'{}' is {}, expected a number above 0", key, shown_value(value)));
  return number;
}

double ModelConfig::positive_or(const char* key, double otherwise) const {
  return has(key) ? positive(key) : otherwise;
}

std::string ModelConfig::text_or(const char* key, const std::string& otherwise) const {
  if (!has(key)) return otherwise;
  if (!value_.at(key).is_string()) fail(fmt::format("'{}' is {}, expected text", key, shown_value(value_.at(key))));
  return value_.at(key).get<std::string>();
}

bool ModelConfig::flag_or(const char* key, bool otherwise) const {
  if (!has(key)) return otherwise;
  if (!value_.at(key).is_boolean())
    fail(fmt::format("'{}' is {}, expected true or false", key, shown_value(value_.at(key))));
  return value_.at(key).get<bool>();
}

ModelConfig ModelConfig::object(const char* key) const {
  if (!has(key)) fail(fmt::format("'{}' is missing; expected an object of settings", key));
  ModelConfig inner(value_.at(key), fmt::format("{}: {}", place_, key));
  inner.prefix_ = prefix_ + key + ".";
  inner.asked_ = asked_;
  asked_->insert(inner.prefix_);
  return inner;
}

std::pair<Index, Index> ModelConfig::sides(const char* key, Index otherwise) const {
  if (!has(key)) return {otherwise, otherwise};
  const json& value = value_.at(key);
  if (value.is_object()) {
    const ModelConfig both = object(key);
    return {both.size("height"), both.size("width")};
  }
  if (!value.is_array()) return {size(key), size(key)};
  if (value.size() != 2) fail(fmt::format("'{}' is {}, expected height and width", key, shown_value(value)));
  const json named{{"height", value[0]}, {"width", value[1]}};
  const ModelConfig both(named, fmt::format("{}: {}", place_, key));
  return {both.size("height"), both.size("width")};
}

std::vector<double> ModelConfig::numbers(const char* key) const {
  const auto refuse = [&] { fail(fmt::format("'{}' is missing, or no list of numbers", key)); };
  if (!has(key) || !value_.at(key).is_array()) refuse();
  std::vector<double> numbers;
  for (const json& entry : value_.at(key)) {
    if (!entry.is_number() || !std::isfinite(entry.get<double>())) refuse();
    numbers.push_back(entry.get<double>());
  }
  return numbers;
}

std::vector<std::string> ModelConfig::words(const char* key) const {
  const auto refuse = [&] { fail(fmt::format("'{}' is no list of words, nor text such as \"a|b\"", key)); };
  std::vector<std::string> words;
  if (!has(key)) return words;
  const json& value = value_.at(key);
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

std::vector<std::string> ModelConfig::by_layer(const char* key, Index count) const {
  const auto refuse = [&] {
    fail(fmt::format("'{}' is missing, or no list with a word for each of {} layers", key, count));
  };
  if (!has(key) || !value_.at(key).is_array()) refuse();
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
  for (const json& entry : value_.at(key)) {
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

void ModelConfig::require(const char* key, bool value) const {
  if (flag_or(key, value) != value)
    fail(fmt::format("'{}' is {}, which changes the numbers in a way that is not known here; expected {}", key, !value,
                     value));
}

void ModelConfig::require_text(const char* key, const std::string& value) const {
  const std::string found = text_or(key, value);
  if (found != value) fail(fmt::format("'{}' is '{}', expected {}", key, printable(found, 60), value));
}

Activation ModelConfig::activation(const char* key, const std::string& otherwise) const {
  return activation_of(text_or(key, otherwise), fmt::format("{}: '{}'", place_, key));
}

std::vector<UnreadSetting> ModelConfig::unread() const {
  std::vector<UnreadSetting> settings;
  for (const auto& [key, value] : value_.items()) {
    const bool empty = value.is_null() || (value.is_structured() && value.empty());
    if (asked_->contains(prefix_ + key + ".")) {
      const std::vector<UnreadSetting> inside = object(key.c_str()).unread();
      settings.insert(settings.end(), inside.begin(), inside.end());
    } else if (!empty && !asked_->contains(prefix_ + key)) {
      settings.push_back({prefix_ + key, value == json(false)});
    }
  }
  return settings;
}

ModelConfig ModelConfig::as(const std::string& family, std::set<std::string> asked) const {
  ModelConfig other = *this;
  other.family_ = family;
  other.asked_ = std::make_shared<std::set<std::string>>(std::move(asked));
  return other;
}

std::string ModelConfig::family() const {
  if (!family_.empty()) return family_;
  if (has("model_type")) return text_or("model_type", "");
  if (has("architectures") && value_.at("architectures").is_array() && !value_.at("architectures").empty() &&
      value_.at("architectures").front().is_string())
    return family_of_class(value_.at("architectures").front().get<std::string>());
  fail("neither 'model_type' nor 'architectures' says which kind of model this is");
}

Activation activation_of(const std::string& name, const std::string& place) {
  if (name == "gelu") return Activation::gelu;
  if (name == "gelu_new" || name == "gelu_pytorch_tanh" || name == "gelu_fast") return Activation::gelu_tanh;
  if (name == "relu") return Activation::relu;
  if (name == "silu" || name == "swish") return Activation::silu;
  throw FormatError(
      fmt::format("{} is '{}', expected gelu, gelu_new, gelu_pytorch_tanh, gelu_fast, relu, silu or swish", place,
                  printable(name, 60)));
}

}  // namespace headwave
