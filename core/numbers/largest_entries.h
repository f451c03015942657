#pragma once

#include <vector>

#include "matrix.h"

namespace headwave {

/// Indices of the largest values, largest first. Ties go to the first; NaN is ignored.
/// @param values  (n)
/// @param count   number of indices; fewer are returned if fewer values are not NaN
/// @returns indices in 0 .. n - 1
std::vector<Index> largest_entries(Eigen::Ref<const Vector> values, Index count);

}  // namespace headwave
