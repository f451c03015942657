#pragma once

#include <vector>

#include "../numbers/matrix.h"
#include "attend.h"

namespace headwave {

/// What attention gave, kept whole: for worked examples and small sequences. n' = queries, n = keys.
struct Attention {
  Matrix output;                ///< (n', d_value), or (n', d_model) after W_O
  std::vector<Matrix> weights;  ///< one per head, (n', n)
  std::vector<Matrix> scores;   ///< one per head, (n', n): scaled, before mask and softmax
};

/// Scaled dot-product attention of one head.
///
///     A = softmax(Q K^T / sqrt(d_head) + mask),  output = A V                               (1)
///
/// Source: Vaswani et al. 2017, equation 1.
/// @param query  (n', d_head)
/// @param key    (n, d_head)
/// @param value  (n, d_value)  may have a width of its own
/// @throws ShapeError if the shapes do not fit
Attention scaled_dot_product_attention(MatrixView query, MatrixView key, MatrixView value,
                                       const Mask<double>& mask = {});

/// Projections of all heads side by side, acting on row vectors: q = x W_Q + b_Q. Empty biases are zero.
struct MultiHeadWeights {
  Matrix query, key;  ///< (d_model, heads * d_head)
  Matrix value;       ///< (d_model, heads * d_value)
  Matrix output;      ///< (heads * d_value, d_out)
  Vector query_bias, key_bias, value_bias, output_bias;
  Index heads = 1;
};

/// Multi-head attention: concat(O_1 .. O_H) W_O + b_O with O_h as in scaled_dot_product_attention.
///
/// Self-attention where both sequences are the same, cross-attention where they differ: queries come from `queries`,
/// keys and values from `memory`.
///
/// Source: Vaswani et al. 2017, section 3.2.2.
/// @param queries  (n', d_model)
/// @param memory   (n, d_model)
/// @throws ShapeError if the shapes do not fit
Attention multi_head_attention(MatrixView queries, MatrixView memory, const MultiHeadWeights& weights,
                               const Mask<double>& mask = {});

}  // namespace headwave
