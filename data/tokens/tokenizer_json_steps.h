#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "../files/json_object.h"
#include "added_tokens.h"
#include "normalizer.h"
#include "tokenizer.h"
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

/// The tokens by which the section `post_processor` opens and closes a document, in `opens` and `closes`.
SpecialTokens json_document_ends(const JsonObject& file);

/// An added token as tokenizer.json and tokenizer_config.json describe it.
AddedToken json_added_token(const JsonObject& object, std::int64_t id);

}  // namespace headwave
