#pragma once

#include "../../core/fields/field.h"

namespace headwave {

/// Share of its bytes that a Field's values are expected to take in a result file, once they are shuffled and
/// gzipped as write_result() does it: measured on a sample, the first, middle and last rows of what is large.
/// @returns in (0, 1]; 1 for texts and for what is too small to be packed
double packed_share(const Field& field);

}  // namespace headwave
