#include "comparison_profiles.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "../../analysis/statistics/mean_change.h"
#include "comparison_readings.h"

namespace headwave {

namespace {

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

}  // namespace

MeasureChange blank_measure(const std::string& name, const std::string& unit, const std::string& long_name,
                            Index rows) {
  const Vector none = Vector::Constant(rows, not_defined);
  return {name, unit, long_name, none,
          none, none, none,      std::vector<ChangeVerdict>(static_cast<std::size_t>(rows), ChangeVerdict::undefined)};
}

void add_profiles(Comparison& compared, const Result& first, const Result& second) {
  const Index rows = compared.grid.rows();
  MeasureChange offset =
      blank_measure("offset", "token", "offset at which the mean attention weight is largest; 0: at itself", rows);
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
  const MeanChange change = mean_change(
      one, other, compared.paired, {options.level / 2, options.draws, options.block, options.seed, options.threads});
  compared.block = change.block;
  compared.first_blocks = change.first_blocks;
  compared.second_blocks = change.second_blocks;
  compared.untested = why_untested(change, options);
  const Index reach = change.first.cols() / 2;
  compared.first_profile = change.first;
  compared.second_profile = change.second;
  compared.profile_offset = most_changed(change, reach);
  compared.measures.push_back(
      weights_at(change, offset.first, reach,
                 blank_measure("weight_at_first", "1", "mean weight at the first result's offset", rows)));
  compared.measures.push_back(
      weights_at(change, offset.second, reach,
                 blank_measure("weight_at_second", "1", "mean weight at the second result's offset", rows)));
  compared.measures.push_back(weights_at(
      change, compared.profile_offset, reach,
      blank_measure("profile", "1", "mean weight where the profile changed most, in standard errors", rows)));
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

}  // namespace headwave
