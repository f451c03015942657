#include "thin_svd.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <Eigen/SVD>

#include "symmetric_eigen.h"

namespace headwave {

namespace {

template <class Svd>
ThinSvd parts_of(const Svd& svd) {
  return {svd.matrixU(), svd.singularValues(), svd.matrixV()};
}

/// Whether singular values come so close to one another, or to zero, that divide and conquer cannot be trusted.
bool has_ties(const Vector& squares) {
  const double close = 1e-9 * squares[squares.size() - 1];
  if (!(squares[0] > close)) return true;
  for (Index i = 1; i < squares.size(); ++i)
    if (squares[i] - squares[i - 1] <= close) return true;
  return false;
}

bool holds(const Eigen::MatrixXd& a, const ThinSvd& svd) {
  if (!svd.u.allFinite() || !svd.v.allFinite() || !svd.s.allFinite()) return false;
  const double largest = svd.s.size() > 0 ? svd.s[0] : 0.0;
  const double allowed =
      64 * std::numeric_limits<double>::epsilon() * static_cast<double>(std::max(a.rows(), a.cols())) * largest;
  return (a * svd.v - svd.u * svd.s.asDiagonal()).norm() <= allowed &&
         (a.transpose() * svd.u - svd.v * svd.s.asDiagonal()).norm() <= allowed;
}

}  // namespace

ThinSvd thin_svd(const Eigen::MatrixXd& a) {
  if (!a.allFinite()) throw NumericError("thin_svd: an entry is not finite");
  if (a.rows() < a.cols()) {
    ThinSvd other = thin_svd(a.transpose());
    std::swap(other.u, other.v);
    return other;
  }
  constexpr unsigned thin = Eigen::ComputeThinU | Eigen::ComputeThinV;
  if (a.cols() == 0) return {Eigen::MatrixXd(a.rows(), 0), Vector(), Eigen::MatrixXd(0, 0)};
  // Its eigenvectors and eigenvalues are V and s^2, as far as squaring leaves them.
  const Eigen::MatrixXd gram = a.transpose() * a;
  if (!has_ties(symmetric_eigenvalues(gram))) {
    ThinSvd fast = parts_of(Eigen::BDCSVD<Eigen::MatrixXd>(a, thin));
    if (holds(a, fast)) return fast;
  }
  // Turned by the Gram matrix's eigenvectors A is nearly done, and Jacobi's rotations are few.
  const Eigen::MatrixXd turned = symmetric_eigenvectors(gram).rowwise().reverse();
  ThinSvd sure = parts_of(Eigen::JacobiSVD<Eigen::MatrixXd>(a * turned, thin));
  sure.v = turned * sure.v;
  return sure;
}

}  // namespace headwave
