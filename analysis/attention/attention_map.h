#pragma once

#include <string>
#include <vector>

#include "../../core/attention/document.h"
#include "../pass/analysis.h"

namespace headwave {

/// Texts of all tokens of a sequence. A token without a text is shown by its id, without ids by its position.
/// @param document  contains the sequence; if stored states have no ids, it gives the number of tokens
std::vector<std::string> token_labels(const TokenSequence& tokens, const Document& document);

inline constexpr OwnOption map_document_option{"map_document", "document that attention maps show, counted from 0", 0,
                                               0, 1'000'000'000};
}  // namespace headwave
