#pragma once

#include <string>

#include "model_map.h"

namespace headwave {

/// A stack of a map file with the defaults that most models have in the place of what was left out: as many key heads
/// as heads, heads as wide as they divide the model, scores multiplied by 1/sqrt(d_head), rotary channels of a whole head.
/// @param stack  zeros stand for what was left out, score_scale too
/// @param place  what messages call it: "map.toml: [stack]"
/// @throws FormatError if something cannot be left out, or does not fit the rest
StackMap completed(StackMap stack, const std::string& place);

}  // namespace headwave
