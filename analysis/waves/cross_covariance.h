#pragma once

#include <limits>

#include "wave_chain.h"

namespace headwave {

/// Cross-covariances of one head over a document of T tokens, at lags t = -n .. n. k is the head's rank.
struct CrossCovariance {
  Matrix covariance;        ///< (k, 2 n + 1)  equation (1)
  Matrix correlation;       ///< (k, 2 n + 1)  equation (2); NaN: a column is zero
  Matrix unbiased;          ///< (k, 2 n + 1)  equation (3)
  Vector weighted;          ///< (2 n + 1)  equation (4)
  Vector weighted_centred;  ///< (2 n + 1)  (4) for scores less their row means, on which the softmax does not depend
};

/// Cross-covariance of each redefined query column with its key column at every lag.
///
///     xcov_j[t] = sum_i q[i, j] k[i+t, j]                                                     (1)
///     xcorr_j[t] = (xcov_j[t] - mean over all t of xcov_j) / (|q_j| |k_j|)                    (2)
///     unbiased_j[t] = (1) of centred columns, divided by T - |t|                              (3)
///     sum_j gain[j] xcov_j[t] = tr_t(Q diag(gain) K^T)                                        (4)
///
/// (1) and (2) are the published quantities. (1) is biased, because its number of terms T - |t| falls with
/// |t|. This lets a slow wave that is 20 tokens away seem nearer. (3) has no such bias. (4) is an identity:
/// the weighted sum is the sum of the head's unscaled scores along a diagonal, so its peak is where the
/// scores point before mask and softmax. All of them are computed by FFT, in O(k T log T).
///
/// Source: Yamamoto and Matsuzaki 2023, sections 3.3 and 3.4; (3) is this project's.
/// @param reach  n, the largest |t|; at most T - 1 is used
CrossCovariance cross_covariance(const HeadWaves& waves, Index reach = std::numeric_limits<Index>::max());

}  // namespace headwave
