#pragma once

#include "../numbers/matrix.h"

namespace headwave {

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
