#pragma once

// The axes that the parts of a made-up result share.

#include <vector>

#include "../../core/fields/field.h"
#include "sample_result.h"

namespace headwave::sample {

inline std::vector<Axis> grid(const Size& size) {
  return {layer_axis(size.layers), head_axis(size.heads)};
}

inline std::vector<Axis> with(std::vector<Axis> axes, const std::vector<Axis>& more) {
  axes.insert(axes.end(), more.begin(), more.end());
  return axes;
}

}  // namespace headwave::sample
