#include "delta_net.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../algebra/product.h"
#include "layer.h"

namespace headwave {

namespace {

/// A causal convolution of each channel by itself; before the first token everything is zero.
/// @param filter  (channels, taps)  the last tap meets the token itself
Matrix32 convolved(const Matrix32& x, MatrixView32 filter) {
  const Index taps = filter.cols();
  Matrix32 y = Matrix32::Zero(x.rows(), x.cols());
  for (Index n = 0; n < x.rows(); ++n)
    for (Index tap = std::max<Index>(0, taps - 1 - n); tap < taps; ++tap)
      y.row(n).array() += x.row(n - (taps - 1) + tap).array() * filter.col(tap).transpose().array();
  return y;
}

/// Divides every head's channels by their norm.
void normalise_each(Eigen::Ref<Matrix32> rows, Index width, float scale) {
  constexpr float eps = 1e-6F;
  for (Index n = 0; n < rows.rows(); ++n)
    for (Index at = 0; at < rows.cols(); at += width) {
      auto head = rows.row(n).segment(at, width);
      head *= scale / std::sqrt(head.squaredNorm() + eps);
    }
}

/// @throws ShapeError if the parts do not belong together
void require_widths(const DeltaNet& weights) {
  const Index channels = 2 * weights.key_heads * weights.d_key + weights.value_heads * weights.d_value;
  if (weights.key_heads < 1 || weights.value_heads % weights.key_heads != 0 || weights.mixed.d_out() != channels ||
      weights.filter.rows() != channels || weights.gate.d_out() != weights.value_heads * weights.d_value)
    throw ShapeError(
        fmt::format("delta_net: {} channels and a gate of {} for {} key heads of {} and {} value heads of {}",
                    weights.mixed.d_out(), weights.gate.d_out(), weights.key_heads, weights.d_key, weights.value_heads,
                    weights.d_value));
}

}  // namespace

Matrix32 delta_net(MatrixView32 x, const DeltaNet& weights) {
  require_widths(weights);
  const Index d_key = weights.d_key, d_value = weights.d_value, heads = weights.value_heads, length = x.rows();
  const Index keys = weights.key_heads * d_key, sharing = heads / weights.key_heads;
  Matrix32 mixed = convolved(linear(x, weights.mixed), weights.filter);
  activate(mixed, Activation::silu);
  normalise_each(mixed.leftCols(keys), d_key, 1 / std::sqrt(static_cast<float>(d_key)));
  normalise_each(mixed.middleCols(keys, keys), d_key, 1);
  const Matrix32 decay = linear(x, weights.decay), strength = linear(x, weights.strength);
  Matrix32 outputs(length, heads * d_value);
  for (Index head = 0; head < heads; ++head) {
    const Index shared = head / sharing;
    const float rate = std::exp(weights.decay_rate[head]);
    Matrix32 state = Matrix32::Zero(d_key, d_value);
    for (Index n = 0; n < length; ++n) {
      const auto query = mixed.row(n).segment(shared * d_key, d_key);
      const auto key = mixed.row(n).segment(keys + shared * d_key, d_key);
      const auto value = mixed.row(n).segment(2 * keys + head * d_value, d_value);
      const float softplus = std::log1p(std::exp(-std::abs(decay(n, head) + weights.decay_bias[head]))) +
                             std::max(0.0F, decay(n, head) + weights.decay_bias[head]);
      state *= std::exp(-rate * softplus);
      const Eigen::RowVectorXf kept = product(key, state);
      const Eigen::RowVectorXf change = (value - kept) / (1.0F + std::exp(-strength(n, head)));
      multiply_add(state, key.transpose(), change);
      outputs.row(n).segment(head * d_value, d_value) = product(query, state);
    }
  }
  normalise_heads(outputs, weights.norm);
  Matrix32 gate = linear(x, weights.gate);
  activate(gate, Activation::silu);
  outputs.array() *= gate.array();
  return linear(outputs, weights.output);
}

}  // namespace headwave
