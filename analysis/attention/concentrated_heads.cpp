#include "concentrated_heads.h"

namespace headwave {

double concentrated_heads(MatrixView shares, Index few) {
  if (shares.rows() == 0) return not_defined;
  double heads = 0;
  for (Index row = 0; row < shares.rows(); ++row)
    if ((shares.row(row).array() > 0).count() <= few) heads += 1;
  return heads / static_cast<double>(shares.rows());
}

}  // namespace headwave
