#include "layer.h"

#include <cmath>
#include <numbers>

#include <fmt/format.h>
#include <unsupported/Eigen/SpecialFunctions>

namespace headwave {

Matrix32 linear(MatrixView32 x, const Linear& weights) {
  if (x.cols() != weights.d_in())
    throw ShapeError(fmt::format("linear: states have width {}, the weights expect {}", x.cols(), weights.d_in()));
  Matrix32 y(x.rows(), weights.d_out());
  if (weights.in_out)
    y.noalias() = x * weights.weight;
  else
    y.noalias() = x * weights.weight.transpose();
  if (!weights.bias.empty()) y.rowwise() += weights.bias.transpose();
  return y;
}

void normalise(Matrix32& x, const Norm& norm) {
  if (norm.empty()) return;
  if (norm.scale.size() != x.cols() || (!norm.shift.empty() && norm.shift.size() != x.cols()))
    throw ShapeError(fmt::format("normalise: states have width {}, the norm has {}", x.cols(), norm.scale.size()));
  const auto eps = static_cast<double>(norm.eps);
  for (Index i = 0; i < x.rows(); ++i) {
    const auto row = x.row(i).cast<double>();
    const double mean = norm.kind == NormKind::layer ? row.mean() : 0.0;
    const double inverse = 1.0 / std::sqrt((row.array() - mean).square().mean() + eps);
    x.row(i) = ((row.array() - mean) * inverse).cast<float>() * norm.scale.transpose().array();
    if (!norm.shift.empty()) x.row(i) += norm.shift.transpose();
  }
}

void activate(Matrix32& x, Activation activation) {
  auto a = x.array();
  switch (activation) {
    case Activation::gelu:
      a = 0.5F * a * (1.0F + (a * static_cast<float>(1.0 / std::numbers::sqrt2)).erf());
      break;
    case Activation::gelu_tanh:
      a = 0.5F * a *
          (1.0F + (static_cast<float>(std::sqrt(2.0 / std::numbers::pi)) * (a + 0.044715F * a.cube())).tanh());
      break;
    case Activation::relu:
      a = a.max(0.0F);
      break;
    case Activation::silu:
      a = a / (1.0F + (-a).exp());
      break;
  }
}

Matrix32 feed_forward(MatrixView32 x, const FeedForward& weights, Activation activation) {
  Matrix32 wide = linear(x, weights.gate.empty() ? weights.widen : weights.gate);
  activate(wide, activation);
  if (!weights.gate.empty()) wide.array() *= linear(x, weights.widen).array();
  return linear(wide, weights.narrow);
}

}  // namespace headwave
