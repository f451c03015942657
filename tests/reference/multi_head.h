#pragma once

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../../core/algebra/product.h"
#include "../../core/attention/attend.h"
#include "../../core/numbers/matrix.h"

namespace headwave {

/// What attention gave, kept whole: for worked examples and small sequences. n' = queries, n = keys.
struct Attention {
  Matrix output;                ///< (n', d_value), or (n', d_model) after W_O
  std::vector<Matrix> weights;  ///< one per head, (n', n)
  std::vector<Matrix> scores;   ///< one per head, (n', n): scaled, before mask and softmax
};

namespace multi_head_detail {

/// Keeps what passes by; only for sequences small enough to be held whole.
class Keep : public Probe {
 public:
  [[nodiscard]] bool wants_scores() const override { return true; }
  void see(const Tile& /*tile*/) override {}
  void see(const Tile64& tile) override {
    weights_.resize(tile.weights.size(), Matrix::Zero(queries_, keys_));
    scores_.resize(tile.weights.size(), Matrix::Zero(queries_, keys_));
    for (std::size_t head = 0; head < tile.weights.size(); ++head) {
      weights_[head].block(tile.first_row, 0, tile.rows(), tile.keys) = tile.weights[head];
      scores_[head].block(tile.first_row, 0, tile.rows(), tile.keys) = tile.scores[head];
    }
  }

  Keep(Index queries, Index keys) : queries_(queries), keys_(keys) {}
  Attention attention(Matrix output) { return {std::move(output), std::move(weights_), std::move(scores_)}; }

 private:
  Index queries_, keys_;
  std::vector<Matrix> weights_, scores_;
};

inline Matrix projected(MatrixView x, const Matrix& weight, const Vector& bias, const char* name) {
  if (x.cols() != weight.rows())
    throw ShapeError(fmt::format("multi_head_attention: {} weights have {} rows, the states have width {}", name,
                                 weight.rows(), x.cols()));
  Matrix y = product(x, weight);
  if (bias.size() == 0) return y;
  if (bias.size() != weight.cols())
    throw ShapeError(
        fmt::format("multi_head_attention: {} bias has {} entries, expected {}", name, bias.size(), weight.cols()));
  y.rowwise() += bias.transpose();
  return y;
}

inline Attention attention_of(const HeadInputs<double>& inputs, const Mask<double>& mask) {
  Keep keep(inputs.query.rows(), inputs.key.rows());
  const std::array<Probe*, 1> probes{&keep};
  return keep.attention(attend<double>(inputs, mask, {}, probes));
}

}  // namespace multi_head_detail

/// Scaled dot-product attention of one head.
///
///     A = softmax(Q K^T / sqrt(d_head) + mask),  output = A V                               (1)
///
/// Source: Vaswani et al. 2017, equation 1.
/// @param query  (n', d_head)
/// @param key    (n, d_head)
/// @param value  (n, d_value)  may have a width of its own
/// @throws ShapeError if the shapes do not fit
inline Attention scaled_dot_product_attention(MatrixView query, MatrixView key, MatrixView value,
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
inline Attention multi_head_attention(MatrixView queries, MatrixView memory, const MultiHeadWeights& weights,
                                      const Mask<double>& mask = {});

inline Attention scaled_dot_product_attention(MatrixView query, MatrixView key, MatrixView value,
                                              const Mask<double>& mask) {
  return multi_head_detail::attention_of({query, key, value, 1, 1, 1.0 / std::sqrt(static_cast<double>(query.cols()))},
                                         mask);
}

inline Attention multi_head_attention(MatrixView queries, MatrixView memory, const MultiHeadWeights& weights,
                                      const Mask<double>& mask) {
  if (weights.heads < 1 || weights.query.cols() % weights.heads != 0)
    throw ShapeError(fmt::format("multi_head_attention: {} heads do not divide the query width {}", weights.heads,
                                 weights.query.cols()));
  const Matrix query = multi_head_detail::projected(queries, weights.query, weights.query_bias, "query");
  const Matrix key = multi_head_detail::projected(memory, weights.key, weights.key_bias, "key");
  const Matrix value = multi_head_detail::projected(memory, weights.value, weights.value_bias, "value");
  const double scale = 1.0 / std::sqrt(static_cast<double>(query.cols() / weights.heads));
  Attention attention = multi_head_detail::attention_of({query, key, value, weights.heads, weights.heads, scale}, mask);
  attention.output = multi_head_detail::projected(attention.output, weights.output, weights.output_bias, "output");
  return attention;
}

}  // namespace headwave
