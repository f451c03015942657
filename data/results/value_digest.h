#pragma once

#include <string>

#include "../../core/fields/field.h"

namespace headwave {

/// SHA-256 of the values that a result file holds of a Field, which it keeps beside them as the attribute sha256:
/// numbers as their bytes in the file, row-major; of each text its bytes as stored and a zero byte.
std::string value_digest(const Field& field);

/// The same of an axis' coordinate values.
std::string value_digest(const Axis& axis);

/// Digest of the attributes of an array or a group as they are read from its file: their names, kinds and values. Left
/// out are those that come later: this digest itself, the library's ties between arrays and axes, netCDF's own, and
/// `complete`.
std::string attributes_digest(const Attributes& attributes);

}  // namespace headwave
