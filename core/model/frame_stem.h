#pragma once

#include "../attention/block.h"
#include "../numbers/matrix.h"

namespace headwave {

/// How a model of sound makes its positions from the frames of a spectrum: two convolutions of three frames, the second
/// of every other frame. Their weights are (d_out, d_in * 3), an input's three frames side by side.
struct FrameStem {
  Linear first, second;

  [[nodiscard]] bool empty() const { return second.empty(); }
  [[nodiscard]] Index bins() const { return first.d_in() / frames_in_sight; }
  [[nodiscard]] Index d_model() const { return second.d_out(); }

  static constexpr Index frames_in_sight = 3;
  static constexpr Index frames_per_position = 2;
};

/// The convolutions with their activation, gelu; frames before the first and behind the last are 0:
///
///     y_t = gelu(b + sum_k W_k x_(t + k - 1)),  k = 0, 1, 2;      z_s = gelu(c + sum_k V_k y_(2 s + k - 1))       (1)
///
/// Source: Radford et al. 2023, section 2.2.
/// @param frames  (frames, bins)
/// @returns (ceil(frames / 2), d_model)
/// @throws ShapeError if the bins are not the model's
Matrix32 frame_rows(const FrameStem& stem, MatrixView32 frames);

}  // namespace headwave
