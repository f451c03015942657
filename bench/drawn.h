#pragma once

#include "../core/numbers/matrix.h"
#include "../core/numbers/random.h"

namespace headwave {

/// A matrix of standard normal numbers, drawn row by row.
inline Matrix drawn(Index rows, Index cols, Random& random) {
  Matrix matrix(rows, cols);
  for (double& entry : matrix.reshaped<Eigen::RowMajor>()) entry = random.normal();
  return matrix;
}

}  // namespace headwave
