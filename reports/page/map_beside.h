#pragma once

#include <string>

#include "../../core/fields/field.h"

namespace headwave {

/// Checks that a page can show another result's attention map beside its own: the other result holds one, and is of the
/// same model, changed in the same way.
/// @param called  the other result in messages
/// @throws FormatError naming what is missing or differs
void require_map_beside(const Result& beside, const Result& result, const std::string& called);

}  // namespace headwave
