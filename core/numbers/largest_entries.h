#pragma once

#include <vector>

#include "matrix.h"

namespace headwave {

/// Where the largest values of a list stand, the largest first; of equal ones the first counts more, and a NaN is no
/// value.
/// @param values  (n)
/// @param count   how many; fewer where there are fewer numbers
/// @returns places 0 .. n - 1
std::vector<Index> largest_entries(Eigen::Ref<const Vector> values, Index count);

}  // namespace headwave
