#include "disentangled_term.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

namespace headwave {

bool DisentangledTerm::allows(const DisentangledOptions& options) {
  if (options.farthest < 1) return false;
  return options.buckets == 0 || (options.buckets >= 2 && options.buckets / 2 < options.farthest - 1);
}

DisentangledTerm::DisentangledTerm(const DisentangledOptions& options)
    : options_(options), span_(options.buckets > 0 ? options.buckets : options.farthest) {
  if (!allows(options))
    throw ShapeError(
        fmt::format("DisentangledTerm: {} buckets a side for distances up to {}; expected 0 or at least 2, and "
                    "distances beyond half of them",
                    options.buckets, options.farthest));
}

Index DisentangledTerm::row(Index offset) const {
  const Index distance = std::abs(offset), exact = options_.buckets / 2;
  Index bucket = distance;
  if (options_.buckets > 0 && distance > exact) {
    // In float, as the models were trained: a bucket's edge is where float rounding puts it.
    const auto near = static_cast<float>(exact);
    const float whole =
        std::log(static_cast<float>(static_cast<double>(options_.farthest - 1) / static_cast<double>(exact)));
    bucket =
        exact + static_cast<Index>(std::ceil(std::log(static_cast<float>(distance) / near) / whole * (near - 1.0F)));
  }
  return std::clamp<Index>(span_ + (offset < 0 ? bucket : -bucket), 0, 2 * span_ - 1);
}

}  // namespace headwave
