#include "state_parts.h"

#include <cmath>
#include <limits>
#include <utility>

#include "../../core/algebra/product.h"

namespace headwave {

namespace {

/// Rows without their mean, taken twice since the first is rounded; zero where they differ by less than `rounding`.
Matrix deviations(Matrix rows, double rounding) {
  for (int pass = 0; pass < 2; ++pass) rows.rowwise() -= rows.colwise().mean().eval();
  if (rows.norm() <= rounding) rows.setZero();
  return rows;
}

}  // namespace

StateParts state_parts(const StateMoments& layer) {
  const auto documents = static_cast<double>(layer.documents());
  const auto length = static_cast<double>(layer.length());
  const double square = layer.second_sum().trace();
  if (!std::isfinite(square)) throw NumericError("position_split: second moments are not finite");
  const double rounding = std::numeric_limits<double>::epsilon() *
                          (documents + length);  // of a mean over documents or positions, against its terms
  StateParts parts;
  parts.mean = layer.position_sum().colwise().sum() / (documents * length);
  parts.position = deviations(layer.position_sum() / documents, rounding * std::sqrt(square / documents));
  parts.context = deviations(layer.document_means(), rounding * std::sqrt(square / length));
  parts.residual = layer.second_sum();
  parts.residual -= documents * length * gram_of(parts.mean);
  parts.residual -= documents * gram_of(parts.position);
  parts.residual -= length * gram_of(parts.context);
  if (layer.documents() == 1 || layer.length() == 1 || parts.residual.trace() <= rounding * square)
    parts.residual.setZero();
  return parts;
}

}  // namespace headwave
