#include "headwave/core/layer.h"

#include <cmath>
#include <numbers>

#include <fmt/format.h>
#include <unsupported/Eigen/SpecialFunctions>

namespace headwave {

Matrix32 linear(MatrixView32 x, const Linear& weights) {
  if (x.cols() != weights.weight.cols())
    throw ShapeError(
        fmt::format("linear: states have width {}, the weights expect {}", x.cols(), weights.weight.cols()));
  Matrix32 y(x.rows(), weights.weight.rows());
  y.noalias() = x * weights.weight.transpose();
  if (!weights.bias.empty()) y.rowwise() += weights.bias.transpose();
  return y;
}

void normalise(Matrix32& x, const LayerNorm& norm) {
  if (norm.scale.size() != x.cols() || norm.shift.size() != x.cols())
    throw ShapeError(fmt::format("normalise: states have width {}, the norm has {}", x.cols(), norm.scale.size()));
  for (Index i = 0; i < x.rows(); ++i) {
    const auto row = x.row(i).cast<double>();
    const double mean = row.mean();
    const double variance = (row.array() - mean).square().mean();
    const double inverse = 1.0 / std::sqrt(variance + static_cast<double>(norm.eps));
    x.row(i) = ((row.array() - mean) * inverse).cast<float>() * norm.scale.transpose().array() +
               norm.shift.transpose().array();
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
  }
}

}  // namespace headwave
