#include "array_facts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "named_arrays.h"

namespace headwave {

namespace {

/// Calls `visit` with every fact: the attribute that it is in a file, and its value.
template <class Facts, class Visit>
void each_fact(Facts& facts, const Visit& visit) {
  visit("num_heads", facts.heads);
  visit("head_dim", facts.d_head);
  visit("window", facts.window);
  visit("causal", facts.causal);
  visit("turned", facts.turned);
  visit("score_scale", facts.scale);
}

constexpr std::array<std::pair<std::string_view, ArrayAxis>, array_axis_kinds> axis_words{
    {{"layer", ArrayAxis::layer},
     {"document", ArrayAxis::document},
     {"head", ArrayAxis::head},
     {"token", ArrayAxis::token},
     {"width", ArrayAxis::width},
     {"query", ArrayAxis::query},
     {"key", ArrayAxis::key}}};

}  // namespace

AttentionFacts attention_facts(const NamedArrays& arrays) {
  AttentionFacts facts;
  each_fact(facts, [&]<class Value>(const char* name, std::optional<Value>& fact) {
    const std::optional<double> number = arrays.number(name);
    if (!number) return;
    const char* expected = nullptr;
    if constexpr (std::is_same_v<Value, bool>)
      expected = *number == 0 || *number == 1 ? nullptr : "0 or 1";
    else if constexpr (std::is_same_v<Value, Index>)
      expected =
          *number >= 1 && *number <= 1e6 && *number == std::floor(*number) ? nullptr : "a whole number of at least 1";
    else
      expected = *number > 0 ? nullptr : "a number above 0";
    if (expected != nullptr)
      throw FormatError(
          fmt::format("{}: attribute '{}' is {:g}, expected {}", arrays.path().string(), name, *number, expected));
    fact = static_cast<Value>(*number);
  });
  return facts;
}

void require_same_attention(const std::filesystem::path& path, const AttentionFacts& facts, const BlockSpec& spec) {
  // Attributes are often float32: seven digits.
  const auto require = [&](const char* name, const auto& fact, double model, double tolerance = 0) {
    if (fact && std::abs(static_cast<double>(*fact) - model) > tolerance)
      throw ShapeError(fmt::format("{}: attribute '{}' is {:g}, the model's is {:g}; are the states from this model?",
                                   path.string(), name, static_cast<double>(*fact), model));
  };
  require("num_heads", facts.heads, static_cast<double>(spec.heads));
  require("head_dim", facts.d_head, static_cast<double>(spec.d_head));
  require("causal", facts.causal, spec.causal ? 1 : 0);
  require("window", facts.window, static_cast<double>(spec.window));
  require("score_scale", facts.scale, spec.score_scale, 1e-6 * spec.score_scale);
}

std::optional<std::vector<ArrayAxis>> array_axes(std::string_view text) {
  std::vector<ArrayAxis> axes;
  while (true) {
    const std::size_t comma = text.find(',');
    std::string_view word = text.substr(0, comma);
    word.remove_prefix(std::min(word.find_first_not_of(' '), word.size()));
    word = word.substr(0, word.find_last_not_of(' ') + 1);
    const auto found = std::ranges::find(axis_words, word, [](const auto& known) { return known.first; });
    if (found == axis_words.end() || std::ranges::find(axes, found->second) != axes.end()) return {};
    axes.push_back(found->second);
    if (comma == text.npos) break;
    text.remove_prefix(comma + 1);
  }
  const auto has = [&](ArrayAxis axis) { return std::ranges::find(axes, axis) != axes.end(); };
  const bool states = has(ArrayAxis::token) && has(ArrayAxis::width);
  const bool attention = has(ArrayAxis::query) && has(ArrayAxis::key);
  const bool mixed = has_keys(axes) && (has(ArrayAxis::token) || has(ArrayAxis::width));
  if (mixed || !(states || attention)) return {};
  return axes;
}

bool has_keys(const std::vector<ArrayAxis>& axes) {
  return std::ranges::find(axes, ArrayAxis::query) != axes.end() ||
         std::ranges::find(axes, ArrayAxis::key) != axes.end();
}

std::string axes_text(const std::vector<ArrayAxis>& axes) {
  std::string text;
  for (const ArrayAxis axis : axes) {
    const auto found = std::ranges::find(axis_words, axis, [](const auto& known) { return known.second; });
    text += fmt::format("{}{}", text.empty() ? "" : ", ", found->first);
  }
  return text;
}

}  // namespace headwave
