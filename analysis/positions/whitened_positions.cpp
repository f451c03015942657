#include "whitened_positions.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "../../core/algebra/product.h"

namespace headwave {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr double eps32 = std::numeric_limits<float>::epsilon();

/// Sxx with columns scaled to unit variance.
struct Covariance {
  Matrix scaled;     ///< (d, d)
  Vector inverse;    ///< (d)  1 / sqrt(Sxx_jj); 0 for a column that does not vary
  Vector tolerance;  ///< (d)  what of the scaled variance may be rounding
};

/// The independent columns and what Sxx is made of there: scaled(column_i, column_j) = (factor factor^T)(i, j).
struct IndependentColumns {
  std::vector<Index> column;
  Matrix factor;  ///< (columns, columns) lower triangle
};

Covariance covariance(const StateMoments& layer) {
  const auto tokens = static_cast<double>(layer.tokens());
  const Eigen::RowVectorXd mean = layer.position_sum().colwise().sum() / tokens;
  Matrix sxx = layer.second_sum();
  sxx.noalias() -= tokens * (mean.transpose() * mean);
  if (!are_finite(sxx)) throw NumericError("position_correlation: second moments are not finite");
  const Index d = layer.d_model();
  const double share = std::pow(static_cast<double>(d) * eps32, 2) + 64 * eps;
  Covariance result{{}, Vector::Zero(d), Vector::Zero(d)};
  for (Index j = 0; j < d; ++j) {
    const double raw = layer.second_sum()(j, j);
    if (!(sxx(j, j) > share * raw)) continue;  // does not vary: scaled to zeros, and so never chosen
    result.inverse(j) = 1.0 / std::sqrt(sxx(j, j));
    result.tolerance(j) = share * raw / sxx(j, j);
  }
  result.scaled = result.inverse.asDiagonal() * sxx * result.inverse.asDiagonal();
  return result;
}

/// Cholesky's factorisation with the largest pivot first, until no column has more left than its tolerance. (Eigen's
/// LDLT chooses pivots by diagonals that it has not yet reduced: it does not find the rank.)
IndependentColumns independent_columns(const Covariance& covariance) {
  const Index d = covariance.scaled.rows();
  std::vector<Index> order(static_cast<std::size_t>(d));
  std::iota(order.begin(), order.end(), Index{0});
  const auto at = [&](Index i) -> Index& { return order[static_cast<std::size_t>(i)]; };
  Vector left = covariance.scaled.diagonal();  // unexplained share of each column's variance, in `order`
  Matrix factor = Matrix::Zero(d, d);          // rows in `order`
  Index k = 0;
  for (; k < d; ++k) {
    Index chosen = -1;
    for (Index i = k; i < d; ++i)
      if (left(i) > covariance.tolerance(at(i)) && (chosen < 0 || left(i) > left(chosen))) chosen = i;
    if (chosen < 0) break;
    std::swap(at(k), at(chosen));
    std::swap(left(k), left(chosen));
    factor.row(k).swap(factor.row(chosen));
    factor(k, k) = std::sqrt(left(k));
    const Index below = d - k - 1;
    Vector column(below);
    for (Index i = 0; i < below; ++i) column(i) = covariance.scaled(at(k), at(k + 1 + i));
    column -= product(factor.block(k + 1, 0, below, k), factor.row(k).head(k).transpose());
    factor.col(k).tail(below) = column / factor(k, k);
    left.tail(below) -= factor.col(k).tail(below).cwiseAbs2();
  }
  order.resize(static_cast<std::size_t>(k));
  return {std::move(order), factor.topLeftCorner(k, k)};
}

}  // namespace

Matrix whitened_positions(const StateMoments& layer) {
  const Covariance sxx = covariance(layer);
  const IndependentColumns independent = independent_columns(sxx);
  const auto variables = static_cast<Index>(independent.column.size());
  Matrix whitened(variables, layer.length());
  for (Index i = 0; i < variables; ++i) {
    const Index j = independent.column[static_cast<std::size_t>(i)];
    whitened.row(i) = sxx.inverse(j) * layer.position_sum().col(j).transpose();
  }
  whitened.colwise() -= whitened.rowwise().mean().eval();
  independent.factor.triangularView<Eigen::Lower>().solveInPlace(whitened);
  return whitened / std::sqrt(static_cast<double>(layer.documents()));
}

}  // namespace headwave
