#include "intervention_text.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../core/errors/error.h"
#include "../../core/errors/nearest_name.h"
#include "../../core/model/intervention.h"
#include "../../core/model/source.h"
#include "../../data/files/printable.h"

namespace headwave {

namespace {

/// @throws ShapeError if the model has none, with the intervention to use instead
void require_position_table(const Model& model) {
  if (!model.stack.embedding.positions.empty()) return;
  const PositionTerm& term = model.stack.position_term;
  throw ShapeError(fmt::format(
      "a {} has no position table{}, so without words its input would be zero; shuffled-words keeps positions and "
      "removes the order of words",
      model.family, term ? fmt::format(" (its positions are {})", term.name()) : ""));
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

/// Prunes heads, "L0H1,L2H3", or heads of one kind of attention of an encoder-decoder, "cross:L0H1".
Model pruned(const Model& model, std::string_view text) {
  for (const AttentionKind kind : {AttentionKind::self, AttentionKind::causal, AttentionKind::cross}) {
    const std::string begins = std::string(name_of(kind)) + ":";
    if (text.starts_with(begins)) return without_heads(model, heads_of(text.substr(begins.size())), kind);
  }
  return without_heads(model, heads_of(text));
}

struct Intervention {
  const char* name;
  const char* value;  ///< what stands after =; null: nothing
  /// @param value  as given
  void (*apply)(JobInput& input, std::string_view value, const InterventionOptions& options);
};

constexpr std::array all_interventions{
    Intervention{
        "words-only", nullptr,
        [](JobInput& input, std::string_view, const InterventionOptions&) { input.model = words_only(input.model); }},
    Intervention{"positions-only", nullptr,
                 [](JobInput& input, std::string_view, const InterventionOptions&) {
                   require_position_table(input.model);
                   input.model = positions_only(input.model);
                 }},
    Intervention{"shuffled-words", nullptr,
                 [](JobInput& input, std::string_view, const InterventionOptions& options) {
                   input.source = shuffled_words(std::move(input.source), options.seed, options.shuffles);
                 }},
    Intervention{"without-heads", "HEADS",
                 [](JobInput& input, std::string_view value, const InterventionOptions&) {
                   input.model = pruned(input.model, value);
                 }},
};

/// @throws FormatError naming the nearest intervention if there is none of that name
const Intervention& intervention_of(const std::string& text) {
  const auto equals = text.find('=');
  const bool plain = equals == std::string::npos;
  const std::string name = text.substr(0, equals);
  std::vector<std::string> names;
  for (const Intervention& known : all_interventions) {
    if (name == known.name && plain == (known.value == nullptr)) return known;
    names.emplace_back(known.name);
  }
  const std::string meant = did_you_mean(name, names);
  if (!meant.empty() && meant.find("'" + name + "'") == std::string::npos)
    throw FormatError(fmt::format("there is no intervention '{}'{}", printable(text, 60), meant));
  throw FormatError(fmt::format("expected {}", known_interventions()));
}

/// Stored states and attention have already been made from words and positions.
void require_words_and_positions(const Source& source) {
  if (source.document(0).stored.empty()) return;
  throw ShapeError(
      "interventions do not apply to stored states or attention, which already depend on words and positions",
      omit("intervene"));
}

}  // namespace

std::string known_interventions() {
  std::vector<std::string> known;
  for (const Intervention& one : all_interventions)
    known.push_back(one.value == nullptr ? one.name : fmt::format("{}={}", one.name, one.value));
  const auto last = known.end() - 1;
  return fmt::format("{} or {}", fmt::join(known.begin(), last, ", "), *last);
}

void intervene(JobInput& input, const std::vector<std::string>& interventions, const InterventionOptions& options) {
  if (interventions.empty()) return;
  require_words_and_positions(*input.source);
  for (const std::string& text : interventions) {
    const auto named = [&](const Error& problem) {
      return fmt::format("intervention {}: {}", printable(text, 60), problem.finding());
    };
    try {
      const Intervention& what = intervention_of(text);
      what.apply(input, what.value == nullptr ? "" : std::string_view(text).substr(text.find('=') + 1), options);
    } catch (const FormatError& problem) {
      throw FormatError(named(problem), problem.remedies());
    } catch (const ShapeError& problem) {
      throw ShapeError(named(problem), problem.remedies());
    }
  }
  input.provenance["interventions"] = fmt::format("{}", fmt::join(interventions, " "));
}

}  // namespace headwave
