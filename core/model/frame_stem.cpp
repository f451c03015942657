#include "frame_stem.h"

#include <fmt/format.h>

#include "layer.h"

namespace headwave {

namespace {

/// Every `stride`-th frame and its neighbours, each channel's three side by side.
/// @returns (ceil(T / stride), channels * 3)
Matrix32 with_neighbours(MatrixView32 x, Index stride) {
  constexpr Index sight = FrameStem::frames_in_sight;
  Matrix32 wide((x.rows() + stride - 1) / stride, x.cols() * sight);
  for (Index t = 0; t < wide.rows(); ++t)
    for (Index k = 0; k < sight; ++k) {
      const Index from = t * stride + k - 1;
      auto column = wide.row(t)(Eigen::seq(k, Eigen::last, sight));
      if (from < 0 || from >= x.rows())
        column.setZero();
      else
        column = x.row(from);
    }
  return wide;
}

Matrix32 convolved(MatrixView32 x, const Linear& weights, Index stride) {
  Matrix32 y = linear(with_neighbours(x, stride), weights);
  activate(y, Activation::gelu);
  return y;
}

}  // namespace

Matrix32 frame_rows(const FrameStem& stem, MatrixView32 frames) {
  if (frames.cols() != stem.bins())
    throw ShapeError(fmt::format("frames of {} bins, the model expects {}", frames.cols(), stem.bins()));
  return convolved(convolved(frames, stem.first, 1), stem.second, FrameStem::frames_per_position);
}

}  // namespace headwave
