#pragma once

#include <string>

#include "comparison.h"

namespace headwave {

/// A measure that is undefined in every head.
MeasureChange blank_measure(const std::string& name, const std::string& unit, const std::string& long_name, Index rows);

/// What documents decide: offset, weight_at_first, weight_at_second and profile, by (1) and (2) of comparison.h; the mean
/// profiles; or why nothing is decided.
/// @param compared  its grid, options and whether documents are paired are read, the rest of this is written
void add_profiles(Comparison& compared, const Result& first, const Result& second);

}  // namespace headwave
