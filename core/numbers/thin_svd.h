#pragma once

#include "matrix.h"

namespace headwave {

/// A = U diag(s) V^T. n = min(rows, columns). Column-major inside, since decompositions walk down columns.
struct ThinSvd {
  Eigen::MatrixXd u;  ///< (rows, n)     orthonormal columns
  Vector s;           ///< (n)           descending, >= 0
  Eigen::MatrixXd v;  ///< (columns, n)  orthonormal columns
};

/// Singular value decomposition, checked.
///
/// Eigen's divide and conquer (3.4) is fast, but where singular values are equal it can return wrong ones without a
/// word, or stop the program where assertions are on: a head planted with waves in pairs came out with gains that were
/// off by a tenth. So it is used only where all are apart, and what it returns is multiplied out, |A V - U S| <= 64 eps n
/// s_1; everywhere else the slow and sure Jacobi method is.
///
/// Source: Gu and Eisenstat 1995, doi:10.1137/S0895479892242232; Demmel and Veselic 1992, doi:10.1137/0613074.
/// @throws NumericError if an entry is not finite
ThinSvd thin_svd(const Eigen::MatrixXd& a);

}  // namespace headwave
