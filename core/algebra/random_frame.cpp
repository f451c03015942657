#include "random_frame.h"

#include <fmt/format.h>

#include "thin_qr.h"

namespace headwave {

Matrix random_frame(Index rows, Index columns, Random& random) {
  if (columns > rows)
    throw ShapeError(fmt::format("random_frame: {} orthonormal columns in {} dimensions", columns, rows));
  Matrix normal(rows, columns);
  for (Index i = 0; i < normal.size(); ++i) normal.data()[i] = random.normal();
  ThinQr qr = thin_qr(normal);
  for (Index c = 0; c < columns; ++c)
    if (qr.r(c, c) < 0) qr.q.col(c) = -qr.q.col(c);
  return qr.q;
}

}  // namespace headwave
