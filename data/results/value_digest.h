#pragma once

#include <string>
#include <vector>

#include "../../core/fields/field.h"

namespace headwave {

/// SHA-256 of the values that a result file holds of a Field, which it keeps beside them as the attribute sha256:
/// numbers as their bytes in the file, row-major; of each text its bytes as stored and a zero byte.
std::string value_digest(const Field& field);

/// The same of an axis' coordinate values.
std::string value_digest(const Axis& axis);

/// An array or a group as it is read from a result file, but for values.
struct ResultObject {
  std::string path;  ///< "/", "/offset_trace/mean_weight"
  Attributes attributes;
  std::vector<std::string> members;  ///< of a group: what its links are called, of whatever kind
};

/// What an object's attribute `written` says of it before the digest is added: its attributes and members.
std::string written_text(const ResultObject& object);

/// Drops the attributes and members that others added later, where the attribute `written` says which those are.
void keep_written(ResultObject& object);

/// Digest of what an object is called, what is in it, and its attributes: their names, kinds and values. Left out are those
/// that come later: this digest itself, the library's ties between arrays and axes, netCDF's own, and `complete`.
std::string attributes_digest(const ResultObject& object);

}  // namespace headwave
