#pragma once

#include <vector>

#include "prediction.h"

namespace headwave {

/// What a model expects at one place of a text.
struct Guess {
  Index place = 0;                ///< position, from 0; the document's length: the token after it
  std::vector<WordChance> words;  ///< the likeliest first
};

/// The words that a masked-language model expects behind the masks of a document, all masks in place at once.
/// @param mask  id of the mask token; negative: there is none
/// @param top   how many words at a place
/// @returns one for every mask, in order
/// @throws ShapeError if the model predicts nothing, or as model_pass(); NumericError if scores are not finite
std::vector<Guess> masked_guesses(const Model& model, const Document& document, std::int32_t mask, Index top);

/// The tokens that a causal model expects after a document: the next one, and where more are asked for those after it,
/// the likeliest appended each time (greedy decoding).
///
/// Each token costs a pass over all before it.
/// @param tokens  how many, 1 or more
/// @param top     how many words at a place, 1 or more
/// @throws ShapeError if the model is not causal or predicts nothing, or as model_pass(); NumericError if scores are not
///         finite
std::vector<Guess> greedy_continuation(const Model& model, Document document, Index tokens, Index top);

}  // namespace headwave
