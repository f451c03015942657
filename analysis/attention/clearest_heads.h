#pragma once

#include <vector>

#include "../../core/numbers/matrix.h"

namespace headwave {

/// The heads with an offset of their own that attend to it most: rows of a head grid, the largest
/// weight first, of equal weights the first row first.
/// @param offset  (rows)  tokens; NaN: the head has none
/// @param weight  (rows)  mean attention weight at the offset
/// @param most    how many; fewer where fewer heads have an offset
/// @throws ShapeError if the two are not equally long
std::vector<Index> clearest_heads(const Vector& offset, const Vector& weight, Index most);

/// Mean of a number over the heads that have an offset.
/// @param offset  (rows)  tokens; NaN: the head has none
/// @param value   (rows)
/// @returns NaN where no head has an offset, or one that has is without a value
/// @throws ShapeError if the two are not equally long
double mean_with_offset(const Vector& offset, const Vector& value);

}  // namespace headwave
