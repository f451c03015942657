#pragma once

#include "../numbers/matrix.h"
#include "model.h"

namespace headwave {

/// The positions as a layer's projections would see them without words:
///
///     post-norm:  embedding norm of (PE + token type 0 + mean word), projected where embeddings are    (1)
///     pre-norm:   the layer's own norm of PE (+ token type 0 + mean word, through the embedding norm where there is
///                 one)                                                                         (2)
///
/// where `mean word` is the mean row of the word embeddings, as scaled, or zero if `with_mean_word` is false.
/// For layer 0 this is what it sees; for others a proxy, since blocks between have changed it.
///
/// @returns (positions, d_model); empty where the model has no position table
/// @throws ShapeError if there is no such layer
Matrix layer_positions(const Stack& stack, Index layer, bool with_mean_word = true);

/// The words as a layer's projections would see them at the mean position: the norms of (1) and (2) of word +
/// mean position (over the trained rows, see trained_rows.h) + token type 0.
///
/// @returns (vocabulary, d_model) in float32, since vocabularies are large
/// @throws ShapeError if there is no such layer, or the model has no words
Matrix32 layer_words(const Stack& stack, Index layer);

/// Rows of the position table that tokens 0 .. length - 1 read, widened to double.
/// @returns (length, d_model), or as many rows as the table has; empty if the model has no table
Matrix position_rows(const Stack& stack, Index length);

}  // namespace headwave
