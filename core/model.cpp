#include "headwave/core/model.h"

#include <cmath>

namespace headwave {

double ModelSpec::score_scale() const {
  return 1.0 / std::sqrt(static_cast<double>(d_head));
}

MatrixView32 Model::position_embedding() const {
  if (positions.empty()) return {};
  return positions.middleRows(spec.first_position, spec.positions);
}

}  // namespace headwave
