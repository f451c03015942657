#include "multi_head.h"

#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "../algebra/product.h"

namespace headwave {

namespace {

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

Matrix projected(MatrixView x, const Matrix& weight, const Vector& bias, const char* name) {
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

Attention attention_of(const HeadInputs<double>& inputs, const Mask<double>& mask) {
  Keep keep(inputs.query.rows(), inputs.key.rows());
  const std::array<Probe*, 1> probes{&keep};
  return keep.attention(attend<double>(inputs, mask, {}, probes));
}

}  // namespace

Attention scaled_dot_product_attention(MatrixView query, MatrixView key, MatrixView value, const Mask<double>& mask) {
  return attention_of({query, key, value, 1, 1, 1.0 / std::sqrt(static_cast<double>(query.cols()))}, mask);
}

Attention multi_head_attention(MatrixView queries, MatrixView memory, const MultiHeadWeights& weights,
                               const Mask<double>& mask) {
  if (weights.heads < 1 || weights.query.cols() % weights.heads != 0)
    throw ShapeError(fmt::format("multi_head_attention: {} heads do not divide the query width {}", weights.heads,
                                 weights.query.cols()));
  const Matrix query = projected(queries, weights.query, weights.query_bias, "query");
  const Matrix key = projected(memory, weights.key, weights.key_bias, "key");
  const Matrix value = projected(memory, weights.value, weights.value_bias, "value");
  const double scale = 1.0 / std::sqrt(static_cast<double>(query.cols() / weights.heads));
  Attention attention = attention_of({query, key, value, weights.heads, weights.heads, scale}, mask);
  attention.output = projected(attention.output, weights.output, weights.output_bias, "output");
  return attention;
}

}  // namespace headwave
