#pragma once

#include "../numbers/matrix.h"

namespace headwave {

struct DisentangledOptions {
  Index farthest = 512;  ///< M: offsets from here on share a row; with buckets, the largest offset they cover
  Index buckets = 0;     ///< b, rows on each side: near offsets have one each, far ones share; 0: one per offset
};

/// Disentangled attention (DeBERTa): queries and keys are also compared with vectors of relative positions.
///
///     S_ij = scale (q_i . k_j + q_i . P[row(j - i)] + k_j . R[row(j - i)])                    (1)
///     row(t) = s + bucket(-t), kept within 0 .. 2 s - 1                                       (2)
///     bucket(n) = n where |n| <= b / 2, else
///                 sign(n) (b/2 + ceil((b/2 - 1) ln(|n| / (b/2)) / ln((M - 1) / (b/2))))       (3)
///
/// P and R are each head's position keys and position queries (HeadInputs), one row for every vector of
/// relative positions as the layer projects it; s = b, and without buckets s = M and bucket(n) = n. What is
/// added depends on the tokens at both positions, so it has no kernel of offsets; attend() computes it tile
/// by tile.
///
/// Source: He et al. 2021 (DeBERTa), equation 4; He, Gao and Chen 2023 (DeBERTaV3). Both terms read row(j -
/// i), as the published code does.
class DisentangledTerm {
 public:
  /// Whether (3) can be evaluated: M at least 1, and b either 0 or at least 2 with b / 2 < M - 1.
  [[nodiscard]] static bool allows(const DisentangledOptions& options);
  /// @throws ShapeError if allows() does not
  explicit DisentangledTerm(const DisentangledOptions& options);

  /// The row of P and R for an offset, key minus query. Rows never increase with the offset.
  [[nodiscard]] Index row(Index offset) const;

  /// 2 s, the number of rows of P and of R.
  [[nodiscard]] Index rows() const { return 2 * span_; }

 private:
  DisentangledOptions options_;
  Index span_;  ///< s
};

}  // namespace headwave
