#include "symmetric_eigen.h"

#include <Eigen/Eigenvalues>

namespace headwave {

namespace {

using SymmetricSolver = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>;

}  // namespace

Vector symmetric_eigenvalues(const Eigen::MatrixXd& a) {
  return SymmetricSolver(a, Eigen::EigenvaluesOnly).eigenvalues();
}

Eigen::MatrixXd symmetric_eigenvectors(const Eigen::MatrixXd& a) {
  return SymmetricSolver(a).eigenvectors();
}

}  // namespace headwave
