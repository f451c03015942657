#pragma once

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "../../data/tokens/tokenizer.h"

/// Takes a text apart and shows every token: ids are those of the vocabulary, or it is a finding.
inline void use(const headwave::Tokenizer& tokenizer, std::string_view text) {
  for (const std::int32_t id : tokenizer.encode(text))
    if (id < 0 || id >= tokenizer.vocabulary()) std::abort();
  for (std::int32_t id = 0; id < tokenizer.vocabulary(); ++id) (void)tokenizer.token_text(id);
}
