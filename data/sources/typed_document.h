#pragma once

#include <string_view>

#include "../../core/attention/document.h"
#include "../tokens/tokenizer.h"

namespace headwave {

/// One text as a model was trained to see it: a masked model's between its opening and closing tokens, a causal model's
/// after its opening token, where the tokenizer has one. Nothing is cut or packed.
/// @param causal  whether the model reads from left to right
/// @throws ShapeError if that leaves no token, or as Tokenizer::encode()
Document typed_document(std::string_view text, const Tokenizer& tokenizer, bool causal);

}  // namespace headwave
