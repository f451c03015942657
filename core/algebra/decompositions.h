#pragma once

#include "../numbers/matrix.h"
#include "../numbers/random.h"

namespace headwave {

/// A = Q R. n = min(rows, columns). Signs are as the reflections leave them.
struct ThinQr {
  Matrix q;  ///< (rows, n)     orthonormal columns
  Matrix r;  ///< (n, columns)  upper triangle
};

/// QR decomposition by Householder's reflections.
ThinQr thin_qr(const Matrix& a);

/// Orthonormal columns, every frame as likely as any other: the Q of a matrix of normal numbers, its signs made unique.
///
/// Source: Mezzadri 2007, How to generate random matrices from the classical compact groups, Notices of the AMS 54.
/// @returns (rows, columns)
/// @throws ShapeError if there are more columns than rows
Matrix random_frame(Index rows, Index columns, Random& random);

/// A = U diag(s) V^T. n = min(rows, columns). Column-major inside, since decompositions walk down columns.
struct ThinSvd {
  Eigen::MatrixXd u;  ///< (rows, n)     orthonormal columns
  Vector s;           ///< (n)           descending, >= 0
  Eigen::MatrixXd v;  ///< (columns, n)  orthonormal columns
};

/// Singular value decomposition by one-sided Jacobi rotations, few of them after a start from the eigenvectors of A^T A.
///
/// Eigen 3.4's decompositions are not used: divide and conquer can return wrong singular values silently when some are
/// equal, as in a head planted with pairs of waves, and its Jacobi method takes 30 times as long for 768 columns.
///
/// Source: Demmel and Veselic 1992, doi:10.1137/0613074; Drmac and Veselic 2008, doi:10.1137/050639193.
/// @throws NumericError if an entry is not finite
ThinSvd thin_svd(const Eigen::MatrixXd& a);

}  // namespace headwave
