#pragma once

#include "../numbers/matrix.h"

namespace headwave {

/// Eigenvalues of a symmetric matrix. Reads the lower triangle.
/// @param a  (n, n)  n >= 1
/// @returns (n) ascending
Vector symmetric_eigenvalues(const Eigen::MatrixXd& a);

/// Eigenvectors of a symmetric matrix. Reads the lower triangle.
/// @param a  (n, n)  n >= 1
/// @returns (n, n) orthonormal columns, in the order of symmetric_eigenvalues()
Eigen::MatrixXd symmetric_eigenvectors(const Eigen::MatrixXd& a);

}  // namespace headwave
