#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../../core/errors/error.h"
#include "../../core/fields/field.h"

/// The Field of a name.
/// @throws ShapeError if there is none
inline const headwave::Field& field_of(const std::vector<headwave::Field>& fields, std::string_view name) {
  for (const headwave::Field& field : fields)
    if (field.name == name) return field;
  throw headwave::ShapeError("no field " + std::string(name));
}
