#pragma once

#include <string>
#include <vector>

#include "../../core/attention/document.h"
#include "../pass/analysis_kind.h"

namespace headwave {

/// Texts of all tokens of a sequence: ids where no text is known, positions where no ids are.
/// @param document  holds the sequence; stored states may have no ids, then it gives their number
std::vector<std::string> token_labels(const TokenSequence& tokens, const Document& document);

inline constexpr OwnOption map_document_option{"map_document", "document that attention maps show, counted from 0", 0,
                                               0, 1'000'000'000};
inline constexpr OwnOption map_first_option{
    "map_first",
    "its first token that attention maps keep weight by weight, counted from 0; -1: where heads attend as in all of it",
    -1,
    -1,
    1'000'000'000,
    false,
    true};
inline constexpr OwnOption map_tokens_option{
    "map_tokens", "how many tokens from there they keep so", 64, 1, 4096, false, true};

}  // namespace headwave
