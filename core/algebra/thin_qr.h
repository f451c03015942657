#pragma once

#include "../numbers/matrix.h"

namespace headwave {

/// A = Q R. n = min(rows, columns). Signs are as the reflections leave them.
struct ThinQr {
  Matrix q;  ///< (rows, n)     orthonormal columns
  Matrix r;  ///< (n, columns)  upper triangle
};

/// QR decomposition by Householder's reflections.
ThinQr thin_qr(const Matrix& a);

}  // namespace headwave
