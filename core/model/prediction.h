#pragma once

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

}  // namespace headwave
