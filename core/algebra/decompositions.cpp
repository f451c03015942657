#include "decompositions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include <Eigen/Eigenvalues>
#include <Eigen/Jacobi>
#include <Eigen/QR>
#include <fmt/format.h>

#include "product.h"

namespace headwave {

ThinQr thin_qr(const Matrix& a) {
  const Index n = std::min(a.rows(), a.cols());
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(a);  // column-major: reflections walk down columns
  return {qr.householderQ() * Eigen::MatrixXd::Identity(a.rows(), n),
          qr.matrixQR().topRows(n).triangularView<Eigen::Upper>()};
}

Matrix random_frame(Index rows, Index columns, Random& random) {
  if (columns > rows)
    throw ShapeError(fmt::format("random_frame: {} orthonormal columns do not fit into {} dimensions", columns, rows));
  Matrix normal(rows, columns);
  for (Index i = 0; i < normal.size(); ++i) normal.data()[i] = random.normal();
  ThinQr qr = thin_qr(normal);
  for (Index c = 0; c < columns; ++c)
    if (qr.r(c, c) < 0) qr.q.col(c) = -qr.q.col(c);
  return qr.q;
}

namespace {

/// Rotates two columns of both matrices so that those of `columns` become orthogonal; returns whether they
/// were not. A column that keeps cancelling against others becomes zero before its square underflows.
bool turned(Eigen::MatrixXd& columns, Eigen::MatrixXd& v, Index p, Index q, double within) {
  constexpr double nothing = 1e-200;  // a squared norm; the largest entry of A is 1
  const double along = columns.col(p).dot(columns.col(q));
  const double first = columns.col(p).squaredNorm(), second = columns.col(q).squaredNorm();
  if (first < nothing) columns.col(p).setZero();
  if (second < nothing) columns.col(q).setZero();
  if (first < nothing || second < nothing) return false;
  if (std::abs(along) <= within * std::sqrt(first) * std::sqrt(second)) return false;
  Eigen::JacobiRotation<double> rotation;
  rotation.makeJacobi(first, along, second);
  columns.applyOnTheRight(p, q, rotation);
  v.applyOnTheRight(p, q, rotation);
  return true;
}

/// Rotates columns, two at a time, until all are orthogonal to the precision of a scalar product.
void make_orthogonal(Eigen::MatrixXd& columns, Eigen::MatrixXd& v) {
  constexpr int most_sweeps = 60;  // two to five are usual
  const double within = std::numeric_limits<double>::epsilon() * std::sqrt(static_cast<double>(columns.rows()));
  bool any = true;
  for (int sweep = 0; any; ++sweep) {
    if (sweep == most_sweeps)
      throw NumericError(fmt::format("thin_svd: the decomposition of a {} x {} matrix did not converge", columns.rows(),
                                     columns.cols()));
    any = false;
    const Matrix gram = product(columns.transpose(), columns);  // all at once, since most pairs need no rotation
    const Vector size = gram.diagonal().cwiseSqrt();
    for (Index p = 0; p < gram.cols(); ++p)
      for (Index q = p + 1; q < gram.cols(); ++q)
        if (std::abs(gram(q, p)) > within * size[p] * size[q]) any = turned(columns, v, p, q, within) || any;
  }
}

/// U, s and V from orthogonal columns A V.
ThinSvd parts_of(const Eigen::MatrixXd& columns, const Eigen::MatrixXd& v) {
  const Index n = columns.cols();
  const Vector size = columns.colwise().norm();
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::stable_sort(order, [&](Index a, Index b) { return size[a] > size[b]; });
  ThinSvd svd{Eigen::MatrixXd::Zero(columns.rows(), n), Vector::Zero(n), Eigen::MatrixXd(n, n)};
  Index rank = 0;
  for (Index i = 0; i < n; ++i) {
    const Index from = order[static_cast<std::size_t>(i)];
    svd.v.col(i) = v.col(from);
    if (!(size[from] > 0)) continue;
    svd.s[i] = size[from];
    svd.u.col(i) = columns.col(from) / size[from];
    rank = i + 1;
  }
  // A does not determine the other columns of U: any that are orthonormal to the first will do.
  if (rank < n) svd.u.rightCols(n - rank) = thin_qr(svd.u).q.rightCols(n - rank);
  return svd;
}

}  // namespace

ThinSvd thin_svd(const Eigen::MatrixXd& a) {
  if (!are_finite(a)) throw NumericError("thin_svd: an entry of the matrix is not finite; look for NaN or infinity");
  if (a.rows() < a.cols()) {
    ThinSvd other = thin_svd(a.transpose());
    std::swap(other.u, other.v);
    return other;
  }
  if (a.cols() == 0) return {Eigen::MatrixXd(a.rows(), 0), Vector(), Eigen::MatrixXd(0, 0)};
  if (a.rows() > 2 * a.cols()) {
    const ThinQr qr = thin_qr(a);
    ThinSvd svd = thin_svd(qr.r);
    svd.u = product(qr.q, svd.u);
    return svd;
  }
  const double largest = a.cwiseAbs().maxCoeff();
  const double scale = largest > 0 ? largest : 1;  // squares neither overflow nor underflow
  // The eigenvectors of A^T A are V to the precision that squaring leaves, so few rotations remain.
  Eigen::MatrixXd columns = a / scale;
  const Eigen::MatrixXd square = product(columns.transpose(), columns);
  Eigen::MatrixXd v = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(square).eigenvectors().rowwise().reverse();
  columns = product(columns, v);
  make_orthogonal(columns, v);
  ThinSvd svd = parts_of(columns, v);
  svd.s *= scale;
  return svd;
}

}  // namespace headwave
