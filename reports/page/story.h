#pragma once

#include <string>
#include <vector>

#include "../../core/fields/field.h"

namespace headwave {

/// What was run and what was found, in sentences: the model and the text; how many heads have an offset, the clearest of
/// them, and which offsets are common; what the profiles come from; how many heads look at the first token.
/// @returns as many sentences as the result has something to say; their texts are visible_text()
/// @throws ShapeError if the Fields have other axes than described
std::vector<std::string> story_of(const Result& result);

}  // namespace headwave
