#include "position_components.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "../../core/algebra/decompositions.h"
#include "../../core/fields/fields.h"
#include "../../core/model/layer_positions.h"
#include "position_spectrum.h"

namespace headwave {

namespace {

// The sign of a singular pair is the routine's choice: make it one that does not depend on the routine.
void fix_signs(Matrix& directions, Matrix& coordinates) {
  for (Index k = 0; k < directions.cols(); ++k) {
    Index largest = 0;
    directions.col(k).cwiseAbs().maxCoeff(&largest);
    if (directions(largest, k) >= 0) continue;
    directions.col(k) = -directions.col(k);
    coordinates.col(k) = -coordinates.col(k);
  }
}

struct PositionComponentsAnalysis : Analysis {
  using Analysis::Analysis;
  [[nodiscard]] std::vector<Field> finish(Finished& /*finished*/) override {
    return describe(position_components(
        position_rows(stack(), std::min(input().longest, rows_to_read(stack(), options()[rows_option])))));
  }
};

std::unique_ptr<Analysis> make_position_components(const AnalysisInput& input) {
  return input.knows_positions() ? std::make_unique<PositionComponentsAnalysis>(input) : nullptr;
}

}  // namespace

PositionComponents position_components(MatrixView positions) {
  PositionComponents result;
  result.length = positions.rows();
  if (positions.empty()) {
    result.undefined = "no position table";
    return result;
  }
  if (!are_finite(positions))
    throw NumericError(
        "position_components: an entry of the position table is not finite; look for NaN or infinity in the "
        "checkpoint");

  // Scaled to entries near 1 by a power of two, which is exact: squares of very large or small ones leave the
  // range.
  const double largest = positions.cwiseAbs().maxCoeff(), scale = largest > 0 ? std::exp2(std::ilogb(largest)) : 1.0;
  Matrix table = positions / scale;
  const double row = table.norm() / std::sqrt(static_cast<double>(table.rows()));
  // Twice: the first mean is rounded by up to T eps, and a table of equal rows would be left with that as a
  // component.
  for (int pass = 0; pass < 2; ++pass) table.rowwise() -= table.colwise().mean().eval();
  const ThinSvd svd = thin_svd(table);
  const Vector& singular = svd.s;
  const double rounding = static_cast<double>(std::max(table.rows(), table.cols())) *
                          std::numeric_limits<double>::epsilon() * std::max(singular(0), row);
  result.rank = (singular.array() > rounding).count();
  if (result.rank == 0) {
    result.undefined = "the positions are all equal";
    return result;
  }

  result.share = Vector::Zero(singular.size());
  result.share.head(result.rank) = singular.head(result.rank).array().square();
  result.share /= result.share.sum();
  result.cumulative_share.resize(singular.size());
  std::partial_sum(result.share.begin(), result.share.end(), result.cumulative_share.begin());
  result.directions = svd.v;
  result.coordinates = scale * svd.u * singular.asDiagonal();
  fix_signs(result.directions, result.coordinates);
  return result;
}

std::vector<Field> describe(const PositionComponents& components) {
  const char* const share = "share of the positions' variance along a principal component";
  const char* const cumulative = "share of the positions' variance along this and all larger components";
  Fields fields("position_components");
  if (components.undefined.empty()) {
    const Axis component = counting_axis("component", "1", "principal component of the positions, the largest is 1", 1,
                                         components.share.size());
    fields.add("share", {component}, "1", share, components.share);
    fields.add("cumulative_share", {component}, "1", cumulative, components.cumulative_share);
  } else {
    fields.absent("share", "1", share, components.undefined);
    fields.absent("cumulative_share", "1", cumulative, components.undefined);
  }
  fields.note_all("T", components.length).note_all("rank", components.rank);
  fields.note_all("centred", "column means removed");
  return fields.taken();
}

extern const AnalysisKind position_components_analysis{
    .name = "position_components",
    .asks = "What are the principal components of the position table (PCA)?",
    .one_sequence = true,
    .make = make_position_components};

}  // namespace headwave
