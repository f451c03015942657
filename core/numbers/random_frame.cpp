#include "random_frame.h"

#include <Eigen/QR>
#include <fmt/format.h>

namespace headwave {

Matrix random_frame(Index rows, Index columns, Random& random) {
  if (columns > rows)
    throw ShapeError(fmt::format("random_frame: {} orthonormal columns in {} dimensions", columns, rows));
  Matrix normal(rows, columns);
  for (Index i = 0; i < normal.size(); ++i) normal.data()[i] = random.normal();
  const Eigen::HouseholderQR<Matrix> qr(normal);
  Matrix q = qr.householderQ() * Matrix::Identity(rows, columns);
  for (Index c = 0; c < columns; ++c)
    if (qr.matrixQR()(c, c) < 0) q.col(c) = -q.col(c);
  return q;
}

}  // namespace headwave
