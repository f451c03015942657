#pragma once

#include "../numbers/matrix.h"
#include "../numbers/random.h"

namespace headwave {

/// A = Q R with n = min(rows, columns). The signs are not made unique.
struct ThinQr {
  Matrix q;  ///< (rows, n)     orthonormal columns
  Matrix r;  ///< (n, columns)  upper triangle
};

/// QR decomposition by Householder reflections.
ThinQr thin_qr(const Matrix& a);

/// Random orthonormal columns, uniformly distributed: the Q of a matrix of normal numbers, with unique signs.
///
/// Source: Mezzadri 2007, How to generate random matrices from the classical compact groups, Notices of the AMS 54.
/// @returns (rows, columns)
/// @throws ShapeError if there are more columns than rows
Matrix random_frame(Index rows, Index columns, Random& random);

/// A = U diag(s) V^T with n = min(rows, columns). Column-major, since decompositions walk down columns.
struct ThinSvd {
  Eigen::MatrixXd u;  ///< (rows, n)     orthonormal columns
  Vector s;           ///< (n)           descending, >= 0
  Eigen::MatrixXd v;  ///< (columns, n)  orthonormal columns
};

/// Singular value decomposition by one-sided Jacobi rotations, started from the eigenvectors of A^T A.
///
/// Eigen 3.4's decompositions are not used: divide and conquer can silently return wrong singular values if
/// some are equal, as in a head planted with pairs of waves. Jacobi takes 30 times as long for 768 columns.
///
/// Source: Demmel and Veselic 1992, doi:10.1137/0613074; Drmac and Veselic 2008, doi:10.1137/050639193.
/// @throws NumericError if an entry is not finite, or the rotations do not converge
ThinSvd thin_svd(const Eigen::MatrixXd& a);

}  // namespace headwave
