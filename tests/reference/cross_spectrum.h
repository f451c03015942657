#pragma once

#include <algorithm>

#include "../../analysis/waves/cross_covariance.h"
#include "../../core/algebra/product.h"

namespace headwave {

/// gain[j] conj(F[Q_j](f)), what a head multiplies keys with in its cross-spectrum: (floor(T/2) + 1, k).
inline MatrixC gained_queries(const HeadWaves& waves) {
  return waves.query_spectrum.conjugate().array().rowwise() *
         waves.head->svd.gain.head(waves.rank()).transpose().array().cast<std::complex<double>>();
}

/// C(f) = sum_j gain[j] conj(F[Q_j](f)) F[K_j](f) of one head: the same as over the raw columns of queries and keys.
inline Eigen::VectorXcd cross_spectrum(const HeadWaves& waves) {
  return gained_queries(waves).cwiseProduct(waves.key_spectrum).rowwise().sum();
}

/// Equation (4) of cross_covariance(): the largest difference between its two sides, divided by the largest modulus of
/// either side. The right side is summed along each diagonal of the scores.
inline double weighted_sum_residual(const HeadWaves& waves, const CrossCovariance& covariance) {
  constexpr Index block = 256;  // query rows at a time: long documents have many scores
  const Index length = waves.length();
  const Matrix gained = waves.query * waves.head->svd.gain.head(waves.rank()).asDiagonal();
  Vector traces = Vector::Zero(2 * length - 1);
  for (Index first = 0; first < length; first += block) {
    const Index rows = std::min(block, length - first);
    const Matrix scores = product(gained.middleRows(first, rows), waves.key.transpose());
    for (Index i = 0; i < rows; ++i) traces.segment(length - 1 - first - i, length) += scores.row(i).transpose();
  }
  const double largest = std::max(covariance.weighted.cwiseAbs().maxCoeff(), traces.cwiseAbs().maxCoeff());
  return largest > 0 ? (traces - covariance.weighted).cwiseAbs().maxCoeff() / largest : 0.0;
}

}  // namespace headwave
