#include "intervention_text.h"

#include <charconv>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "../../core/model/intervention.h"
#include "../../core/numbers/error.h"
#include "../../core/numbers/nearest_name.h"
#include "../../data/files/printable.h"

namespace headwave {

namespace {

[[noreturn]] void refuse(const char* expected) {
  throw FormatError(fmt::format("expected {}", expected));
}

/// A message from core begins with the function that refused; a user gave an option.
std::string without_function(std::string_view message) {
  const auto colon = message.find(": ");
  const bool is_function =
      colon != std::string_view::npos && message.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == colon;
  return std::string(is_function ? message.substr(colon + 2) : message);
}

void require_position_table(const Model& model) {
  if (!model.stack.embedding.positions.empty()) return;
  const PositionTerm* term = model.stack.position_term.get();
  throw ShapeError(fmt::format("a {} has no position table to change{}", model.family,
                               term == nullptr ? "" : fmt::format(" (its positions are {})", term->name())));
}

/// What stands before and after the last `mark`.
std::pair<std::string_view, std::string_view> split(std::string_view text, char mark, const char* expected) {
  const auto at = text.rfind(mark);
  if (at == std::string_view::npos) refuse(expected);
  return {text.substr(0, at), text.substr(at + 1)};
}

Index whole_number(std::string_view text, const char* expected) {
  std::string_view digits = text;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.empty()) refuse(expected);
  return static_cast<Index>(number);
}

std::vector<HeadName> heads_of(std::string_view text) {
  std::vector<HeadName> heads;
  while (true) {
    const auto comma = text.find(',');
    heads.push_back(parse_head_name(text.substr(0, comma)));
    if (comma == std::string_view::npos) return heads;
    text.remove_prefix(comma + 1);
  }
}

Model pruned(const Model& model, std::string_view text) {
  for (const AttentionKind kind : {AttentionKind::self, AttentionKind::causal, AttentionKind::cross}) {
    const std::string begins = std::string(name_of(kind)) + ":";
    if (text.starts_with(begins)) return without_heads(model, heads_of(text.substr(begins.size())), kind);
  }
  return without_heads(model, heads_of(text));
}

void apply(JobInput& input, const std::string& text, const InterventionOptions& options) {
  const auto equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const std::string_view value = equals == std::string::npos ? "" : std::string_view(text).substr(equals + 1);
  const bool plain = equals == std::string::npos;
  if (name == "words-only" && plain) {
    input.model = words_only(input.model);
  } else if (name == "positions-only" && plain) {
    input.model = positions_only(input.model);
  } else if (name == "shuffled-words" && plain) {
    input.source = shuffled_words(std::move(input.source), options.seed, options.shuffles);
  } else if (name == "without-heads" && !plain) {
    input.model = pruned(input.model, value);
  } else if (name == "without-band" && !plain) {
    const char* expected = "without-band=FIRST:LAST, in cycles per T";
    const auto [first, last] = split(value, ':', expected);
    require_position_table(input.model);
    input.model = without_band(input.model, whole_number(first, expected), whole_number(last, expected));
  } else if (name == "re-aim" && !plain) {
    const char* expected = "re-aim=HEADS:TOKENS, such as re-aim=L2H3,L4H1:+2";
    const auto [heads, shift] = split(value, ':', expected);
    require_position_table(input.model);
    input.model = re_aimed(input.model, heads_of(heads), whole_number(shift, expected));
  } else {
    const std::string meant = did_you_mean(
        name, {"words-only", "positions-only", "shuffled-words", "without-heads", "without-band", "re-aim"});
    if (!meant.empty() && meant.find("'" + name + "'") == std::string::npos)
      throw FormatError(fmt::format("there is no intervention '{}'{}", printable(text, 60), meant));
    refuse(
        "words-only, positions-only, shuffled-words, without-heads=HEADS, without-band=FIRST:LAST or "
        "re-aim=HEADS:TOKENS");
  }
}

}  // namespace

void intervene(JobInput& input, const std::vector<std::string>& interventions, const InterventionOptions& options) {
  std::string list;
  for (const std::string& text : interventions) {
    const auto named = [&](const Error& problem) {
      return fmt::format("--intervene {}: {}", printable(text, 60), without_function(problem.what()));
    };
    try {
      apply(input, text, options);
    } catch (const FormatError& problem) {
      throw FormatError(named(problem));
    } catch (const ShapeError& problem) {
      throw ShapeError(named(problem));
    }
    list += (list.empty() ? "" : " ") + text;
  }
  if (!list.empty()) input.provenance["interventions"] = list;
}

}  // namespace headwave
