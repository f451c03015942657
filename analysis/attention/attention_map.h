#pragma once

#include <string>
#include <vector>

#include "../../core/attention/document.h"
#include "../pass/analysis.h"

namespace headwave {

/// Labels of all tokens of a sequence. A label is the token's text, or its id if the text is unknown, or its
/// position if the id is unknown, too.
/// @param document  contains the sequence, and gives the number of tokens if the sequence has no ids
std::vector<std::string> token_labels(const TokenSequence& tokens, const Document& document);

inline constexpr OwnOption map_document_option{"map_document", "document that attention maps show, counted from 0", 0,
                                               0, 1'000'000'000};
}  // namespace headwave
