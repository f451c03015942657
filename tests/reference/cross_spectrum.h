#pragma once

#include "../../analysis/waves/wave_chain.h"

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

}  // namespace headwave
