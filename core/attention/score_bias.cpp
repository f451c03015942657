#include "score_bias.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

namespace headwave {

LinearBias::LinearBias(Index heads) : slope_(heads) {
  const auto power = static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  for (Index h = 0; h < heads; ++h) {
    const double exponent = h < power ? -8.0 * static_cast<double>(h + 1) / static_cast<double>(power)
                                      : -4.0 * static_cast<double>(2 * (h - power) + 1) / static_cast<double>(power);
    slope_[h] = std::exp2(exponent);
  }
}

Vector LinearBias::kernel(Index head, Index reach) const {
  return slope_[head] * Vector::LinSpaced(2 * reach + 1, -static_cast<double>(reach), static_cast<double>(reach));
}

OffsetBias::OffsetBias(Matrix bias) : bias_(std::move(bias)) {
  if (bias_.cols() % 2 == 0)
    throw ShapeError(fmt::format("OffsetBias: biases at {} offsets; expected -reach .. reach", bias_.cols()));
}

Vector OffsetBias::kernel(Index head, Index reach) const {
  Vector kernel = Vector::Zero(2 * reach + 1);
  const Index known = bias_.cols() / 2, both = std::min(known, reach);
  kernel.segment(reach - both, 2 * both + 1) = bias_.row(head).segment(known - both, 2 * both + 1).transpose();
  return kernel;
}

BucketBias::BucketBias(MatrixView32 bias, const BucketOptions& options)
    : bias_(bias.cast<double>()), options_(options) {
  const Index side = options.bidirectional ? bias.rows() / 2 : bias.rows();
  if (side < 2 || options.farthest <= side / 2)
    throw ShapeError(
        fmt::format("BucketBias: {} buckets for distances up to {}; expected at least 2 a side, and distances beyond "
                    "half of them",
                    bias.rows(), options.farthest));
}

Index BucketBias::bucket(Index offset) const {
  const Index side = options_.bidirectional ? bias_.rows() / 2 : bias_.rows();
  const Index base = options_.bidirectional && offset > 0 ? side : 0;
  const Index distance = options_.bidirectional ? std::abs(offset) : std::max<Index>(0, -offset);
  const Index exact = side / 2;
  if (distance < exact) return base + distance;
  // In float, as the models were trained: a bucket's edge is where float rounding puts it.
  const float steps =
      std::log(static_cast<float>(distance) / static_cast<float>(exact)) /
      static_cast<float>(std::log(static_cast<double>(options_.farthest) / static_cast<double>(exact))) *
      static_cast<float>(side - exact);
  return base + std::min(side - 1, exact + static_cast<Index>(steps));
}

Vector BucketBias::kernel(Index head, Index reach) const {
  Vector kernel(2 * reach + 1);
  for (Index t = -reach; t <= reach; ++t) kernel[t + reach] = bias_(bucket(t), head);
  return kernel;
}

}  // namespace headwave
