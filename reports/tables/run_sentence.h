#pragma once

#include <cstdint>
#include <string>

#include "../../core/fields/field.h"

namespace headwave {

/// "1 layer", "6 layers".
std::string counted(std::int64_t count, const std::string& one);

/// The name of the model, which is the last part of its path. Empty if it is unknown.
std::string model_name(const Attributes& provenance);

/// Describes model, text and interventions in one sentence: "minilm (bert), 6 layers of 12 heads, self
/// attention, over 20 documents of up to 256 tokens (text from test.txt)."
///
/// Names come from files, so they pass visible_text(), and each is cut at 80 columns.
/// @returns an empty text if the provenance names neither the model nor its layers and heads
std::string run_sentence(const Attributes& provenance);

}  // namespace headwave
