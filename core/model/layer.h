#pragma once

#include "../attention/block.h"
#include "../numbers/matrix.h"

namespace headwave {

/// y = x weight^T + bias.
/// @param x  (T, d_in)
/// @returns (T, d_out)
/// @throws ShapeError if the widths differ
Matrix32 linear(MatrixView32 x, const Linear& weights);

/// Normalises every row as the norm says, statistics in double; nothing where there is no norm.
/// @param x  (T, d), changed in place
/// @throws ShapeError if the widths differ
void normalise(Matrix32& x, const Norm& norm);

/// The same for queries or keys, (T, heads * d_head). The width of the norm decides whether each head is
/// normalised by itself or the whole row. Does nothing without a norm.
/// @throws ShapeError if the norm does not divide the width
void normalise_heads(Matrix32& x, const Norm& norm);

/// The share of rows that can be the output of a norm. With z = (x - shift) / scale, the row before scale and
/// shift, such a row has
///
///     layer: |mean z| <= 0.1 and |variance z - 1| <= 0.1;  rms: |mean square z - 1| <= 0.1          (1)
///
/// What the norm made has mean 0 and variance v / (v + eps), whatever it was made of; rounding to float16 or
/// bfloat16 stays within (1). Raw residual states have whatever variance their layer has. Channels whose
/// scale is 0 say nothing: where there is one, and where there is no norm, every row may come from it.
/// @param x  (T, d)
/// @returns 0 to 1
/// @throws ShapeError if the widths differ
double share_from_norm(MatrixView32 x, const Norm& norm);

/// Applies an activation to every entry in place. gelu is the exact x Phi(x); gelu_tanh its tanh
/// approximation; silu is x / (1 + e^-x).
/// Source: Hendrycks and Gimpel 2016.
void activate(Matrix32& x, Activation activation);

/// Rows that pass through a feed-forward network at a time. Its weights are packed once for them, and only
/// their activations are held (6 MB at a width of 3,072).
constexpr Index rows_at_once = 512;

/// narrow(activation(widen x)), or narrow(activation(gate x) * widen x).
/// @param x  (T, d_model)
/// @returns (T, d_model)
/// @throws ShapeError if the widths differ
Matrix32 feed_forward(MatrixView32 x, const FeedForward& weights, Activation activation);

}  // namespace headwave
