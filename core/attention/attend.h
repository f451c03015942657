#pragma once

#include <span>
#include <vector>

#include "../numbers/matrix.h"
#include "position_term.h"
#include "probe.h"

namespace headwave {

/// The projected queries of n' positions, and the projected keys and values of n positions. In each row, the
/// vectors of all heads lie side by side.
template <class Scalar>
struct HeadInputs {
  MatrixViewOf<Scalar> query;  ///< (n', heads * d_head)
  MatrixViewOf<Scalar> key;    ///< (n, kv_heads * d_head)
  MatrixViewOf<Scalar> value;  ///< (n, kv_heads * d_value)  empty: outputs A V are not computed
  Index heads = 1;
  Index kv_heads = 1;  ///< number of key and value heads; query heads share them evenly
  double scale = 1.0;  ///< 1/sqrt(d_head) in most models
  PositionTerm position_term = {};
  double soft_cap = 0;  ///< scaled scores s become cap tanh(s / cap); 0: no cap
  /// (rows, heads * d_head) vectors of disentangled attention. Queries are compared with position_key, and
  /// keys are compared with position_query. Either may be empty
  MatrixViewOf<Scalar> position_key = {}, position_query = {};
  /// (heads, 2 reach + 1) biases added to the scaled scores in addition to the position term, at the offsets
  /// t = -reach .. reach with reach = max(n', n) - 1; or empty
  MatrixViewOf<Scalar> added = {};
  /// (heads) learned sinks: each head's score in the softmax that belongs to no key; or empty
  VectorViewOf<Scalar> sinks = {};

  /// The number of the key head that a query head uses.
  [[nodiscard]] Index key_head(Index head) const { return head / (heads / kv_heads); }
};

/// Which keys a query may attend to, and what a mask adds to its scores.
template <class Scalar>
struct Mask {
  bool causal = false;             ///< whether a query i may attend only to keys j <= i
  MatrixViewOf<Scalar> additive;   ///< (n', n) added to the scaled scores; -infinity forbids a key; or empty
  Index window = 0;                ///< only keys with |i - j| < window; 0: no limit
  Index chunk = 0;                 ///< only keys with floor(j / chunk) = floor(i / chunk); 0: no limit
  std::vector<RowSpan> rows = {};  ///< query rows to compute, ascending; empty: all. Other rows of O are zero
};

/// The layer and the kind of attention that a call of attend() computes. Probes are told both.
struct AttentionSite {
  Index layer = 0;
  AttentionKind kind = AttentionKind::self;
};

/// Computes attention of all heads, row tile by row tile, without ever holding a (heads, n', n) array.
///
///     S_h = cap(scale Q_h K_h^T) + position term + added, + additive mask                    (1)
///     A_h = softmax over the allowed keys of S_h, row by row, the row's maximum subtracted   (2)
///     O_h = A_h V_h                                                                          (3)
///
/// With a learned sink b_h the denominator of (2) also contains exp(b_h), so a row of A_h sums to 1 -
/// exp(b_h) / denominator. If there is no soft cap, cap(s) in (1) is s. The position term is either a kernel
/// of offsets or the sum that disentangled attention adds (DisentangledTerm, equation 1), which is computed
/// tile by tile. Probes see every tile of A and, if they ask for scores, every tile of S before the mask. A
/// row of A without an allowed key is zero, never NaN. Under a causal mask, keys after a tile's last query
/// are skipped unless a probe wants scores. A tile has tile_rows(n) rows.
///
/// Source: Vaswani et al. 2017, section 3.2; the soft cap after Bello et al. 2017; sinks after Xiao et al. 2024,
/// arXiv:2309.17453, and OpenAI 2025 (gpt-oss).
/// @returns (n', heads * d_value)  the concatenated O_h; (n', 0) without values
/// @throws ShapeError if a width is not a multiple of the number of heads, the shapes of sequences and masks
///         disagree, or disentangled attention lacks rows for some offset
template <class Scalar>
MatrixOf<Scalar> attend(const HeadInputs<Scalar>& inputs, const Mask<Scalar>& mask, const AttentionSite& site,
                        std::span<Probe* const> probes);

extern template MatrixOf<float> attend(const HeadInputs<float>&, const Mask<float>&, const AttentionSite&,
                                       std::span<Probe* const>);
extern template MatrixOf<double> attend(const HeadInputs<double>&, const Mask<double>&, const AttentionSite&,
                                        std::span<Probe* const>);

}  // namespace headwave
