#include "comparison.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "../../analysis/statistics/mean_change.h"
#include "../../analysis/statistics/tails.h"
#include "../../core/fields/fields.h"
#include "../../core/numbers/error.h"
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
    Measure{"position_share", "head_account/explained_shape", "position", "1",
            "share of the profile's shape that positions explain", "head_account/shape_lower",
            "head_account/shape_upper"},
    Measure{"content_share", "head_account/explained_shape", "content", "1",
            "share of the profile's shape that positions and content explain", "head_account/shape_lower",
            "head_account/shape_upper"},
    Measure{"previous", "head_types/previous", "", "1", "mean weight on the token before"},
    Measure{"next", "head_types/next", "", "1", "mean weight on the token after"},
    Measure{"positional", "head_types/positional_share", "", "1",
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

constexpr std::array words{
    Word{"status", "measured_offset/status", "all", "whether the head singles out an offset"},
    Word{"why", "head_account/verdict", "", "what a head's offset profile comes from"},
    Word{"kind", "head_types/kind", "", "what a head is called"},
};

MeasureChange blank(const std::string& name, const std::string& unit, const std::string& long_name, Index rows) {
  const Vector none = Vector::Constant(rows, not_defined);
  return {name, unit, long_name, none,
          none, none, none,      std::vector<ChangeVerdict>(static_cast<std::size_t>(rows), ChangeVerdict::undefined)};
}

/// Weights at one offset per head, NaN for none, with the bands of (2).
MeasureChange weights_at(const MeanChange& change, const Vector& offset, Index reach, MeasureChange made) {
  for (Index row = 0; row < offset.size(); ++row) {
    const double t = offset[row] + static_cast<double>(reach);
    if (!(t >= 0 && t < static_cast<double>(change.first.cols()))) continue;
    const auto c = static_cast<Index>(t);
    made.first[row] = change.first(row, c);
    made.second[row] = change.second(row, c);
    if (!std::isfinite(change.difference(row, c))) continue;
    auto& verdict = made.verdict[static_cast<std::size_t>(row)];
    verdict = ChangeVerdict::no_interval;
    if (const double half = change.half_width(row, c); std::isfinite(half)) {
      made.lower[row] = change.difference(row, c) - half;
      made.upper[row] = change.difference(row, c) + half;
      verdict = change.beyond(row, c) ? ChangeVerdict::beyond : ChangeVerdict::within;
    }
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

void add_profiles(Comparison& compared, const Result& first, const Result& second) {
  const Index rows = compared.grid.rows();
  MeasureChange offset =
      blank("offset", "token", "offset at which the mean attention weight is largest; 0: at itself", rows);
  offset.first = found_offsets(first, rows);
  offset.second = found_offsets(second, rows);
  for (Index row = 0; row < rows; ++row)
    if (std::isfinite(offset.first[row]) && std::isfinite(offset.second[row]))
      offset.verdict[static_cast<std::size_t>(row)] = ChangeVerdict::no_interval;
  compared.measures.push_back(offset);
  const std::vector<Matrix> one = document_profiles(first, rows), other = document_profiles(second, rows);
  compared.first_documents = std::ssize(one);
  compared.second_documents = std::ssize(other);
  if (one.empty() || other.empty()) {
    compared.untested = "a result does not keep offset_trace/by_document";
    return;
  }
  const ComparisonOptions& options = compared.options;
  const MeanChange change =
      mean_change(one, other, compared.paired, {options.level / 2, options.draws, options.seed, options.threads});
  if (!std::isfinite(change.factor)) compared.untested = "one document in a result, or too few draws for the level";
  const Index reach = change.first.cols() / 2;
  compared.profile_offset = most_changed(change, reach);
  compared.measures.push_back(weights_at(
      change, offset.first, reach, blank("weight_at_first", "1", "mean weight at the first result's offset", rows)));
  compared.measures.push_back(weights_at(
      change, offset.second, reach, blank("weight_at_second", "1", "mean weight at the second result's offset", rows)));
  compared.measures.push_back(
      weights_at(change, compared.profile_offset, reach,
                 blank("profile", "1", "mean weight where the profile changed most, in standard errors", rows)));
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

double coverage_of(const Result& result, const Measure& measure) {
  const Field& field = result.at(measure.lower);
  const auto found = field.attributes.find("coverage");
  const auto* coverage = found == field.attributes.end() ? nullptr : std::get_if<double>(&found->second);
  return coverage != nullptr && *coverage > 0 && *coverage < 1 ? *coverage : not_defined;
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
    MeasureChange made = blank(measure.name, measure.unit, measure.long_name, rows);
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
    intervals.push_back(std::move(ends));
  }
  judge(compared, intervals);
}

}  // namespace

const std::vector<std::string>& compared_fields() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all{"measured_offset/offset", "offset_trace/by_document", "offset_trace/length"};
    for (const Measure& measure : measures)
      for (const char* name : {measure.field, measure.lower, measure.upper})
        if (name != nullptr && std::find(all.begin(), all.end(), name) == all.end()) all.emplace_back(name);
    for (const Word& word : words) all.emplace_back(word.field);
    return all;
  }();
  return names;
}

Comparison comparison(const Result& first, const Result& second, const std::vector<std::string>& names,
                      const ComparisonOptions& options) {
  require_comparable(first, second, names);
  Comparison compared;
  const Field& field = first.at("measured_offset/offset");
  if (const auto* layers = std::get_if<std::vector<std::int64_t>>(&field.axis("layer").values))
    compared.grid.layers.assign(layers->begin(), layers->end());
  compared.grid.heads = field.axis("head").size();
  if (compared.grid.rows() < 1) throw ShapeError(fmt::format("{}: expected heads, found none", names[0]));
  compared.options = options;
  compared.paired = same_documents(first, second);
  compared.profile_offset = Vector::Constant(compared.grid.rows(), not_defined);
  compared.provenance = provenance_changes(first.provenance, second.provenance);
  add_profiles(compared, first, second);
  add_measures(compared, first, second);
  for (const Word& word : words) {
    std::vector<std::string> one = head_words(first, word.field, word.slice, compared.grid.rows());
    std::vector<std::string> other = head_words(second, word.field, word.slice, compared.grid.rows());
    if (!one.empty() && !other.empty())
      compared.words.push_back({word.name, word.long_name, std::move(one), std::move(other)});
  }
  return compared;
}

}  // namespace headwave
