#pragma once

#include "../attention/block.h"
#include "../numbers/matrix.h"

namespace headwave {

/// What a gated delta net makes of the states of a sequence. It stands in the place of attention in some layers, and has no
/// attention weights: tokens meet in a state S of each value head, which starts at zero.
///
///     (q, k, v)_n = silu(causal convolution of (W x)_n),   q and k divided by their norms, q by sqrt(d_key)   (1)
///     S_n = a_n S_{n-1} + k_n^T b_n (v_n - k_n a_n S_{n-1}),   o_n = q_n S_n                                 (2)
///     a_n = exp(-exp(rate) ln(1 + exp(W_a x_n + bias))),   b_n = sigmoid(W_b x_n)                            (3)
///     y_n = W_O (rms norm(o_n) silu(W_z x_n)), head by head                                                  (4)
///
/// A norm in (1) is sqrt(sum of squares + 1e-6). Several value heads may share the query and key of one key head. The
/// recurrence (2) is evaluated token by token, in float.
///
/// Source: Yang, Kautz and Hatamizadeh 2025 (gated delta networks), equation 10.
/// @param x  (T, d_model)
/// @returns (T, d_model)
/// @throws ShapeError if the widths differ
Matrix32 delta_net(MatrixView32 x, const DeltaNet& weights);

}  // namespace headwave
