#pragma once

#include <string>
#include <vector>

#include "../../core/fields/field.h"

namespace headwave {

/// SHA-256 of the values of a Field in a result file, which keeps it as the attribute sha256: of numbers
/// their bytes in the file, row-major; of each text its bytes as stored and a zero byte.
std::string value_digest(const Field& field);

/// The same of an axis's coordinate values.
std::string value_digest(const Axis& axis);

}  // namespace headwave
