#pragma once

#include "headwave/core/matrix.h"
#include "headwave/core/model.h"

namespace headwave {

/// y = x W^T + b.
/// @param x  (T, d_in)
/// @returns (T, d_out)
/// @throws ShapeError if the widths differ
Matrix32 linear(MatrixView32 x, const Linear& weights);

/// Normalises every row to mean 0 and variance 1, then scales and shifts; statistics in double.
/// @param x  (T, d), changed in place
/// @throws ShapeError if the widths differ
void normalise(Matrix32& x, const LayerNorm& norm);

/// Applies an activation to every entry in place. gelu is the exact x Phi(x); gelu_tanh its tanh approximation.
/// Source: Hendrycks and Gimpel 2016.
void activate(Matrix32& x, Activation activation);

}  // namespace headwave
