#include "correlation_by_depth.h"

#include <fmt/format.h>

namespace headwave {

CorrelationByDepth correlation_by_depth(MatrixView correlation, double limit) {
  if (correlation.empty())
    throw ShapeError(fmt::format("correlation_by_depth: {} layers of {} components; expected at least one of each",
                                 correlation.rows(), correlation.cols()));
  const auto first = correlation.row(0), last = correlation.row(correlation.rows() - 1);
  return {(first.array() > limit).count(), first.mean() - last.mean()};
}

}  // namespace headwave
