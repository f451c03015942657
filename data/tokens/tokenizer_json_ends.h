#pragma once

#include <cstdint>

#include "../files/json_object.h"
#include "added_tokens.h"
#include "tokenizer.h"

namespace headwave {

/// The tokens by which the section `post_processor` of a tokenizer.json opens and closes a document, in `opens` and
/// `closes`.
/// @throws FormatError if it is of a type not known, or puts more than one token there
SpecialTokens json_document_ends(const JsonObject& file);

/// An added token as tokenizer.json and tokenizer_config.json describe it.
AddedToken json_added_token(const JsonObject& object, std::int64_t id);

}  // namespace headwave
