#pragma once

#include "../../core/numbers/matrix.h"

namespace headwave {

/// Pairs of residual-stream directions that a head matches, by descending gain. k = numerical rank of W_Q
/// W_K^T.
struct QkSvd {
  Vector gain;        ///< (min(d_head, d_model))  all singular values, descending; without 1/sqrt(d_head)
  Matrix query;       ///< (d_model, k)  orthonormal columns read on the query side
  Matrix key;         ///< (d_model, k)  orthonormal columns read on the key side
  Matrix from_query;  ///< (d_head, k)   x query = (x W_Q) from_query
  Matrix from_key;    ///< (d_head, k)   x key = (x W_K) from_key
  [[nodiscard]] Index rank() const { return query.cols(); }
};

/// Singular value decomposition of a head's query-key form, cut at its numerical rank.
///
///     x_i W_Q W_K^T x_j^T = sum_j gain[j] (x_i . query_j) (x_j . key_j)                       (1)
///     kept: gain[j] > max(d_model, d_head) eps gain[0]                                        (2)
///
/// W_Q W_K^T (d_model x d_model) is never formed: with W_Q = Q_q R_q and W_K = Q_k R_k only the d_head x
/// d_head core R_q R_k^T is decomposed, O(d_model d_head^2). Beyond (2) directions are whatever rounding made
/// of them, and are not given. `from_query` = W_K^T key / gain and `from_key` = W_Q^T query / gain turn
/// queries and keys that are already there into the redefined ones. Biases and rotary phases are outside (1).
/// The largest entry of each query column is positive, so results compare between runs.
///
/// Source: Yamamoto and Matsuzaki 2023, section 3.3.
/// @param w_query  (d_model, d_head)  acts on row vectors: q = x w_query
/// @param w_key    (d_model, d_head)
/// @throws ShapeError if shapes differ or are empty; NumericError if an entry is not finite
QkSvd qk_svd(MatrixView w_query, MatrixView w_key);

}  // namespace headwave
