#include "qk_svd.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "../../core/algebra/decompositions.h"
#include "../../core/algebra/product.h"

namespace headwave {

namespace {

Index numerical_rank(const Vector& gain, Index largest_size) {
  const double cut = static_cast<double>(largest_size) * std::numeric_limits<double>::epsilon() * gain[0];
  Index rank = 0;
  while (rank < gain.size() && gain[rank] > cut) ++rank;
  return rank;
}

/// The sign of each column, such that its entry of largest modulus, of equal ones the first, is positive.
Vector signs_of(const Matrix& columns) {
  Eigen::RowVectorXd largest = Eigen::RowVectorXd::Zero(columns.cols());
  for (Index row = 0; row < columns.rows(); ++row)
    largest = (columns.row(row).array().abs() > largest.array().abs()).select(columns.row(row), largest);
  return (largest.array() < 0).select(Vector::Constant(columns.cols(), -1).transpose(), 1.0).transpose();
}

}  // namespace

QkSvd qk_svd(MatrixView w_query, MatrixView w_key) {
  if (w_query.rows() != w_key.rows() || w_query.cols() != w_key.cols() || w_query.empty())
    throw ShapeError(fmt::format("qk_svd: W_Q is ({}, {}) and W_K ({}, {}); expected (d_model, d_head) of both",
                                 w_query.rows(), w_query.cols(), w_key.rows(), w_key.cols()));
  if (!are_finite(w_query) || !are_finite(w_key))
    throw NumericError("qk_svd: a weight is not finite; look for NaN or infinity in the checkpoint");
  const ThinQr query = thin_qr(w_query), key = thin_qr(w_key);
  const ThinSvd svd = thin_svd(product(query.r, key.r.transpose()));

  QkSvd result;
  result.gain = svd.s;
  const Index rank = numerical_rank(result.gain, std::max(w_query.rows(), w_query.cols()));
  result.query = product(query.q, svd.u.leftCols(rank));
  const Vector signs = signs_of(result.query);
  const Vector share = signs.cwiseQuotient(result.gain.head(rank));
  result.query *= signs.asDiagonal();
  result.key = product(key.q, svd.v.leftCols(rank) * signs.asDiagonal());
  // W_K^T U_K = R_k^T V, and W_Q^T U_Q = R_q^T U.
  result.from_query = product(key.r.transpose(), svd.v.leftCols(rank)) * share.asDiagonal();
  result.from_key = product(query.r.transpose(), svd.u.leftCols(rank)) * share.asDiagonal();
  return result;
}

}  // namespace headwave
