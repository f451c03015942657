#pragma once

#include <string>

#include "../attention/document.h"
#include "../numbers/matrix.h"
#include "model.h"

namespace headwave {

/// The word embeddings of tokens, in order; of an image what stands for them, its opening tokens and its patches' pixels
/// projected, of a sound what its frames give (frame_stem.h).
/// @param document  what messages call it; empty: "document"
/// @returns (T, d_embedding)
/// @throws ShapeError if an id lies outside the vocabulary, or the patches or frames are not the model's
Matrix32 word_rows(const Embedding& embedding, const TokenSequence& tokens, const std::string& document);

/// What enters the first block: the projection of norm(scale * word + position + token type 0), each where it exists.
/// @returns (T, d_model)
/// @throws ShapeError as word_rows()
Matrix32 embedded_tokens(const Embedding& embedding, const TokenSequence& tokens, const std::string& document);

}  // namespace headwave
