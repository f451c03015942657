#pragma once

#include <string_view>
#include <vector>

#include "../../core/fields/field.h"

namespace headwave {

/// The frequencies of a Field, 0, 1, ... in cycles per T tokens.
struct FrequencySpan {
  std::size_t count = 0;  ///< how many, 0 among them: floor(T/2) + 1
  double length = 0;      ///< T in tokens
};

/// Reads the axis `frequency`, and T from an attribute of the Field; without one T is even.
/// @param attribute  the name under which T is kept
/// @throws ShapeError if the axis does not count 0, 1, ..., or has another length than T asks for
FrequencySpan frequency_span(const Field& field, std::string_view attribute);

/// The last frequency at which a curve exceeds `share` of its largest value, 0 left out; 0 where nothing is positive.
/// @param curve  (frequencies)  from f = 0
std::size_t last_loud(const std::vector<double>& curve, double share);

/// The last frequency that a figure shows: a tenth beyond the loud ones, at least T/8 and 2, at most all.
/// @param loud  of last_loud()
std::size_t last_shown(const FrequencySpan& span, std::size_t loud);

}  // namespace headwave
