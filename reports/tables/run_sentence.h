#pragma once

#include <cstdint>
#include <string>

#include "../../core/fields/field.h"

namespace headwave {

/// "1 layer", "6 layers".
std::string counted(std::int64_t count, const std::string& one);

/// Breaks a text into lines at spaces.
/// @param width   of a line, in columns
/// @param indent  stands before every line but the first
/// @param column  where the first line begins; others begin there too, of which `indent` is the space
std::string wrapped_text(const std::string& text, std::size_t width, std::size_t column = 0,
                         const std::string& indent = "");

/// One sentence on the model, the text and what was changed: "minilm (bert), 6 layers of 12 heads, self attention, over
/// 20 documents of up to 256 tokens (text from test.txt)."
///
/// Names come from files, so they are visible_text() and not longer than 80 columns each.
/// @returns an empty text if the provenance names neither the model nor its layers and heads
std::string run_sentence(const Attributes& provenance);

}  // namespace headwave
