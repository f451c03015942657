#pragma once

#include <limits>

#include "wave_chain.h"

namespace headwave {

/// Cross-covariances of one head over one document of T tokens, at lags t = -n .. n. k = rank.
struct CrossCovariance {
  Matrix covariance;   ///< (k, 2 n + 1)  biased: sums over the pairs that exist, nothing subtracted
  Matrix correlation;  ///< (k, 2 n + 1)  biased, without its mean over all lags, over the columns' norms; NaN: no norm
  Matrix unbiased;     ///< (k, 2 n + 1)  of centred columns, divided by the number of pairs
  Vector weighted;     ///< (2 n + 1)  sum_j gain[j] covariance[j]: the trace of the scores, unscaled
  Vector weighted_centred;  ///< (2 n + 1)  the same of scores without their row means, which the softmax cannot see
};

/// Cross-covariance of each redefined query column with its key column, lag by lag.
///
///     xcov_j[t] = sum_i q[i, j] k[i+t, j]                                                     (1)
///     xcorr_j[t] = (xcov_j[t] - mean over all t of xcov_j) / (|q_j| |k_j|)                    (2)
///     unbiased_j[t] = (1) of columns less their means, / (T - |t|)                            (3)
///     sum_j gain[j] xcov_j[t] = tr_t(Q diag(gain) K^T)                                        (4)
///
/// (1) and (2) are the published ones. (1) carries the taper T - |t|: a slow wave that is truly 20 tokens
/// away seems nearer; (3) does not. (4) is an identity: the weighted sum is what the scores add up to along
/// their diagonals, so a peak of it is where a head's scores point before mask and softmax. Through FFT, O(k
/// T log T).
///
/// Source: Yamamoto and Matsuzaki 2023, sections 3.3 and 3.4; (3) is this project's.
/// @param reach  largest |t|, n, where T has as many lags
CrossCovariance cross_covariance(const HeadWaves& waves, Index reach = std::numeric_limits<Index>::max());

}  // namespace headwave
