#include "comparison.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <ranges>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../../analysis/statistics/quantile.h"
#include "../../core/errors/error.h"
#include "../../core/fields/field.h"
#include "../../core/fields/field_reader.h"
#include "../../core/fields/fields.h"
#include "../../core/fields/head_name.h"
#include "../../core/fields/measures.h"
#include "../../core/numbers/matrix.h"
#include "../inputs/stored_sums.h"

namespace headwave {

namespace {

constexpr const char *traces_field = "offset_trace/by_document", *trace_count_field = "offset_trace/count";

/// Query-key pairs at every offset, mean over documents. Between two sequences a document's length does not
/// say how many it has.
Vector mean_pairs(const Result& result, const std::vector<Index>& offsets) {
  Vector pairs = Vector::Constant(std::ssize(offsets), not_defined);
  if (result.find(trace_count_field) == nullptr) return pairs;
  const auto& counts = doubles_of(result, trace_count_field, {"pairs", "offset"});
  const auto counted = whole_coordinates(result.at(trace_count_field), "offset");
  const auto all = slice_of(counts, place_of(result.at(trace_count_field), "pairs", "all"), counted.size());
  for (std::size_t c = 0; c < offsets.size(); ++c)
    if (const auto at = std::ranges::find(counted, offsets[c]); at != counted.end())
      pairs[static_cast<Index>(c)] = all[static_cast<std::size_t>(at - counted.begin())];
  return pairs;
}

/// The Field of that name; nullptr if there is none, or only a NaN without axes that says why.
const Field* kept_field(const Result& result, const std::string& name) {
  const Field* field = result.find(name);
  return field == nullptr || field->axes.empty() ? nullptr : field;
}

std::vector<HeadName> measured_heads(const Result& result) {
  return heads_of(field_heads(result.at(measured_offset_field)));
}

/// @returns (rows)
Vector head_numbers(const Result& result, std::string_view name, std::string_view part) {
  const std::vector<double> numbers = numbers_of_heads(result, name, part, measured_heads(result));
  return Eigen::Map<const Vector>(numbers.data(), std::ssize(numbers));
}

/// @returns (rows)  empty if the result has no such Field
std::vector<std::string> head_words(const Result& result, const char* name, const char* part) {
  return kept_field(result, name) == nullptr ? std::vector<std::string>()
                                             : words_of_heads(result, name, part, measured_heads(result));
}

/// The offset that a result found, in tokens; 0 of a head whose maximum is at itself, NaN of one without.
Vector found_offsets(const Result& result) {
  Vector offset = head_numbers(result, measured_offset_field, "all");
  const std::vector<std::string> status = head_words(result, "measured_offset/status", "all");
  for (std::size_t row = 0; row < status.size(); ++row)
    if (status[row] == said::at_own_token.word) offset[static_cast<Index>(row)] = 0;
  return offset;
}

/// Mean attention weight at every offset in each document: what is summed along a diagonal over its pairs;
/// between two sequences over the pairs that documents have there on average.
/// @returns a matrix (rows, offsets) per document; none if the result does not keep documents apart
std::vector<Matrix> document_profiles(const Result& result, Index rows) {
  if (kept_field(result, traces_field) == nullptr || result.find(trace_length_field) == nullptr) return {};
  const auto& sums = doubles_of(result, traces_field, {"document", "layer", "head", "near_offset"});
  const auto& lengths = counts_of(result, trace_length_field, {"document"});
  const auto offsets = whole_coordinates(result.at(traces_field), "near_offset");
  const Index columns = std::ssize(offsets);
  if (std::ssize(sums) != std::ssize(lengths) * rows * columns)
    throw ShapeError(fmt::format("{}: expected {} documents of {} heads at {} offsets, found {} numbers", traces_field,
                                 lengths.size(), rows, columns, sums.size()));
  const bool cross = attribute_text(result.provenance, "attention") == name_of(AttentionKind::cross);
  const Vector crossing = cross ? mean_pairs(result, offsets) : Vector();
  std::vector<Matrix> profiles;
  for (std::size_t d = 0; d < lengths.size(); ++d) {
    const auto own = slice_of(sums, d, static_cast<std::size_t>(rows * columns));
    Matrix profile = Eigen::Map<const Matrix>(own.data(), rows, columns);
    for (Index c = 0; c < columns; ++c) {
      const double pairs =
          cross ? crossing[c] : static_cast<double>(lengths[d] - std::abs(offsets[static_cast<std::size_t>(c)]));
      profile.col(c) *= pairs > 0 ? 1 / pairs : not_defined;
    }
    profiles.push_back(std::move(profile));
  }
  return profiles;
}

using Names = std::set<std::string_view>;

/// Of every run its own, and the numbers do not depend on them; or told of the analyses, not chosen.
const Names of_the_moment{"command",      "started",    "wall_time_s", "threads",
                          "job",          "NX_class",   "processor",   "resumed_after_documents",
                          "merged_parts", "run_sha256", "wave_length", "wave_documents"};
const Names about_program{"version", "commit", "compiler", "libraries", "instruction_set"};
const Names about_model{"model",         "model_sha256",  "model_family", "layers",    "heads",
                        "kv_heads",      "d_model",       "d_head",       "attention", "position_term",
                        "hidden_states", "stored_layers", "score_scale"};
const Names about_text{"source",    "documents",        "length",    "special_tokens",
                       "tokenizer", "tokenizer_sha256", "ids_sha256"};

std::string shown(const Attributes& attributes, const std::string& name) {
  const auto found = attributes.find(name);
  if (found == attributes.end()) return "none";
  return std::visit(
      [](const auto& value) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::vector<double>>)
          return fmt::format("{}", fmt::join(value, " "));
        else
          return fmt::format("{}", value);
      },
      found->second);
}

std::string about(const std::string& name) {
  if (about_program.contains(name)) return "program";
  if (about_model.contains(name) || name.starts_with("model")) return "model";
  if (name.starts_with("interven") || name.starts_with("shuffle")) return "interventions";
  if (about_text.contains(name) || name.starts_with("source") || name.starts_with("target_")) return "text";
  return "options";
}

/// "-64 .. 64 (129)"
std::string span_of(const Axis& axis) {
  return std::visit(
      [](const auto& values) {
        return values.empty() ? std::string("none")
                              : fmt::format("{} .. {} ({})", values.front(), values.back(), values.size());
      },
      axis.values);
}

/// Whether two results are of stored profiles of the same documents, in other files.
bool same_documents_watched(const Attributes& first, const Attributes& second) {
  const std::string ids = attribute_text(first, "ids_sha256");
  return first.contains("watched") && second.contains("watched") && ids == attribute_text(second, "ids_sha256") &&
         ids != documents_not_seen;
}

/// What two results' provenance says differently, model first; times, threads and paths of commands left out.
std::vector<ProvenanceChange> provenance_changes(const Attributes& first, const Attributes& second) {
  std::set<std::string> names;
  for (const Attributes* attributes : {&first, &second})
    for (const auto& [name, value] : *attributes)
      if (!of_the_moment.contains(name)) names.insert(name);
  if (same_documents_watched(first, second))
    for (const char* of_files : {"source_file", "source_sha256"}) names.erase(of_files);
  std::vector<ProvenanceChange> changes;
  for (const char* group : {"model", "interventions", "text", "options", "program"})
    for (const std::string& name : names) {
      const std::string one = shown(first, name), other = shown(second, name);
      if (about(name) == group && one != other) changes.push_back({group, name, one, other});
    }
  return changes;
}

/// How many of the first documents both looked at: of the same source, by its digest, cut in the same way.
Index common_documents(const Result& first, const Result& second) {
  if (first.find(trace_length_field) == nullptr || second.find(trace_length_field) == nullptr ||
      !first.provenance.contains("source"))
    return 0;
  const auto &one = counts_of(first, trace_length_field, {"document"}),
             &other = counts_of(second, trace_length_field, {"document"});
  // A text is cut from its beginning, whatever the seed. How many documents a seed gives may change each of them.
  const bool text = attribute_text(first.provenance, "source") == "text";
  if (!text && (!first.provenance.contains("seed") || !second.provenance.contains("seed"))) return 0;
  const std::size_t count = std::min(one.size(), other.size());
  if ((!text && one.size() != other.size()) ||
      !std::ranges::equal(std::span(one).first(count), std::span(other).first(count)))
    return 0;
  const Names counted{"source_file", "target_file", "documents", "length"};
  for (const ProvenanceChange& change : provenance_changes(first.provenance, second.provenance))
    if ((change.about == "text" && !counted.contains(change.name)) || (!text && change.name == "seed")) return 0;
  return static_cast<Index>(count);
}

/// The length of all documents of a result; 0: they differ, or it does not say.
Index one_length(const Result& result) {
  if (result.find(trace_length_field) == nullptr) return 0;
  const auto& lengths = counts_of(result, trace_length_field, {"document"});
  const bool same = std::ranges::all_of(lengths, [&](std::int64_t length) { return length == lengths.front(); });
  return lengths.empty() || !same ? 0 : lengths.front();
}

/// @throws ShapeError that names what the two differ in: layers, heads, reach or axes, kind of attention
void require_comparable(const Result& first, const Result& second, const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < 2; ++i)
    if ((i == 0 ? first : second).find(measured_offset_field) == nullptr)
      throw ShapeError(
          fmt::format("{}: expected a result with measured offsets, found none; compare results of "
                      "`headwave run`",
                      names[i]));
  const auto require = [&](bool same, const char* what, const std::string& one, const std::string& other) {
    if (!same)
      throw ShapeError(
          fmt::format("{} and {} cannot be compared: {} {} against {}", names[0], names[1], what, one, other));
  };
  const std::string self = name_of(AttentionKind::self), kind = attribute_text(first.provenance, "attention", self),
                    other_kind = attribute_text(second.provenance, "attention", self);
  require(kind == other_kind, "attention is", kind, other_kind);
  for (const auto& [name, axis, what] : {std::tuple(measured_offset_field, "layer", "layers"),
                                         {measured_offset_field, "head", "heads"},
                                         {measured_offset_field, "pairs", "pairs"},
                                         {traces_field, "near_offset", "reach, offsets"}})
    if (const Field* one = first.find(name), *other = second.find(name); one != nullptr && other != nullptr)
      require(one->axis(axis).values == other->axis(axis).values, what, span_of(one->axis(axis)),
              span_of(other->axis(axis)));
  const std::string reach = shown(first.provenance, "reach"), other_reach = shown(second.provenance, "reach");
  require(reach == other_reach || reach == "none" || other_reach == "none", "reach is", reach, other_reach);
  if (const Index one = one_length(first), two = one_length(second); one > 0 && two > 0 && one != two)
    throw ShapeError(
        fmt::format(
            "{} and {} cannot be compared: documents have {} tokens against {}, and profiles depend on the length",
            names[0], names[1], one, two),
        first.provenance.contains("watched")
            ? std::vector<Remedy>()
            : std::vector{give("length", fmt::format("{}", std::min(one, two)), "to both runs")});
}

/// A measure whose differences stand alone: without intervals.
MeasureChange measure_of(const std::string& name, const std::string& unit, const std::string& long_name, Vector first,
                         Vector second) {
  std::vector<ChangeVerdict> verdict;
  for (Index row = 0; row < first.size(); ++row)
    verdict.push_back(std::isfinite(first[row]) && std::isfinite(second[row]) ? ChangeVerdict::no_interval
                                                                              : ChangeVerdict::undefined);
  const Vector none = Vector::Constant(first.size(), not_defined);
  return {name, unit, long_name, std::move(first), std::move(second), none, none, std::move(verdict)};
}

/// Weights at one offset per head, NaN for none, with the bands of (2).
MeasureChange weights_at(const MeanChange& change, const Vector& offset, Index reach, const std::string& name,
                         const std::string& where) {
  Vector first = Vector::Constant(offset.size(), not_defined), second = first;
  const auto column = [&](Index row) {
    const double t = offset[row] + static_cast<double>(reach);
    return t >= 0 && t < static_cast<double>(change.first.cols()) ? static_cast<Index>(t) : -1;
  };
  for (Index row = 0; row < offset.size(); ++row)
    if (const Index c = column(row); c >= 0) {
      first[row] = change.first(row, c);
      second[row] = change.second(row, c);
    }
  MeasureChange made = measure_of(name, "1", "mean weight " + where, std::move(first), std::move(second));
  for (Index row = 0; row < offset.size(); ++row) {
    auto& verdict = made.verdict[static_cast<std::size_t>(row)];
    const Index c = column(row);
    if (verdict == ChangeVerdict::undefined || !std::isfinite(change.half_width(row, c))) continue;
    made.lower[row] = change.difference(row, c) - change.half_width(row, c);
    made.upper[row] = change.difference(row, c) + change.half_width(row, c);
    verdict = change.beyond(row, c) ? ChangeVerdict::beyond : ChangeVerdict::within;
  }
  return made;
}

/// Per head where the profile changed most, in standard errors.
Vector most_changed(const MeanChange& change, Index reach) {
  Vector offset = Vector::Constant(change.first.rows(), not_defined);
  for (Index row = 0; row < offset.size(); ++row) {
    double most = -1;
    for (Index c = 0; c < change.first.cols(); ++c)
      if (const double t = std::abs(change.difference(row, c)) / change.error(row, c); t > most) {
        most = t;
        offset[row] = static_cast<double>(c - reach);
      }
  }
  return offset;
}

/// Why no band is finite; empty: they are.
std::string why_untested(const MeanChange& change, const ComparisonOptions& options) {
  if (std::isfinite(change.factor)) return "";
  if (change.least_level <= options.level / 2)
    return fmt::format("{} draws are too few for a level of {}; {} would be enough", options.draws, options.level,
                       static_cast<Index>(std::ceil(2 / options.level)));
  const std::string blocks = change.paired ? fmt::format("{} pairs of", change.first_blocks)
                                           : fmt::format("{} and {}", change.first_blocks, change.second_blocks);
  const Index enough = blocks_for(options.level / 2, change.paired);
  return fmt::format("{} blocks of documents reach no level below {:.2g}; give {}{} documents or more{}", blocks,
                     2 * change.least_level, change.paired ? "" : "each result ", enough * change.block,
                     change.block > 1 ? ", or smaller blocks" : "");
}

/// What documents decide: offset, weight_at_first, weight_at_second and profile, by (1) and (2) of
/// comparison.h; the mean profiles; or why nothing is decided.
/// @param compared  its grid, options and whether documents are paired are read, the rest of this is written
void add_profiles(Comparison& compared, const Result& first, const Result& second) {
  const Index rows = compared.grid.rows();
  const MeasureChange offset =
      measure_of("offset", "token", "offset at which the mean attention weight is largest; 0: at itself",
                 found_offsets(first), found_offsets(second));
  compared.measures.push_back(offset);
  std::vector<Matrix> one = document_profiles(first, rows), other = document_profiles(second, rows);
  compared.first_documents = std::ssize(one);
  compared.second_documents = std::ssize(other);
  if (compared.paired)
    for (std::vector<Matrix>* profiles : {&one, &other})
      if (!profiles->empty()) profiles->resize(static_cast<std::size_t>(compared.compared_documents));
  if (one.empty() || other.empty()) {
    compared.untested = fmt::format("a result does not keep {}", traces_field);
    return;
  }
  const ComparisonOptions& options = compared.options;
  const MeanChange& change = compared.profiles = mean_change(
      one, other, compared.paired, {options.level / 2, options.draws, options.block, options.seed, options.threads});
  compared.untested = why_untested(change, options);
  const Index reach = change.first.cols() / 2;
  compared.profile_offset = most_changed(change, reach);
  for (const auto& [name, at, where] :
       {std::tuple("weight_at_first", &offset.first, "at the first result's offset"),
        {"weight_at_second", &offset.second, "at the second result's offset"},
        {"profile", &compared.profile_offset, "where the profile changed most, in standard errors"}})
    compared.measures.push_back(weights_at(change, *at, reach, name, where));
  if (!compared.untested.empty()) return;
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
    auto& verdict = compared.measures[0].verdict[row];
    if (verdict == ChangeVerdict::undefined) continue;
    const auto i = static_cast<Index>(row);
    const bool moved = offset.first[i] != offset.second[i];
    const bool told = compared.measures[1].verdict[row] == ChangeVerdict::beyond ||
                      compared.measures[2].verdict[row] == ChangeVerdict::beyond;
    verdict = moved && told ? ChangeVerdict::beyond : ChangeVerdict::within;
  }
}

/// Measures with intervals, of which (3) and (4) hold once it is known how many there are.
struct Ends {
  std::size_t measure;
  double coverage;
  std::array<Vector, 2> lower, upper;
};

/// Takes the intervals of heads without a preference in either result: parts of a profile that has no
/// strength mean nothing, and neither does their change.
void ignore_no_preference(Ends& ends, const Result& first, const Result& second) {
  const std::array words{head_words(first, account_verdict_field, ""), head_words(second, account_verdict_field, "")};
  const auto says_nothing = [](const std::string& word) {
    return word == said::no_preference.word || word == said::undefined_profile.word;
  };
  if (words[0].empty() || words[1].empty()) return;
  for (std::size_t row = 0; row < words[0].size(); ++row)
    if (says_nothing(words[0][row]) && says_nothing(words[1][row]))
      for (const std::size_t result : {0U, 1U}) ends.lower[result][static_cast<Index>(row)] = not_defined;
}

void judge(Comparison& compared, const std::vector<Ends>& intervals) {
  double looked = 0;
  for (const Ends& ends : intervals)
    looked +=
        static_cast<double>((ends.lower[0] + ends.lower[1] + ends.upper[0] + ends.upper[1]).array().isFinite().count());
  if (looked == 0) return;
  for (const Ends& ends : intervals) {
    MeasureChange& measure = compared.measures[ends.measure];
    const double k = normal_quantile(compared.options.level / (4 * looked)) / normal_quantile((1 - ends.coverage) / 2);
    for (Index row = 0; row < measure.first.size(); ++row) {
      const double a = measure.first[row], b = measure.second[row];
      const double down = std::max(1.0, k) * (b - ends.lower[1][row] + ends.upper[0][row] - a);
      const double up = std::max(1.0, k) * (ends.upper[1][row] - b + a - ends.lower[0][row]);
      if (!std::isfinite(down) || !std::isfinite(up)) continue;
      measure.lower[row] = b - a - std::max(0.0, down);
      measure.upper[row] = b - a + std::max(0.0, up);
      measure.verdict[static_cast<std::size_t>(row)] =
          measure.lower[row] > 0 || measure.upper[row] < 0 ? ChangeVerdict::beyond : ChangeVerdict::within;
    }
  }
}

void add_measures(Comparison& compared, const Result& first, const Result& second) {
  std::vector<Ends> intervals;
  for (const Measure& measure : measures()) {
    if (measure.word || *measure.compared == '\0') continue;
    const Field* field = kept_field(first, measure.field);
    if (field == nullptr || kept_field(second, measure.field) == nullptr) continue;
    const std::string about = *measure.part == '\0' ? "" : fmt::format(": {}", measure.part);
    compared.measures.push_back(measure_of(measure.compared, field->unit, field->long_name + about,
                                           head_numbers(first, measure.field, measure.part),
                                           head_numbers(second, measure.field, measure.part)));
    Ends ends{compared.measures.size() - 1, 1, {}, {}};
    for (const Result* result : {&first, &second}) {
      const Field *lower = kept_field(*result, measure.end("lower")),
                  *upper = kept_field(*result, measure.end("upper"));
      const double coverage = lower == nullptr ? 0 : attribute_number(lower->attributes, "coverage", 0);
      ends.coverage = std::min(ends.coverage, upper == nullptr ? 0 : coverage);
      if (!(ends.coverage > 0)) break;
      const std::size_t i = result == &first ? 0 : 1;
      ends.lower[i] = head_numbers(*result, lower->name, measure.part);
      ends.upper[i] = head_numbers(*result, upper->name, measure.part);
    }
    if (!(ends.coverage > 0 && ends.coverage < 1)) continue;
    if (std::string_view(measure.field) == account_part_field) ignore_no_preference(ends, first, second);
    intervals.push_back(std::move(ends));
  }
  judge(compared, intervals);
}

}  // namespace

std::vector<std::string> compared_fields() {
  std::set<std::string> names{measured_offset_field, traces_field, trace_length_field, trace_count_field,
                              account_verdict_field};
  for (const Measure& measure : measures())
    if (*measure.compared != '\0') names.insert({measure.field, measure.end("lower"), measure.end("upper")});
  return {names.begin(), names.end()};
}

Comparison comparison(const Result& first, const Result& second, const std::vector<std::string>& names,
                      const ComparisonOptions& options) {
  require_comparable(first, second, names);
  Comparison compared;
  const Field& field = first.at(measured_offset_field);
  compared.grid.layers = whole_coordinates(field, "layer");
  compared.grid.heads = field.axis("head").size();
  if (compared.grid.rows() < 1) throw ShapeError(fmt::format("{}: expected heads, found none", names[0]));
  compared.options = options;
  compared.compared_documents = common_documents(first, second);
  compared.paired = compared.compared_documents > 0;
  compared.length = one_length(first);
  compared.profile_offset = Vector::Constant(compared.grid.rows(), not_defined);
  compared.provenance = provenance_changes(first.provenance, second.provenance);
  add_profiles(compared, first, second);
  add_measures(compared, first, second);
  for (const Measure& word : measures()) {
    if (!word.word || *word.compared == '\0') continue;
    std::vector<std::string> one = head_words(first, word.field, word.part);
    std::vector<std::string> other = head_words(second, word.field, word.part);
    if (!one.empty() && !other.empty()) compared.words.push_back({word.compared, std::move(one), std::move(other)});
  }
  return compared;
}

bool Comparison::beyond(Index row) const {
  return std::ranges::any_of(measures, [&](const MeasureChange& measure) {
    return measure.verdict[static_cast<std::size_t>(row)] == ChangeVerdict::beyond;
  });
}

bool Comparison::beyond() const {
  for (Index row = 0; row < grid.rows(); ++row)
    if (beyond(row)) return true;
  return false;
}

std::vector<Index> Comparison::order() const {
  Vector size = Vector::Zero(grid.rows());
  for (const MeasureChange& measure : measures)
    if (measure.name.starts_with("weight_at") || measure.name == "profile")
      for (Index row = 0; row < size.size(); ++row)
        size[row] = std::fmax(size[row], std::abs(measure.second[row] - measure.first[row]));
  std::vector<Index> rows(static_cast<std::size_t>(grid.rows()));
  std::iota(rows.begin(), rows.end(), Index{0});
  std::ranges::stable_sort(rows, [&](Index a, Index b) {
    if (beyond(a) != beyond(b)) return beyond(a);
    return size[a] > size[b];
  });
  return rows;
}

std::vector<Field> describe(const Comparison& comparison) {
  const std::vector<Axis> heads{layer_axis(comparison.grid.layers), head_axis(comparison.grid.heads)};
  const auto with = [&](Axis axis, bool outermost) {
    std::vector<Axis> axes = heads;
    axes.insert(outermost ? axes.begin() : axes.end(), std::move(axis));
    return axes;
  };
  const auto names_of = [](const auto& of) {
    std::vector<std::string> names;
    for (const auto& one : of) names.push_back(one.name);
    return names;
  };
  const std::vector<Axis> axes = with({"measure", "1", "what is compared", names_of(comparison.measures)}, true);
  const auto each = [&](auto member) { return comparison.measures | std::views::transform(member); };
  Fields fields("comparison");
  const char* const undefined = "not defined in that result";
  const char* const no_interval = "the results hold nothing that an interval could be made of";
  fields.add("first", axes, "1 or token", "of the first result", each(&MeasureChange::first)).undefined(undefined);
  fields.add("second", axes, "1 or token", "of the second result", each(&MeasureChange::second)).undefined(undefined);
  fields.add("lower", axes, "1 or token", "lower end of the interval of second - first", each(&MeasureChange::lower))
      .undefined(no_interval);
  fields.add("upper", axes, "1 or token", "upper end of that interval", each(&MeasureChange::upper))
      .undefined(no_interval);
  fields.flags("verdict", axes, "whether the difference is beyond its interval", each(&MeasureChange::verdict),
               {"within", "beyond", "no interval", "undefined"});
  std::vector<std::uint8_t> changed;
  std::vector<std::int64_t> rank(static_cast<std::size_t>(comparison.grid.rows()));
  std::int64_t place = 0;
  for (const Index row : comparison.order()) rank[static_cast<std::size_t>(row)] = place++;
  for (Index row = 0; row < comparison.grid.rows(); ++row) changed.push_back(comparison.beyond(row) ? 1 : 0);
  fields.flags("changed", heads, "whether a difference is beyond its interval", changed, {"no", "yes"});
  fields.add("rank", heads, "1", "place among heads, those that changed first", rank);
  fields
      .add("profile_offset", heads, "token", "offset at which the profile changed most, in standard errors",
           comparison.profile_offset)
      .undefined("not tested");
  if (!comparison.words.empty()) {
    const std::vector<Axis> said = with({"word", "1", "what is said of a head", names_of(comparison.words)}, true);
    const auto every = [&](auto member) { return comparison.words | std::views::transform(member); };
    fields.add("first_word", said, "1", "what the first result says", every(&WordChange::first));
    fields.add("second_word", said, "1", "what the second result says", every(&WordChange::second));
  }
  if (!comparison.provenance.empty()) {
    std::vector<std::string> settings, values;
    for (const ProvenanceChange& change : comparison.provenance) {
      settings.push_back(change.name == change.about ? change.about : change.about + ": " + change.name);
      values.insert(values.end(), {change.first, change.second});
    }
    const Axis of{"result", "1", "which of the two", std::vector<std::string>{"first", "second"}};
    fields.add("set_to", {{"setting", "1", "what the two runs were told differently", settings}, of}, "1",
               "what each run was told", values);
  }
  if (const Index offsets = comparison.profiles.first.cols(); offsets > 0) {
    const std::vector<Axis> near = with(offset_axis("near_offset", -(offsets / 2), offsets / 2), false);
    const char* const long_name = "mean attention weight at an offset, over blocks of documents";
    const char* const absent = "a document has no such pair";
    fields.add("first_profile", near, "1", long_name, comparison.profiles.first).undefined_if_any(absent);
    fields.add("second_profile", near, "1", long_name, comparison.profiles.second).undefined_if_any(absent);
  }
  fields.note_all("level", comparison.options.level)
      .note_all("draws", comparison.options.draws)
      .note_all("seed", static_cast<std::int64_t>(comparison.options.seed))
      .note_all("block", comparison.profiles.block)
      .note_all("documents_paired", comparison.paired ? "yes" : "no");
  if (!comparison.untested.empty()) fields.note_all("untested", comparison.untested);
  Fields change("change");
  for (const MeasureChange& measure : comparison.measures)
    change
        .add(measure.name, heads, measure.unit, "second - first: " + measure.long_name, measure.second - measure.first)
        .undefined("not defined in one of the results");
  fields.append(change.taken());
  return fields.taken();
}

std::string how_comparable(const Comparison& compared) {
  bool other_model = false, changed = false;
  for (const ProvenanceChange& change : compared.provenance)
    if (change.about == "interventions")
      changed = true;
    else if (change.about == "model")
      other_model = true;
  const std::string length = compared.length > 0 ? fmt::format(" of {} tokens", compared.length) : "";
  std::string text = fmt::format("comparable head by head: {}, ", other_model ? "two models of one shape"
                                                                  : changed   ? "one model, changed by an intervention"
                                                                              : "one model");
  if (!compared.paired)
    return text + fmt::format("{} documents{} against {} others, so a change may be one of the texts",
                              compared.first_documents, length, compared.second_documents);
  text += fmt::format("the same {} documents{}", compared.compared_documents, length);
  if (compared.first_documents != compared.second_documents)
    text += fmt::format(" (of {} and {}; strength and parts are of all of them)", compared.first_documents,
                        compared.second_documents);
  return text;
}

Result result_of(const Comparison& comparison, const std::string& first, const std::string& second) {
  return {fmt::format("headwave: {} against {}", first, second),
          describe(comparison),
          {{"first", first},
           {"second", second},
           {"comparable", how_comparable(comparison)},
           {"first_documents", static_cast<std::int64_t>(comparison.first_documents)},
           {"second_documents", static_cast<std::int64_t>(comparison.second_documents)}}};
}

}  // namespace headwave
