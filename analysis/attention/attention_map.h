#pragma once

#include <string>
#include <vector>

#include "../../core/attention/document.h"
#include "../pass/analysis.h"

namespace headwave {

/// Texts of all tokens of a sequence: ids where no text is known, positions where no ids are.
/// @param document  holds the sequence; stored states may have no ids, then it gives their number
std::vector<std::string> token_labels(const TokenSequence& tokens, const Document& document);

inline constexpr OwnOption map_document_option{"map_document", "document that attention maps show, counted from 0", 0,
                                               0, 1'000'000'000};
}  // namespace headwave
