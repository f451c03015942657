#pragma once

#include <string>
#include <vector>

#include "../files/json_object.h"

namespace headwave {

/// Sections of a tokenizer.json are steps, of a `type` each; a step may be a sequence of steps: then each of them, in order.
std::vector<JsonObject> steps_of(const JsonObject& step, const std::string& key);

/// @param known  types, as one says them in a row
/// @throws FormatError always
[[noreturn]] void refuse_type(const JsonObject& step, const std::string& type, const char* known);

}  // namespace headwave
