#include "layer.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "../algebra/product.h"

namespace headwave {

Matrix32 linear(MatrixView32 x, const Linear& weights) {
  if (x.cols() != weights.d_in())
    throw ShapeError(fmt::format("linear: states have width {}, the weights expect {}", x.cols(), weights.d_in()));
  Matrix32 y(x.rows(), weights.d_out());
  if (weights.bias.empty())
    y.setZero();
  else
    y.rowwise() = weights.bias.transpose();
  multiply_add(y, x, weights.weight.transpose());
  return y;
}

namespace {

void require_width(const Norm& norm, Index width) {
  if (norm.scale.size() != width || (!norm.shift.empty() && norm.shift.size() != width))
    throw ShapeError(fmt::format("normalise: states have width {}, the norm has {}", width, norm.scale.size()));
}

}  // namespace

void normalise(Matrix32& x, const Norm& norm) {
  if (norm.empty()) return;
  require_width(norm, x.cols());
  const Kernels<float>& kernel = kernels<float>();
  for (Index i = 0; i < x.rows(); ++i)
    kernel.normalise(x.row(i).data(), x.cols(), norm.kind == NormKind::layer, static_cast<double>(norm.eps),
                     norm.scale.data(), norm.shift.empty() ? nullptr : norm.shift.data());
}

void normalise_heads(Matrix32& x, const Norm& norm) {
  if (norm.empty()) return;
  const Index rows = x.rows(), width = x.cols(), own = norm.d_head > 0 ? norm.d_head : norm.scale.size();
  if (width % own != 0 || (norm.d_head > 0 && norm.scale.size() != width))
    throw ShapeError(
        fmt::format("normalise_heads: a norm of {} channels does not fit rows of {}", norm.scale.size(), width));
  if (norm.d_head > 0) {
    for (Index head = 0; head < width / own; ++head) {
      Matrix32 channels = x.middleCols(head * own, own);
      normalise(channels, norm.of_head(head));
      x.middleCols(head * own, own) = channels;
    }
    return;
  }
  x.resize(rows * (width / own), own);  // row-major, of the same size: a head in every row
  normalise(x, norm);
  x.resize(rows, width);
}

double share_from_norm(MatrixView32 x, const Norm& norm) {
  constexpr double tolerance = 0.1;
  if (norm.empty() || x.rows() == 0) return 1;
  require_width(norm, x.cols());
  if ((norm.scale.array() == 0).any()) return 1;
  const Eigen::ArrayXd scale = norm.scale.cast<double>().array();
  const Eigen::ArrayXd shift =
      norm.shift.empty() ? Eigen::ArrayXd::Zero(x.cols()).eval() : norm.shift.cast<double>().array().eval();
  Index fitting = 0;
  for (Index i = 0; i < x.rows(); ++i) {
    const Eigen::ArrayXd z = (x.row(i).transpose().cast<double>().array() - shift) / scale;
    const double mean = norm.kind == NormKind::layer ? z.mean() : 0.0;
    if (std::abs(mean) <= tolerance && std::abs((z - mean).square().mean() - 1) <= tolerance) ++fitting;
  }
  return static_cast<double>(fitting) / static_cast<double>(x.rows());
}

void activate(Matrix32& x, Activation activation) {
  auto a = x.array();
  switch (activation) {
    case Activation::gelu:
      kernels<float>().gelu(x.data(), x.size());
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
  Matrix32 y(x.rows(), weights.narrow.d_out());
  for (Index first = 0; first < x.rows(); first += rows_at_once) {
    const Index count = std::min(rows_at_once, x.rows() - first);
    const MatrixView32 rows = x.middleRows(first, count);
    Matrix32 wide = linear(rows, weights.gate.empty() ? weights.widen : weights.gate);
    activate(wide, activation);
    if (!weights.gate.empty()) wide.array() *= linear(rows, weights.widen).array();
    y.middleRows(first, count) = linear(wide, weights.narrow);
  }
  return y;
}

}  // namespace headwave
