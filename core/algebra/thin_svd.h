#pragma once

#include "../numbers/matrix.h"

namespace headwave {

/// A = U diag(s) V^T. n = min(rows, columns). Column-major inside, since decompositions walk down columns.
struct ThinSvd {
  Eigen::MatrixXd u;  ///< (rows, n)     orthonormal columns
  Vector s;           ///< (n)           descending, >= 0
  Eigen::MatrixXd v;  ///< (columns, n)  orthonormal columns
};

/// Singular value decomposition by Jacobi's rotations of columns, which are few after the eigenvectors of A^T A.
///
/// Eigen's (3.4) are not used: divide and conquer can return wrong singular values without a word where some are equal, as
/// they are in a head planted with waves in pairs, and its Jacobi method takes 30 times as long for 768 columns.
///
/// Source: Demmel and Veselic 1992, doi:10.1137/0613074; Drmac and Veselic 2008, doi:10.1137/050639193.
/// @throws NumericError if an entry is not finite
ThinSvd thin_svd(const Eigen::MatrixXd& a);

}  // namespace headwave
