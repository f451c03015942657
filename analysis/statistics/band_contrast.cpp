#include "band_contrast.h"

#include <algorithm>

#include <fmt/format.h>

#include "quantile.h"

namespace headwave {

double band_contrast(const Vector& amplitude, const FrequencyBand& band) {
  if (band.length < 2)
    throw NumericError(fmt::format("band_contrast: expected a band of at least 2 tokens, got {}", band.length));
  const Index last = amplitude.size() - 1, half = band.length / 2;
  const Index first = std::max<Index>(1, last * band.lowest / half), end = std::min(last, last * band.highest / half);
  if (end < first || amplitude.tail(last).hasNaN()) return not_defined;
  return amplitude.segment(first, end - first + 1).maxCoeff() / quantile({amplitude.begin() + 1, amplitude.end()}, 0.5);
}

}  // namespace headwave
