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

#include "../../analysis/statistics/mean_change.h"
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

/// The verdict on a difference.
enum class Verdict : std::uint8_t {
  within,       // the interval of the difference contains 0
  beyond,       // the interval of the difference excludes 0: a change
  no_interval,  // the results contain no interval: only the difference is known
  undefined,    // undefined in one of the results
};

/// A number of every head in two results.
struct Change {
  std::string name, unit, long_name;
  Vector first, second;                                                       // (rows)  NaN: undefined
  Vector lower = Vector::Constant(first.size(), not_defined), upper = lower;  // interval of second - first; NaN: none
  std::vector<Verdict> verdict = {};

  /// Decides by the interval, if both results define the number.
  void judge() {
    verdict.clear();
    for (Index row = 0; row < first.size(); ++row)
      verdict.push_back(!std::isfinite(first[row]) || !std::isfinite(second[row]) ? Verdict::undefined
                        : !std::isfinite(lower[row])                              ? Verdict::no_interval
                        : lower[row] > 0 || upper[row] < 0                        ? Verdict::beyond
                                                                                  : Verdict::within);
  }
};

/// The mean number of query-key pairs at every offset, over documents. Between two sequences, the length of a
/// document does not give it.
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

/// The Field of that name; null if there is none, or only a NaN without axes that says why.
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

/// The offset that a result found, in tokens; 0 if the maximum is at the token itself, NaN if there is none.
Vector found_offsets(const Result& result) {
  Vector offset = head_numbers(result, measured_offset_field, "all");
  const std::vector<std::string> status = head_words(result, "measured_offset/status", "all");
  for (std::size_t row = 0; row < status.size(); ++row)
    if (status[row] == said::at_own_token.word) offset[static_cast<Index>(row)] = 0;
  return offset;
}

/// Mean attention weight at every offset in each document: the sum along a diagonal divided by its pairs;
/// between two sequences, by the mean number of pairs.
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

/// Entries that differ between runs without changing numbers, or that analyses record and nobody chose.
using Names = std::set<std::string_view>;
const Names of_the_moment{"command",      "started",    "wall_time_s", "threads",
                          "job",          "NX_class",   "processor",   "resumed_after_documents",
                          "merged_parts", "run_sha256", "wave_length", "wave_documents"};

/// The subjects of entries of the provenance, except of those whose name says it.
const std::pair<const char*, Names> subjects[]{
    {"program", {"version", "commit", "compiler", "libraries", "instruction_set"}},
    {"model",
     {"layers", "heads", "kv_heads", "d_model", "d_head", "attention", "position_term", "hidden_states",
      "stored_layers", "score_scale"}},
    {"text",
     {"documents", "length", "special_tokens", "tokenizer", "tokenizer_sha256", "ids_sha256", "unknown_share",
      "unk_strings", "equal_documents", "padding_removed"}}};

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
  if (name.starts_with("model")) return "model";
  if (name.starts_with("interven") || name.starts_with("shuffle")) return "interventions";
  if (name.starts_with("source") || name.starts_with("target_")) return "text";
  for (const auto& [subject, names] : subjects)
    if (names.contains(name)) return subject;
  return "options";
}

/// "-64 to 64 (129 in all)"
std::string span_of(const Axis& axis) {
  return std::visit(
      [](const auto& values) {
        return values.empty() ? std::string("none")
                              : fmt::format("{} to {} ({} in all)", values.front(), values.back(), values.size());
      },
      axis.values);
}

/// Whether two results are of stored profiles of the same documents in different files.
bool same_documents_watched(const Attributes& first, const Attributes& second) {
  const std::string ids = attribute_text(first, "ids_sha256");
  return first.contains("watched") && second.contains("watched") && ids == attribute_text(second, "ids_sha256") &&
         ids != documents_not_seen;
}

struct ProvenanceChange {
  std::string about, name, first, second;
};

/// How the provenance of two results differs, model first; without times, threads and paths of commands.
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

/// The number of first documents that both looked at: of one source, by its digest, cut in the same way.
Index common_documents(const Result& first, const Result& second) {
  if (first.find(trace_length_field) == nullptr || second.find(trace_length_field) == nullptr ||
      !first.provenance.contains("source"))
    return 0;
  const auto &one = counts_of(first, trace_length_field, {"document"}),
             &other = counts_of(second, trace_length_field, {"document"});
  // A text is cut from its beginning, whatever the seed. Random documents may all change with their number.
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

/// The length of all documents of a result; 0 if they differ or it is unknown.
Index one_length(const Result& result) {
  if (result.find(trace_length_field) == nullptr) return 0;
  const auto& lengths = counts_of(result, trace_length_field, {"document"});
  const bool same = std::ranges::all_of(lengths, [&](std::int64_t length) { return length == lengths.front(); });
  return lengths.empty() || !same ? 0 : lengths.front();
}

/// @throws ShapeError naming how the two differ: layers, heads, reach or axes, kind of attention
void require_comparable(const Result& first, const Result& second, const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < 2; ++i)
    if ((i == 0 ? first : second).find(measured_offset_field) == nullptr)
      throw ShapeError(
          fmt::format("{}: expected a result with measured offsets, found none; compare results of "
                      "`headwave run`",
                      names[i]));
  const auto require = [&](bool same, const char* what, const std::string& one, const std::string& other) {
    if (!same)
      throw ShapeError(fmt::format("{} and {} cannot be compared: the first has {} {}, the second {}", names[0],
                                   names[1], what, one, other));
  };
  const std::string self = name_of(AttentionKind::self), kind = attribute_text(first.provenance, "attention", self),
                    other_kind = attribute_text(second.provenance, "attention", self);
  require(kind == other_kind, "attention", kind, other_kind);
  for (const auto& [name, axis, what] : {std::tuple(measured_offset_field, "layer", "layers"),
                                         {measured_offset_field, "head", "heads"},
                                         {measured_offset_field, "pairs", "pairs"},
                                         {traces_field, "near_offset", "offsets"}})
    if (const Field* one = first.find(name), *other = second.find(name); one != nullptr && other != nullptr)
      require(one->axis(axis).values == other->axis(axis).values, what, span_of(one->axis(axis)),
              span_of(other->axis(axis)));
  const std::string reach = shown(first.provenance, "reach"), other_reach = shown(second.provenance, "reach");
  require(reach == other_reach || reach == "none" || other_reach == "none", "reach", reach, other_reach);
  if (const Index one = one_length(first), two = one_length(second); one > 0 && two > 0 && one != two)
    throw ShapeError(fmt::format("{} and {} cannot be compared: the documents of the first have {} tokens, those of "
                                 "the second {}, and profiles depend on the length",
                                 names[0], names[1], one, two),
                     first.provenance.contains("watched")
                         ? std::vector<Remedy>()
                         : std::vector{give("length", fmt::format("{}", std::min(one, two)), "to both runs")});
}

/// The weights of heads at one offset each (NaN: none), with the bands of (2).
Change weights_at(const MeanChange& change, const Vector& offset, const std::string& name, const std::string& where) {
  const Vector none = Vector::Constant(offset.size(), not_defined);
  Change made{name, "1", "mean weight " + where, none, none};
  const Index reach = change.first.cols() / 2;
  for (Index row = 0; row < offset.size(); ++row) {
    if (!(std::abs(offset[row]) <= static_cast<double>(reach))) continue;
    const Index c = static_cast<Index>(offset[row]) + reach;
    made.first[row] = change.first(row, c);
    made.second[row] = change.second(row, c);
    if (!std::isfinite(made.second[row] - made.first[row]) || !std::isfinite(change.half_width(row, c))) continue;
    made.lower[row] = change.difference(row, c) - change.half_width(row, c);
    made.upper[row] = change.difference(row, c) + change.half_width(row, c);
  }
  return made;
}

/// The offset at which each head's profile changed most, in standard errors.
Vector most_changed(const MeanChange& change) {
  Vector offset = Vector::Constant(change.first.rows(), not_defined);
  for (Index row = 0; row < offset.size(); ++row) {
    double most = -1;
    for (Index c = 0; c < change.first.cols(); ++c)
      if (const double t = std::abs(change.difference(row, c)) / change.error(row, c); t > most) {
        most = t;
        offset[row] = static_cast<double>(c - change.first.cols() / 2);
      }
  }
  return offset;
}

/// Why no band is finite; empty if some are.
std::string why_untested(const MeanChange& change, const ComparisonOptions& options) {
  if (std::isfinite(change.factor)) return "";
  if (change.least_level <= options.level / 2)
    return fmt::format("{} draws are too few for a level of {}; give {} or more", options.draws, options.level,
                       static_cast<Index>(std::ceil(4 / options.level)) - 1);
  const std::string blocks = change.paired ? fmt::format("{} pairs of", change.first_blocks)
                                           : fmt::format("{} and {}", change.first_blocks, change.second_blocks);
  const Index enough = blocks_for(options.level / 2, change.paired);
  return fmt::format("{} blocks of documents are too few for a level below {:.2g}; give {}{} documents or more{}",
                     blocks, 2 * change.least_level, change.paired ? "" : "each result ", enough * change.block,
                     change.block > 1 ? ", or smaller blocks" : "");
}

/// Two results, head by head.
struct Comparison {
  const Result &first, &second;
  ComparisonOptions options;
  Axis layer, head;
  Index rows = layer.size() * head.size();
  std::vector<ProvenanceChange> provenance = provenance_changes(first.provenance, second.provenance);
  Index pairs = common_documents(first, second);    // documents that both have and that are compared; 0: none
  Index first_documents = 0, second_documents = 0;  // of each result
  std::string untested = {};                        // why no document decides; empty if they do
  MeanChange profiles = {};  // (rows, offsets) mean weight at -reach .. reach; no offsets: not stored
  Vector profile_offset = Vector::Constant(rows, not_defined);  // where the profile changed most, in standard errors
  std::vector<Change> measures = {};

  void add_profiles();
  void add_measures();
  void judge();
  [[nodiscard]] bool beyond(Index row) const;
  [[nodiscard]] std::vector<Index> order() const;
  [[nodiscard]] std::string comparable() const;
  [[nodiscard]] std::vector<Field> fields() const;
};

/// Adds what documents decide: offset, weight_at_first, weight_at_second and profile, by (1) and (2) of
/// comparison.h; the mean profiles; or why nothing is decided.
void Comparison::add_profiles() {
  const Vector from = found_offsets(first), to = found_offsets(second);
  measures.push_back(
      {"offset", "token", "offset at which the mean attention weight is largest; 0: at itself", from, to});
  std::vector<Matrix> one = document_profiles(first, rows), other = document_profiles(second, rows);
  first_documents = std::ssize(one);
  second_documents = std::ssize(other);
  if (pairs > 0)
    for (std::vector<Matrix>* documents : {&one, &other})
      if (!documents->empty()) documents->resize(static_cast<std::size_t>(pairs));
  if (one.empty() || other.empty()) {
    untested = fmt::format("a result does not contain {}", traces_field);
    return;
  }
  profiles = mean_change(one, other, pairs > 0,
                         {options.level / 2, options.draws, options.block, options.seed, options.threads});
  untested = why_untested(profiles, options);
  profile_offset = most_changed(profiles);
  measures.push_back(weights_at(profiles, from, "weight_at_first", "at the first result's offset"));
  measures.push_back(weights_at(profiles, to, "weight_at_second", "at the second result's offset"));
  measures.push_back(
      weights_at(profiles, profile_offset, "profile", "where the profile changed most, in standard errors"));
}

/// A measure with intervals. (3) and (4) can be applied once the number of intervals is known.
struct Ends {
  std::size_t measure;
  double coverage = 1;
  std::array<Vector, 2> lower = {}, upper = {};
};

/// Removes the intervals of heads without a preference in both results: the parts of a profile without
/// strength mean nothing, nor does their change.
void ignore_no_preference(Ends& ends, const Result& first, const Result& second) {
  const std::array words{head_words(first, account_verdict_field, ""), head_words(second, account_verdict_field, "")};
  const auto says_nothing = [](const std::string& word) {
    return word == said::no_preference.word || word == said::undefined_profile.word;
  };
  if (words[0].empty() || words[1].empty()) return;
  for (std::size_t row = 0; row < words[0].size(); ++row)
    if (says_nothing(words[0][row]) && says_nothing(words[1][row]))
      for (Vector& lower : ends.lower) lower[static_cast<Index>(row)] = not_defined;
}

/// (3) and (4): intervals of differences, from those of both results.
void widen(std::vector<Change>& measures, const std::vector<Ends>& intervals, double level) {
  double looked = 0;
  for (const Ends& ends : intervals)
    looked +=
        static_cast<double>((ends.lower[0] + ends.lower[1] + ends.upper[0] + ends.upper[1]).array().isFinite().count());
  if (looked == 0) return;
  for (const Ends& ends : intervals) {
    Change& measure = measures[ends.measure];
    const double k = normal_quantile(level / (4 * looked)) / normal_quantile((1 - ends.coverage) / 2);
    for (Index row = 0; row < measure.first.size(); ++row) {
      const double a = measure.first[row], b = measure.second[row];
      const double down = std::max(1.0, k) * (b - ends.lower[1][row] + ends.upper[0][row] - a);
      const double up = std::max(1.0, k) * (ends.upper[1][row] - b + a - ends.lower[0][row]);
      if (!std::isfinite(down) || !std::isfinite(up)) continue;
      measure.lower[row] = b - a - std::max(0.0, down);
      measure.upper[row] = b - a + std::max(0.0, up);
    }
  }
}

void Comparison::add_measures() {
  std::vector<Ends> intervals;
  for (const Measure& measure : headwave::measures()) {
    if (measure.word || *measure.compared == '\0') continue;
    const Field* field = kept_field(first, measure.field);
    if (field == nullptr || kept_field(second, measure.field) == nullptr) continue;
    const std::string about = *measure.part == '\0' ? "" : fmt::format(": {}", measure.part);
    measures.push_back({measure.compared, field->unit, field->long_name + about,
                        head_numbers(first, measure.field, measure.part),
                        head_numbers(second, measure.field, measure.part)});
    Ends ends{measures.size() - 1};
    for (const std::size_t i : {0U, 1U}) {
      const Result& result = i == 0 ? first : second;
      const Field *lower = kept_field(result, measure.end("lower")), *upper = kept_field(result, measure.end("upper"));
      ends.coverage = std::min(
          ends.coverage, lower == nullptr || upper == nullptr ? 0 : attribute_number(lower->attributes, "coverage", 0));
      if (!(ends.coverage > 0)) break;
      ends.lower[i] = head_numbers(result, lower->name, measure.part);
      ends.upper[i] = head_numbers(result, upper->name, measure.part);
    }
    if (!(ends.coverage > 0 && ends.coverage < 1)) continue;
    if (std::string_view(measure.field) == account_part_field) ignore_no_preference(ends, first, second);
    intervals.push_back(std::move(ends));
  }
  widen(measures, intervals, options.level);
}

/// An offset is beyond if it differs and one of the two weights is beyond.
void Comparison::judge() {
  for (Change& measure : measures) measure.judge();
  if (!untested.empty()) return;
  Change& offset = measures[0];
  for (std::size_t row = 0; row < offset.verdict.size(); ++row) {
    if (offset.verdict[row] == Verdict::undefined) continue;
    const bool moved = offset.first[static_cast<Index>(row)] != offset.second[static_cast<Index>(row)];
    const bool told = measures[1].verdict[row] == Verdict::beyond || measures[2].verdict[row] == Verdict::beyond;
    offset.verdict[row] = moved && told ? Verdict::beyond : Verdict::within;
  }
}

/// Whether some measure of a head changed.
bool Comparison::beyond(Index row) const {
  return std::ranges::any_of(measures, [&](const Change& measure) {
    return measure.verdict[static_cast<std::size_t>(row)] == Verdict::beyond;
  });
}

/// Rows; heads that changed come first, sorted by how far their profile moved.
std::vector<Index> Comparison::order() const {
  Vector size = Vector::Zero(rows);
  for (const Change& measure : measures)
    if (measure.name.starts_with("weight_at") || measure.name == "profile")
      for (Index row = 0; row < rows; ++row)
        size[row] = std::fmax(size[row], std::abs(measure.second[row] - measure.first[row]));
  std::vector<Index> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::stable_sort(order, std::greater(), [&](Index row) { return std::pair(beyond(row), size[row]); });
  return order;
}

std::vector<Field> Comparison::fields() const {
  const std::vector<Axis> heads{layer, head};
  const auto each_of = [&](const char* name, const char* long_name, const auto& range) {
    std::vector<std::string> names;
    for (const auto& one : range) names.emplace_back(one);
    return std::vector<Axis>{{name, "1", long_name, names}, layer, head};
  };
  const auto each = [&](auto member) { return measures | std::views::transform(member); };
  const std::vector<Axis> axes = each_of("measure", "what is compared", each(&Change::name));
  Fields fields("comparison");
  const char* const undefined = "not defined in that result";
  const char* const no_interval = "the results lack what the interval is computed from";
  fields.add("first", axes, "1 or token", "value in the first result", each(&Change::first), undefined);
  fields.add("second", axes, "1 or token", "value in the second result", each(&Change::second), undefined);
  fields.add("lower", axes, "1 or token", "lower end of the interval of second - first", each(&Change::lower),
             no_interval);
  fields.add("upper", axes, "1 or token", "upper end of that interval", each(&Change::upper), no_interval);
  fields.flags("verdict", axes, "whether the interval of the difference excludes 0", each(&Change::verdict),
               {"within", "beyond", "no interval", "undefined"});
  std::vector<std::uint8_t> changed;
  std::vector<std::int64_t> rank(static_cast<std::size_t>(rows));
  std::int64_t place = 0;
  for (const Index row : order()) rank[static_cast<std::size_t>(row)] = place++;
  for (Index row = 0; row < rows; ++row) changed.push_back(beyond(row) ? 1 : 0);
  fields.flags("changed", heads, "whether a measure of the head changed", changed, {"no", "yes"});
  fields.add("rank", heads, "1", "place among the heads, counted from 0; heads that changed come first", rank);
  fields.add("profile_offset", heads, "token", "offset at which the profile changed most, in standard errors",
             profile_offset, "not tested");
  std::vector<std::string> words;
  std::array<std::vector<std::string>, 2> said;
  for (const Measure& word : headwave::measures()) {
    if (!word.word || *word.compared == '\0') continue;
    const auto one = head_words(first, word.field, word.part), other = head_words(second, word.field, word.part);
    if (one.empty() || other.empty()) continue;
    words.emplace_back(word.compared);
    said[0].insert(said[0].end(), one.begin(), one.end());
    said[1].insert(said[1].end(), other.begin(), other.end());
  }
  if (!words.empty()) {
    const std::vector<Axis> of_words = each_of("word", "what the word describes", words);
    fields.add("first_word", of_words, "1", "word in the first result", said[0]);
    fields.add("second_word", of_words, "1", "word in the second result", said[1]);
  }
  if (!provenance.empty()) {
    std::vector<std::string> settings, values;
    for (const ProvenanceChange& change : provenance) {
      settings.push_back(change.name == change.about ? change.about : change.about + ": " + change.name);
      values.insert(values.end(), {change.first, change.second});
    }
    const Axis of{"result", "1", "first or second result", std::vector<std::string>{"first", "second"}};
    fields.add("set_to", {{"setting", "1", "setting in which the runs differ", settings}, of}, "1",
               "its value in each run", values);
  }
  if (const Index offsets = profiles.first.cols(); offsets > 0) {
    const std::vector<Axis> near{layer, head, offset_axis("near_offset", -(offsets / 2), offsets / 2)};
    const char* const long_name = "mean attention weight at an offset, over blocks of documents";
    const char* const absent = "a document has no such pair";
    fields.add("first_profile", near, "1", long_name, profiles.first).undefined_if_any(absent);
    fields.add("second_profile", near, "1", long_name, profiles.second).undefined_if_any(absent);
  }
  fields.note_all("level", options.level)
      .note_all("draws", options.draws)
      .note_all("seed", static_cast<std::int64_t>(options.seed))
      .note_all("block", profiles.block)
      .note_all("documents_paired", pairs > 0 ? "yes" : "no");
  if (!untested.empty()) fields.note_all("untested", untested);
  Fields change("change");
  for (const Change& measure : measures)
    change.add(measure.name, heads, measure.unit, "second - first: " + measure.long_name,
               measure.second - measure.first, "not defined in one of the results");
  return fields.append(change.taken()).taken();
}

/// Says whether differences may be read as changes of heads.
std::string Comparison::comparable() const {
  const auto differs = [&](const char* about) {
    return std::ranges::count(provenance, about, &ProvenanceChange::about) > 0;
  };
  const Index tokens = one_length(first);
  const std::string length = tokens > 0 ? fmt::format(" of {} tokens", tokens) : "";
  std::string text =
      fmt::format("comparable head by head: {}, ", differs("model")           ? "two models of one shape"
                                                   : differs("interventions") ? "one model, changed by an intervention"
                                                                              : "one model");
  if (pairs == 0)
    return text + fmt::format("{} documents{} against {} others, so a change may come from the texts", first_documents,
                              length, second_documents);
  text += fmt::format("the same {} documents{}", pairs, length);
  if (first_documents != second_documents)
    text += fmt::format(" (of {} and {}; strength and parts use all of them)", first_documents, second_documents);
  return text;
}

}  // namespace

std::vector<std::string> compared_fields() {
  std::set<std::string> names{measured_offset_field, traces_field, trace_length_field, trace_count_field,
                              account_verdict_field};
  for (const Measure& measure : measures())
    if (*measure.compared != '\0') names.insert({measure.field, measure.end("lower"), measure.end("upper")});
  return {names.begin(), names.end()};
}

Result comparison(const Result& first, const Result& second, const std::vector<std::string>& names,
                  const ComparisonOptions& options) {
  require_comparable(first, second, names);
  const Field& field = first.at(measured_offset_field);
  if (field.axis("layer").size() * field.axis("head").size() < 1)
    throw ShapeError(fmt::format("{}: expected heads, found none", names[0]));
  Comparison compared{first, second, options, field.axis("layer"), field.axis("head")};
  compared.add_profiles();
  compared.add_measures();
  compared.judge();
  Result result{fmt::format("headwave: {} against {}", names[0], names[1]),
                compared.fields(),
                {{"first", names[0]},
                 {"second", names[1]},
                 {"comparable", compared.comparable()},
                 {"first_documents", static_cast<std::int64_t>(compared.first_documents)},
                 {"second_documents", static_cast<std::int64_t>(compared.second_documents)}}};
  if (const MeanChange& profiles = compared.profiles; compared.untested.empty())
    result.provenance["decided_by"] =
        profiles.paired ? fmt::format("{} pairs of blocks of documents", profiles.first_blocks)
                        : fmt::format("{} and {} blocks of documents", profiles.first_blocks, profiles.second_blocks);
  return result;
}

}  // namespace headwave
