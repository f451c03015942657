#pragma once

#include "matrix.h"

namespace headwave {

/// A = Q R. Signs are as the reflections leave them.
struct ThinQr {
  Matrix q;  ///< (rows, columns)     orthonormal columns
  Matrix r;  ///< (columns, columns)  upper triangle
};

/// QR decomposition by Householder's reflections.
/// @param a  (rows, columns)  no more columns than rows
/// @throws ShapeError if there are more columns than rows
ThinQr thin_qr(const Matrix& a);

}  // namespace headwave
