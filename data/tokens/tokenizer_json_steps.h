#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "../files/json_object.h"
#include "normalizer.h"
#include "word_splitter.h"

namespace headwave {

/// The section `normalizer` of a tokenizer.json; empty where it is null.
/// @throws FormatError if it is of a type not known, as all below
Normalizer json_normalizer(const JsonObject& file);

/// The section `pre_tokenizer`; empty where it is null.
WordSplitter json_splitter(const JsonObject& file);

/// Whether the section `normalizer` or `pre_tokenizer` respells bytes.
bool is_byte_level(const JsonObject& file);

/// How the section `decoder` shows a single piece; empty: as it is.
std::function<std::string(std::string_view)> json_readable(const JsonObject& file);

}  // namespace headwave
