#pragma once

#include <cstdint>
#include <string>

#include "../../core/fields/field.h"

namespace headwave {

/// "1 layer", "6 layers".
std::string counted(std::int64_t count, const std::string& one);

/// The last part of the model's path; empty: unknown.
std::string model_name(const Attributes& provenance);

/// One sentence on the model, the text and what was changed: "minilm (bert), 6 layers of 12 heads, self attention, over
/// 20 documents of up to 256 tokens (text from test.txt)."
///
/// Names come from files, so they are visible_text() and not longer than 80 columns each.
/// @returns an empty text if the provenance names neither the model nor its layers and heads
std::string run_sentence(const Attributes& provenance);

}  // namespace headwave
