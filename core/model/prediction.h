#pragma once

#include <span>
#include <vector>

#include "../attention/document.h"
#include "model.h"

namespace headwave {

/// Scores of every word of the vocabulary at every position.
///
///     logits = cap(words norm(activation(transform x)) + bias)                               (1)
///
/// where the parts that a model does not have are omitted.
/// @param states  (T, d_model) final states, as model_pass() returns them
/// @returns (T, vocabulary)
/// @throws ShapeError if the model predicts nothing, or the width is not its
Matrix32 logits(const Model& model, MatrixView32 states);

/// The chances of the words at one position: softmax of a row of logits, in double.
/// @param row  (vocabulary)
/// @returns (vocabulary)
Vector probabilities(VectorView32 row);

/// One guess at a token.
struct WordChance {
  Index id = 0;
  double probability = 0;
};

/// The likeliest words, most likely first; ties go to the lower id.
/// @param chances  (vocabulary)
/// @param count    how many; fewer where the vocabulary is smaller
std::vector<WordChance> likeliest(const Vector& chances, Index count);

/// How well a model predicts the tokens of a document.
struct PredictionLoss {
  Index tokens = 0;  ///< how many were predicted
  double sum = 0;    ///< of -ln p over them, in nats

  [[nodiscard]] double mean() const { return sum / static_cast<double>(tokens); }
};

/// Loss of a causal model: every token but the first is predicted from those before it; in an encoder-decoder
/// every token of the target but the first, from those before it and from what the encoder reads.
/// @throws ShapeError if the model is neither causal nor an encoder-decoder or predicts nothing, the document
///         has states without token ids or a token that is not predicted, or as model_pass()
PredictionLoss causal_loss(const Model& model, const Document& document);

/// Loss of a masked-language model: the tokens at the places given are replaced by the mask, all at once, and
/// predicted from the other tokens.
/// @param places  positions 0 .. T-1
/// @param mask    id of the mask token
/// @throws ShapeError if the model predicts nothing, a place lies outside the document, it has states without
///         ids or a token that is not predicted, or as model_pass()
PredictionLoss masked_loss(const Model& model, const Document& document, std::span<const Index> places,
                           std::int32_t mask);

/// The words that a model expects at one place of a text.
struct Guess {
  Index place = 0;                ///< position, from 0; the document's length: the token after it
  std::vector<WordChance> words;  ///< the likeliest first
};

/// The words that a masked-language model expects in place of the masks of a document, all predicted at once.
/// @param mask  id of the mask token; negative: there is none
/// @param top   how many words at a place
/// @returns one for every mask, in order
/// @throws ShapeError if the model predicts nothing, or as model_pass(); NumericError if scores are not
///         finite
std::vector<Guess> masked_guesses(const Model& model, const Document& document, std::int32_t mask, Index top);

/// The tokens that a causal model expects after a document: the next one, and where more are asked for those
/// after it, the likeliest appended each time (greedy decoding).
///
/// Each token costs a pass over all before it.
/// @param tokens  how many, 1 or more
/// @param top     how many words at a place, 1 or more
/// @throws ShapeError if the model is not causal or predicts nothing, or as model_pass(); NumericError if
///         scores are not finite
std::vector<Guess> greedy_continuation(const Model& model, Document document, Index tokens, Index top);

}  // namespace headwave
