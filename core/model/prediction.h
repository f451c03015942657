#pragma once

#include "model.h"

namespace headwave {

/// Scores of every word of the vocabulary at every position.
///
///     logits = cap(words (state_scale norm(activation(transform x))) + bias)                 (1)
///
/// Parts that a model does not have are omitted.
/// @param states  (T, d_model) final states, as model_pass() returns them
/// @returns (T, vocabulary)
/// @throws ShapeError if the width is not the model's
Matrix32 logits(const PredictionHead& head, MatrixView32 states);

/// Mean cross-entropy of the predicted next tokens, in nats.
///
///     loss = -1/(T - 1) sum_i log softmax(logits_i)[id_{i+1}],  i = 0 .. T - 2               (2)
///
/// @param states  (T, d_model) final states of a causal model
/// @param ids     (T)
/// @returns NaN if there are fewer than two tokens
/// @throws ShapeError as logits(), or if an id lies outside the vocabulary
double next_token_loss(const PredictionHead& head, MatrixView32 states, const std::vector<std::int32_t>& ids);

}  // namespace headwave
