#include "intervention_text.h"

#include <algorithm>
#include <array>
#include <charconv>
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

[[noreturn]] void refuse(const char* expected) {
  throw FormatError(fmt::format("expected {}", expected));
}

/// @param needed   for what: " to change"
/// @param instead  what any model can do instead, and one with rotary positions
/// @throws ShapeError that says so, if the model has none
void require_position_table(const Model& model, const char* needed, const char* instead, const char* if_rotary) {
  if (!model.stack.embedding.positions.empty()) return;
  const PositionTerm& term = model.stack.position_term;
  throw ShapeError(fmt::format("a {} has no position table{}{}{}{}", model.family, needed,
                               term ? fmt::format(" (its positions are {})", term.name()) : "", instead,
                               model.stack.rotary() == nullptr ? "" : if_rotary));
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
  bool again;  ///< done when states were captured: its heads may be of layers that are not stored

  /// What stands before and after the last colon.
  [[nodiscard]] std::pair<std::string_view, std::string_view> parts() const { return split(value, ':', expected); }
  [[nodiscard]] Index number(std::string_view text) const { return whole_number(text, expected); }
  void require_stored(const Source& source, const std::vector<HeadName>& heads) const {
    if (!again) headwave::require_stored(source, heads);
  }
};

/// What an intervention changes.
enum class Change {
  model,        ///< what comes before a layer's projections, or after them
  documents,    ///< nothing of the model
  projections,  ///< what a layer makes of the states that enter it, and nothing before
  mean_keys     ///< the same, by what the documents make of the model as it is
};

struct Intervention {
  const char* name;
  const char* value;     ///< what stands after =; null: nothing
  const char* expected;  ///< where heads alone do not say it
  Change change;
  [[nodiscard]] bool of_projections() const { return change == Change::projections || change == Change::mean_keys; }
  void (*apply)(JobInput& input, const Given& given);
};

constexpr std::array all_interventions{
    Intervention{"words-only", nullptr, nullptr, Change::model,
                 [](JobInput& input, const Given&) { input.model = words_only(input.model); }},
    Intervention{"positions-only", nullptr, nullptr, Change::model,
                 [](JobInput& input, const Given&) {
                   require_position_table(input.model, "",
                                          "; without words its input would be zero. shuffled-words keeps positions and "
                                          "takes the order of words away",
                                          "; turn=HEADS:TOKENS moves positions");
                   input.model = positions_only(input.model);
                 }},
    Intervention{"shuffled-words", nullptr, nullptr, Change::documents,
                 [](JobInput& input, const Given& given) {
                   input.source = shuffled_words(std::move(input.source), given.options.seed, given.options.shuffles);
                 }},
    Intervention{"without-heads", "HEADS", nullptr, Change::model,
                 [](JobInput& input, const Given& given) {
                   const auto [heads, kind] = heads_of_kind(given.value);
                   input.model = without_heads(input.model, heads, kind);
                 }},
    Intervention{"without-band", "FIRST:LAST", "without-band=FIRST:LAST, in cycles per T, the length of most documents",
                 Change::model,
                 [](JobInput& input, const Given& given) {
                   const auto [first, last] = given.parts();
                   require_position_table(input.model, " to change", "",
                                          "; without-pairs=FIRST:LAST takes out frequencies of rotary positions");
                   std::vector<Index> lengths;
                   for (Index i = 0; i < input.source->count(); ++i) lengths.push_back(input.source->length(i));
                   input.model = without_band(input.model, given.number(first), given.number(last),
                                              common_length(lengths).length);
                 }},
    Intervention{"re-aim", "HEADS:TOKENS", "re-aim=HEADS:TOKENS, such as re-aim=L2H3,L4H1:+2", Change::projections,
                 [](JobInput& input, const Given& given) {
                   const auto [heads, shift] = given.parts();
                   require_position_table(input.model, " to change", "",
                                          "; turn=HEADS:TOKENS does the same to heads with rotary positions");
                   given.require_stored(*input.source, heads_of(heads));
                   input.model = re_aimed(input.model, heads_of(heads), given.number(shift));
                 }},
    Intervention{"turn", "HEADS:TOKENS", "turn=HEADS:TOKENS, such as turn=L2H3,L4H1:+2", Change::projections,
                 [](JobInput& input, const Given& given) {
                   const auto [named, shift] = given.parts();
                   const auto [heads, kind] = heads_of_kind(named);
                   given.require_stored(*input.source, heads);
                   input.model = turned(input.model, heads, given.number(shift), kind);
                 }},
    Intervention{"without-pairs", "FIRST:LAST", "without-pairs=FIRST:LAST, pairs of channels, 0 the fastest",
                 Change::projections,
                 [](JobInput& input, const Given& given) {
                   const auto [first, last] = given.parts();
                   input.model = without_pairs(input.model, given.number(first), given.number(last));
                 }},
    Intervention{"mean-keys", "HEADS", nullptr, Change::mean_keys,
                 [](JobInput& input, const Given& given) {
                   const auto [heads, kind] = heads_of_kind(given.value);
                   given.require_stored(*input.source, heads);
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

/// @throws FormatError naming the nearest if there is none of that name
const Intervention& intervention_of(const std::string& text) {
  if (const Intervention* known = found(text)) return *known;
  const std::string name = text.substr(0, text.find('='));
  std::vector<std::string> names;
  for (const Intervention& known : all_interventions) names.emplace_back(known.name);
  const std::string meant = did_you_mean(name, names);
  if (!meant.empty() && meant.find("'" + name + "'") == std::string::npos)
    throw FormatError(fmt::format("there is no intervention '{}'{}", printable(text, 60), meant));
  refuse(known_interventions().c_str());
}

bool has_projections(const Document& first) {
  return std::ranges::any_of(first.stored, [](const StoredLayer& layer) { return layer.query.size() > 0; });
}

/// Those of a list in a provenance, one after another.
std::vector<std::string> listed(std::string_view list) {
  std::vector<std::string> all;
  while (!list.empty()) {
    all.emplace_back(list.substr(0, list.find(' ')));
    list.remove_prefix(std::min(all.back().size() + 1, list.size()));
  }
  return all;
}

/// What a run of captured states has to say again, first of all.
std::vector<std::string> said_again(std::string_view captured, const Document& first) {
  const bool projections = has_projections(first);
  if (!projections) require_capturable(listed(captured));
  return interventions_again(captured, projections);
}

void require_again(const std::vector<std::string>& again, const std::vector<std::string>& interventions) {
  if (interventions.size() >= again.size() && std::equal(again.begin(), again.end(), interventions.begin())) return;
  const std::string list = printable(fmt::format("{}", fmt::join(again, " ")), 200);
  throw ShapeError(fmt::format("the stored states were captured of a model that was changed by {}", list),
                   give("intervene", list, "here, too, in this order and before others"));
}

/// What comes after: it acts on projections, which are still to be made.
void require_effect(const Document& first, const Intervention& what) {
  if (first.stored.empty()) return;
  if (!what.of_projections())
    throw ShapeError(fmt::format(
        "does not apply to stored states: what the model made of words and positions is stored; only {} change queries "
        "and keys",
        known_interventions(true)));
  if (has_projections(first))
    throw ShapeError("has no effect on queries and keys that are stored as they are; store states, which it changes");
}

}  // namespace

std::string known_interventions(bool of_projections) {
  std::vector<std::string> known;
  for (const Intervention& one : all_interventions)
    if (one.of_projections() || !of_projections)
      known.push_back(one.value == nullptr ? one.name : fmt::format("{}={}", one.name, one.value));
  const auto last = known.end() - 1;
  return fmt::format("{} or {}", fmt::join(known.begin(), last, ", "), *last);
}

std::vector<std::string> interventions_again(std::string_view captured, bool projections) {
  std::vector<std::string> again;
  for (const std::string& one : listed(captured)) {
    const Change change = intervention_of(one).change;
    if (change != Change::documents && !(projections && change == Change::mean_keys)) again.push_back(one);
  }
  return again;
}

void require_capturable(const std::vector<std::string>& interventions) {
  for (const std::string& one : interventions)
    if (const Intervention* known = found(one); known != nullptr && known->change == Change::mean_keys)
      throw ShapeError(
          fmt::format("intervention {}: states do not hold the mean keys, which are of all documents and of the model "
                      "as it was",
                      printable(one, 60)),
          give("what", "projections", "to capture queries and keys"));
}

void intervene(JobInput& input, const std::vector<std::string>& interventions, const InterventionOptions& options) {
  std::string captured;  // nothing has to be said again where there are no weights that were changed
  if (input.provenance.contains("model"))
    captured = attribute_text(input.source->provenance(), "captured_interventions");
  if (captured.empty() && interventions.empty()) return;
  const Document first = input.source->document(0);
  const std::vector<std::string> again = said_again(captured, first);
  require_again(again, interventions);
  if (!first.stored.empty() && !first.stored.front().attention.empty())
    throw ShapeError("finished attention has no queries and keys for an intervention to change", omit("intervene"));
  std::string list;
  for (std::size_t i = 0; i < interventions.size(); ++i) {
    const std::string& text = interventions[i];
    const auto named = [&](const Error& problem) {
      return fmt::format("intervention {}: {}", printable(text, 60), problem.finding());
    };
    try {
      const Intervention& what = intervention_of(text);
      if (i >= again.size()) require_effect(first, what);
      const std::size_t begin = what.value == nullptr ? text.size() : text.find('=') + 1;
      what.apply(input, {std::string_view(text).substr(begin), what.expected, options, i < again.size()});
    } catch (const FormatError& problem) {
      throw FormatError(named(problem), problem.remedies());
    } catch (const ShapeError& problem) {
      throw ShapeError(named(problem), problem.remedies());
    }
    list += (list.empty() ? "" : " ") + text;
  }
  if (!list.empty()) input.provenance["interventions"] = list;
}

}  // namespace headwave
