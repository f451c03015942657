#pragma once

#include "../attention/block.h"
#include "../numbers/matrix.h"

namespace headwave {

/// y = x W + b, whichever way W is stored.
/// @param x  (T, d_in)
/// @returns (T, d_out)
/// @throws ShapeError if the widths differ
Matrix32 linear(MatrixView32 x, const Linear& weights);

/// Normalises every row as the norm says, statistics in double; nothing where there is no norm.
/// @param x  (T, d), changed in place
/// @throws ShapeError if the widths differ
void normalise(Matrix32& x, const Norm& norm);

/// Applies an activation to every entry in place. gelu is the exact x Phi(x); gelu_tanh its tanh approximation; silu is
/// x / (1 + e^-x).
/// Source: Hendrycks and Gimpel 2016.
void activate(Matrix32& x, Activation activation);

/// narrow(activation(widen x)), or narrow(activation(gate x) * widen x).
/// @param x  (T, d_model)
/// @returns (T, d_model)
/// @throws ShapeError if the widths differ
Matrix32 feed_forward(MatrixView32 x, const FeedForward& weights, Activation activation);

}  // namespace headwave
