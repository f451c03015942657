#include "intervention_text.h"

#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/model/intervention.h"
#include "../../core/model/mean_keys.h"
#include "../../core/model/rotary_intervention.h"
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

/// Heads, and of which attention of an encoder-decoder: L0H1,L2H3 or cross:L0H1.
struct HeadsOfKind {
  std::vector<HeadName> heads;
  AttentionKind kind = AttentionKind::self;
};

HeadsOfKind heads_of_kind(std::string_view text) {
  for (const AttentionKind kind : {AttentionKind::self, AttentionKind::causal, AttentionKind::cross}) {
    const std::string begins = std::string(name_of(kind)) + ":";
    if (text.starts_with(begins)) return {heads_of(text.substr(begins.size())), kind};
  }
  return {heads_of(text)};
}

/// What was given of an intervention, beside its name.
struct Given {
  std::string_view value;  ///< what stands after =
  const char* expected;    ///< what a value that cannot be read should have been
  const InterventionOptions& options;

  /// What stands before and after the last colon.
  [[nodiscard]] std::pair<std::string_view, std::string_view> parts() const { return split(value, ':', expected); }
  [[nodiscard]] Index number(std::string_view text) const { return whole_number(text, expected); }
};

struct Intervention {
  const char* name;
  const char* value;     ///< what stands after =; null: nothing
  const char* expected;  ///< where heads alone do not say it
  bool projections;      ///< whether it changes what a layer makes of the states that enter it, and nothing before
  void (*apply)(JobInput& input, const Given& given);
};

constexpr std::array all_interventions{
    Intervention{"words-only", nullptr, nullptr, false,
                 [](JobInput& input, const Given&) { input.model = words_only(input.model); }},
    Intervention{"positions-only", nullptr, nullptr, false,
                 [](JobInput& input, const Given&) { input.model = positions_only(input.model); }},
    Intervention{"shuffled-words", nullptr, nullptr, false,
                 [](JobInput& input, const Given& given) {
                   input.source = shuffled_words(std::move(input.source), given.options.seed, given.options.shuffles);
                 }},
    Intervention{"without-heads", "HEADS", nullptr, false,
                 [](JobInput& input, const Given& given) {
                   const auto [heads, kind] = heads_of_kind(given.value);
                   input.model = without_heads(input.model, heads, kind);
                 }},
    Intervention{"without-band", "FIRST:LAST", "without-band=FIRST:LAST, in cycles per T", false,
                 [](JobInput& input, const Given& given) {
                   const auto [first, last] = given.parts();
                   require_position_table(input.model);
                   input.model = without_band(input.model, given.number(first), given.number(last));
                 }},
    Intervention{"re-aim", "HEADS:TOKENS", "re-aim=HEADS:TOKENS, such as re-aim=L2H3,L4H1:+2", true,
                 [](JobInput& input, const Given& given) {
                   const auto [heads, shift] = given.parts();
                   require_position_table(input.model);
                   require_stored(*input.source, heads_of(heads));
                   input.model = re_aimed(input.model, heads_of(heads), given.number(shift));
                 }},
    Intervention{"turn", "HEADS:TOKENS", "turn=HEADS:TOKENS, such as turn=L2H3,L4H1:+2", true,
                 [](JobInput& input, const Given& given) {
                   const auto [named, shift] = given.parts();
                   const auto [heads, kind] = heads_of_kind(named);
                   require_stored(*input.source, heads);
                   input.model = turned(input.model, heads, given.number(shift), kind);
                 }},
    Intervention{"without-pairs", "FIRST:LAST", "without-pairs=FIRST:LAST, pairs of channels, 0 the fastest", true,
                 [](JobInput& input, const Given& given) {
                   const auto [first, last] = given.parts();
                   input.model = without_pairs(input.model, given.number(first), given.number(last));
                 }},
    Intervention{"mean-keys", "HEADS", nullptr, true,
                 [](JobInput& input, const Given& given) {
                   const auto [heads, kind] = heads_of_kind(given.value);
                   require_stored(*input.source, heads);
                   input.model = mean_keys(input.model, *input.source, heads, {kind, given.options.threads});
                 }},
};

const Intervention* found(std::string_view text) {
  const auto equals = text.find('=');
  const bool plain = equals == std::string_view::npos;
  for (const Intervention& known : all_interventions)
    if (text.substr(0, equals) == known.name && plain == (known.value == nullptr)) return &known;
  return nullptr;
}

void apply(JobInput& input, const std::string& text, const InterventionOptions& options) {
  const auto equals = text.find('=');
  if (const Intervention* known = found(text)) {
    known->apply(input,
                 {known->value == nullptr ? "" : std::string_view(text).substr(equals + 1), known->expected, options});
    return;
  }
  const std::string name = text.substr(0, equals);
  std::vector<std::string> names;
  for (const Intervention& known : all_interventions) names.emplace_back(known.name);
  const std::string meant = did_you_mean(name, names);
  if (!meant.empty() && meant.find("'" + name + "'") == std::string::npos)
    throw FormatError(fmt::format("there is no intervention '{}'{}", printable(text, 60), meant));
  refuse(known_interventions().c_str());
}

/// States that were captured of a changed model are run with the same changes of queries and keys, which the states do not
/// hold.
void require_those_of_capture(const JobInput& input, const std::vector<std::string>& interventions) {
  const Attributes provenance = input.source->provenance();
  for (const std::string& one : projection_interventions(attribute_text(provenance, "captured_interventions"))) {
    if (std::ranges::count(interventions, one) > 0) continue;
    const Document first = input.source->document(0);
    if (first.stored.empty() || first.stored.front().states.size() == 0 || first.stored.front().query.size() > 0)
      return;
    throw ShapeError(fmt::format(
        "the states were captured with --intervene {}, which changes queries and keys; say --intervene {} here, too",
        printable(one, 60), printable(one, 60)));
  }
}

}  // namespace

std::string known_interventions(bool of_projections) {
  std::vector<std::string> known;
  for (const Intervention& one : all_interventions)
    if (one.projections || !of_projections)
      known.push_back(one.value == nullptr ? one.name : fmt::format("{}={}", one.name, one.value));
  const auto last = known.end() - 1;
  return fmt::format("{} or {}", fmt::join(known.begin(), last, ", "), *last);
}

bool changes_projections(std::string_view intervention) {
  const Intervention* known = found(intervention);
  return known != nullptr && known->projections;
}

std::vector<std::string> projection_interventions(std::string_view list) {
  std::vector<std::string> wanted;
  while (!list.empty()) {
    const std::string_view one = list.substr(0, list.find(' '));
    if (changes_projections(one)) wanted.emplace_back(one);
    list.remove_prefix(std::min(one.size() + 1, list.size()));
  }
  return wanted;
}

void intervene(JobInput& input, const std::vector<std::string>& interventions, const InterventionOptions& options) {
  require_those_of_capture(input, interventions);
  if (interventions.empty()) return;
  if (const Document first = input.source->document(0);
      !first.stored.empty() && !first.stored.front().attention.empty())
    throw ShapeError("--intervene: finished attention has no queries and keys to be changed; leave it away");
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
