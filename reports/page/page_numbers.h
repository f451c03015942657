#pragma once

#include <nlohmann/json.hpp>

#include "../../core/fields/field.h"

namespace headwave {

/// A number to 7 digits, as many as a float has.
double rounded(double number);

/// The same as JSON, which has neither NaN nor infinities: null.
nlohmann::ordered_json number_json(double number);

/// What is remarked beside a Field, its texts visible.
nlohmann::ordered_json notes_json(const Field& field);

/// A remark as a text.
std::string remark_text(const Attribute& remark);

}  // namespace headwave
