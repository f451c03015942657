#pragma once

#include <vector>

#include "../../core/fields/head_name.h"
#include "../../core/model/model.h"
#include "../../core/numbers/matrix.h"

namespace headwave {

/// A word, and the score that a query gives its key.
struct SoughtWord {
  Index id = 0;
  double score = 0;  ///< as before the softmax, less the query's mean score over all words
};

/// What a head looks for in a document.
struct SoughtWords {
  std::vector<std::vector<SoughtWord>> by_token;  ///< (T) lists, the highest score first; ties go to the lower id
  /// How much of the way in which the head's scores differ from key to key comes from words: the squared correlation, over
  /// the queries and keys of the document and after each query's mean, of the scores that the model computes with those of
  /// (1) for the words that stand there. Near 0 the head looks for something else, positions say, and (1) tells nothing of
  /// it. NaN: the scores of a query are all alike.
  double share_of_words = 0;
};

/// What a head looks for: the words with the highest scores for each token's query, at any position.
///
///     score[i, w] = scale q~_i . (k_w - mean_v k_v),   q~_i = (x_i W_Q + b_Q) W_K^T           (1)
///
/// x_i is the state of token i that enters the layer, q~_i its query in the key-free form
/// (key_free_queries()), k_w word w as the layer sees words at a position like all others (layer_words()):
/// for layer 0 that is what a key would be there, above it a proxy, since the blocks between are left out.
/// The mean over words shifts all scores of a query alike, which the softmax ignores, so it is subtracted.
/// Float32, as the model computes.
///
/// Source: Elhage et al. 2021 (the QK circuit).
/// @param document  T tokens
/// @param top       how many words for a token; fewer where the vocabulary is smaller
/// @throws ShapeError if there is no such head, the model turns queries by their positions (rotary) or has no words, or
///         as model_pass()
SoughtWords sought_words(const Model& model, const Document& document, const HeadName& head, Index top);

}  // namespace headwave
