#include "published_measures.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../../core/numbers/largest_entries.h"
#include "quantile.h"

namespace headwave {

namespace {

void require_rows(const char* name, const Vector& offset, const Vector& value) {
  if (offset.size() != value.size())
    throw ShapeError(fmt::format("{}: {} offsets and {} values; expected one of each for every head", name,
                                 offset.size(), value.size()));
}

}  // namespace

std::vector<Index> clearest_heads(const Vector& offset, const Vector& weight, Index most) {
  require_rows("clearest_heads", offset, weight);
  return largest_entries(offset.array().isNaN().select(offset, weight), most);
}

double mean_with_offset(const Vector& offset, const Vector& value) {
  require_rows("mean_with_offset", offset, value);
  double sum = 0, count = 0;
  for (Index row = 0; row < offset.size(); ++row) {
    if (std::isnan(offset[row])) continue;
    sum += value[row];
    count += 1;
  }
  return count > 0 ? sum / count : not_defined;
}

double concentrated_heads(MatrixView shares, Index few) {
  if (shares.rows() == 0) return not_defined;
  double heads = 0;
  for (Index row = 0; row < shares.rows(); ++row)
    if ((shares.row(row).array() > 0).count() <= few) heads += 1;
  return heads / static_cast<double>(shares.rows());
}

CorrelationByDepth correlation_by_depth(MatrixView correlation, double limit) {
  if (correlation.empty())
    throw ShapeError(fmt::format("correlation_by_depth: {} layers of {} components; expected at least one of each",
                                 correlation.rows(), correlation.cols()));
  const auto first = correlation.row(0), last = correlation.row(correlation.rows() - 1);
  return {(first.array() > limit).count(), first.mean() - last.mean()};
}

double band_contrast(const Vector& amplitude, const FrequencyBand& band) {
  if (band.length < 2)
    throw NumericError(fmt::format("band_contrast: expected a band of at least 2 tokens, got {}", band.length));
  const Index last = amplitude.size() - 1, half = band.length / 2;
  const Index first = std::max<Index>(1, last * band.lowest / half), end = std::min(last, last * band.highest / half);
  if (end < first || amplitude.tail(last).hasNaN()) return not_defined;
  return amplitude.segment(first, end - first + 1).maxCoeff() / quantile({amplitude.begin() + 1, amplitude.end()}, 0.5);
}

}  // namespace headwave
