#pragma once

#include <vector>

#include "matrix.h"

namespace headwave {

/// Places of the largest values of a list, largest first. Ties go to the first; NaN is ignored.
/// @param values  (n)
/// @param count   number of places; the result has fewer if the list has fewer numbers
/// @returns places in 0 .. n - 1
std::vector<Index> largest_entries(Eigen::Ref<const Vector> values, Index count);

}  // namespace headwave
