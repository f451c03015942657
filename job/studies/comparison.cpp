#include "comparison.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "../../analysis/statistics/quantile.h"
#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"
#include "../../core/fields/fields.h"
#include "comparison_clusters.h"
#include "comparison_profiles.h"
#include "comparison_provenance.h"
#include "comparison_readings.h"

namespace headwave {

namespace {

/// A number per head, with its interval where the results have one.
struct Measure {
  const char *name, *field, *slice, *unit, *long_name, *lower = nullptr, *upper = nullptr;
};

constexpr std::array measures{
    Measure{"by_phases", "phase_delay/offset", "", "token", "offset that phases predict", "phase_delay/lower",
            "phase_delay/upper"},
    Measure{"by_rotary_wave", "rotary_wave/predicted_offset", "", "token", "offset that the rotary wave predicts",
            "rotary_wave/lower", "rotary_wave/upper"},
    Measure{"by_scores", "delay_spectrum/offset", "", "token", "offset that queries and keys predict",
            "delay_spectrum/lower", "delay_spectrum/upper"},
    Measure{"by_weights", "position_atlas/offset", "", "token", "offset that positions alone predict"},
    Measure{"strength", "head_account/strength", "", "1", "attention drawn to offsets beyond uniform attention"},
    Measure{"position_part", "head_account/part", "position", "1", "part of the profile that positions give",
            "head_account/part_lower", "head_account/part_upper"},
    Measure{"self_part", "head_account/part", "self", "1", "part of the profile that tokens meeting themselves give",
            "head_account/part_lower", "head_account/part_upper"},
    Measure{"previous", "head_types/previous", "", "1", "mean weight on the token before"},
    Measure{"next", "head_types/next", "", "1", "mean weight on the token after"},
    Measure{"one_offset", "head_types/positional_share", "", "1",
            "share of queries whose largest weight is at one offset"},
    Measure{"duplicate", "head_types/duplicate", "", "1", "mean weight on earlier tokens like the query's"},
    Measure{"induction", "head_types/induction", "", "1", "mean weight on what followed them"},
    Measure{"sink", "head_types/sink_weight", "", "1", "largest mean weight that one key gets"},
    Measure{"entropy", "head_types/entropy_share", "", "1", "entropy of attention, 1: all keys alike"},
    Measure{"value_first", "value_use/norm_first", "", "1", "mean share of what is handed on that is the first key's"},
};

/// A word per head.
struct Word {
  const char *name, *field, *slice, *long_name;
};

constexpr std::array word_kinds{
    Word{"status", "measured_offset/status", "all", "whether the head singles out an offset"},
    Word{"why", "head_account/verdict", "", "why a head looks where it looks"},
    Word{"kind", "head_types/kind", "", "what a head is called"},
};

/// Measures with intervals, of which (3) and (4) hold once it is known how many there are.
struct Ends {
  std::size_t measure;
  double coverage;
  std::array<Vector, 2> lower, upper;
};

double coverage_of(const Result& result, const Measure& measure) {
  const Field& field = result.at(measure.lower);
  const double coverage = attribute_number(field.attributes, "coverage");
  return coverage > 0 && coverage < 1 ? coverage : not_defined;
}

/// Takes the intervals of heads without a preference in either result: parts of a profile that has no strength mean
/// nothing, and neither does their change.
void ignore_no_preference(Ends& ends, const Result& first, const Result& second, Index rows) {
  constexpr const char* verdict = "head_account/verdict";
  const std::array words{head_words(first, verdict, "", rows), head_words(second, verdict, "", rows)};
  const auto says_nothing = [](const std::string& word) { return word == "no preference" || word == "undefined"; };
  if (words[0].empty() || words[1].empty()) return;
  for (Index row = 0; row < rows; ++row)
    if (const auto i = static_cast<std::size_t>(row); says_nothing(words[0][i]) && says_nothing(words[1][i]))
      for (const std::size_t result : {0U, 1U}) ends.lower[result][row] = ends.upper[result][row] = not_defined;
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
  const Index rows = compared.grid.rows();
  std::vector<Ends> intervals;
  for (const Measure& measure : measures) {
    if (kept_field(first, measure.field) == nullptr || kept_field(second, measure.field) == nullptr) continue;
    MeasureChange made = blank_measure(measure.name, measure.unit, measure.long_name, rows);
    made.first = head_numbers(first, measure.field, measure.slice, rows);
    made.second = head_numbers(second, measure.field, measure.slice, rows);
    for (Index row = 0; row < rows; ++row)
      if (std::isfinite(made.first[row]) && std::isfinite(made.second[row]))
        made.verdict[static_cast<std::size_t>(row)] = ChangeVerdict::no_interval;
    compared.measures.push_back(std::move(made));
    if (measure.lower == nullptr || kept_field(first, measure.lower) == nullptr ||
        kept_field(second, measure.lower) == nullptr)
      continue;
    const double coverage = std::min(coverage_of(first, measure), coverage_of(second, measure));
    if (std::isnan(coverage)) continue;
    Ends ends{compared.measures.size() - 1, coverage, {}, {}};
    for (std::size_t i = 0; i < 2; ++i) {
      const Result& result = i == 0 ? first : second;
      ends.lower[i] = head_numbers(result, measure.lower, measure.slice, rows);
      ends.upper[i] = head_numbers(result, measure.upper, measure.slice, rows);
    }
    if (std::string_view(measure.field) == "head_account/part") ignore_no_preference(ends, first, second, rows);
    intervals.push_back(std::move(ends));
  }
  judge(compared, intervals);
}

}  // namespace

const std::vector<std::string>& compared_fields() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all{"measured_offset/offset", "offset_trace/by_document", "offset_trace/length",
                                 "offset_trace/count"};
    for (const Measure& measure : measures)
      for (const char* name : {measure.field, measure.lower, measure.upper})
        if (name != nullptr && std::find(all.begin(), all.end(), name) == all.end()) all.emplace_back(name);
    for (const Word& word : word_kinds) all.emplace_back(word.field);
    all.insert(all.end(), cluster_fields().begin(), cluster_fields().end());
    return all;
  }();
  return names;
}

Comparison comparison(const Result& first, const Result& second, const std::vector<std::string>& names,
                      const ComparisonOptions& options) {
  require_comparable(first, second, names);
  Comparison compared;
  const Field& field = first.at("measured_offset/offset");
  compared.grid.layers = whole_coordinates(field, "layer");
  compared.grid.heads = field.axis("head").size();
  if (compared.grid.rows() < 1) throw ShapeError(fmt::format("{}: expected heads, found none", names[0]));
  compared.options = options;
  compared.paired = same_documents(first, second);
  compared.profile_offset = Vector::Constant(compared.grid.rows(), not_defined);
  compared.provenance = provenance_changes(first.provenance, second.provenance);
  add_profiles(compared, first, second);
  add_measures(compared, first, second);
  for (const Word& word : word_kinds) {
    std::vector<std::string> one = head_words(first, word.field, word.slice, compared.grid.rows());
    std::vector<std::string> other = head_words(second, word.field, word.slice, compared.grid.rows());
    for (std::vector<std::string>* texts : {&one, &other})
      if (std::string_view(word.field) == "head_types/kind")
        std::ranges::replace(*texts, "positional", "one offset (Voita)");  // so called in older results
    if (!one.empty() && !other.empty())
      compared.words.push_back({word.name, word.long_name, std::move(one), std::move(other)});
  }
  add_clusters(compared, first, second);
  return compared;
}

}  // namespace headwave
