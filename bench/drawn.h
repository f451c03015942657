#pragma once

#include "../core/numbers/matrix.h"
#include "../core/numbers/random.h"

namespace headwave {

/// (rows, cols)  normal numbers, mean 0 and standard deviation 1, row by row
inline Matrix drawn(Index rows, Index cols, Random& random) {
  Matrix matrix(rows, cols);
  for (double& entry : matrix.reshaped<Eigen::RowMajor>()) entry = random.normal();
  return matrix;
}

}  // namespace headwave
