#pragma once

#include <vector>

#include "../attention/block.h"
#include "../numbers/matrix.h"

namespace headwave {

/// Linear map: y = x weight^T + bias.
/// @param x  (T, d_in)
/// @returns (T, d_out)
/// @throws ShapeError if the widths differ
Matrix32 linear(MatrixView32 x, const Linear& weights);

/// Applies a norm to every row. Statistics are computed in double. Does nothing if the norm is empty.
/// @param x  (T, d), changed in place
/// @throws ShapeError if the widths differ
void normalise(Matrix32& x, const Norm& norm);

/// Normalises queries or keys, (T, heads * d_head), in place. A norm of d_head channels is applied to each
/// head by itself. A norm of the full width is applied to whole rows, unless norm.d_head says that every head
/// has its own scales. Does nothing if the norm is empty.
/// @throws ShapeError if the width of x is not a multiple of the norm's width
void normalise_heads(Matrix32& x, const Norm& norm);

/// Share of rows that can be the output of a norm. Before scale and shift such a row is z = (x - shift) /
/// scale, which has
///
///     layer: |mean z| <= 0.1 and |variance z - 1| <= 0.1;  rms: |mean square z - 1| <= 0.1          (1)
///
/// A layer norm gives z the mean 0 and the variance v / (v + eps), where v is the variance of its input.
/// Rounding to float16 or bfloat16 does not violate (1). Raw residual states usually violate (1): their
/// variance depends on the layer. The result is 1 if the norm is empty or some scale is 0, since then (1)
/// cannot be checked.
/// @param x  (T, d)
/// @returns 0 to 1
/// @throws ShapeError if the widths differ
double share_from_norm(MatrixView32 x, const Norm& norm);

/// Applies an activation to every entry in place: gelu is the exact x Phi(x), gelu_tanh is the tanh
/// approximation of gelu, and silu is x / (1 + e^-x).
/// Source: Hendrycks and Gimpel 2016.
void activate(Matrix32& x, Activation activation);

/// Number of rows that pass through a feed-forward network together. The network's weights are packed once
/// for these rows, and only their activations are in memory (6 MB at a width of 3,072).
constexpr Index rows_at_once = 512;

/// Feed-forward network: narrow(activation(widen x)), narrow(activation(gate x) * widen x) if it has a gate,
/// or narrow(equation (1) of GateClip) if the gate is clipped.
/// @param x  (T, d_model)
/// @returns (T, d_model)
/// @throws ShapeError if the widths differ
Matrix32 feed_forward(MatrixView32 x, const FeedForward& weights, Activation activation, const GateClip& clip = {});

/// The experts that each token chooses, best first.
struct Chosen {
  std::vector<Index> expert;  ///< (T * k) numbers of the chosen experts, token by token
  std::vector<float> weight;  ///< (T * k) factors weight_e of these experts
};

/// Chooses k experts for each token from the router's output r:
///
///     s = softmax(r) or sigmoid(r);   worth = s + correction                                    (1)
///     chosen: the k experts of the largest worth, within the groups of the largest worth        (2)
///     weight_e = scale s_e,   or scale s_e / sum of s over the chosen                           (3)
///
/// With softmax_of_chosen, s is r in (1) and softmax of r over the chosen experts in (3). Ties go to the
/// first.
///
/// Source: Shazeer et al. 2017, section 2.1; groups after DeepSeek-AI 2024 (V2), section 2.2; the correction after Wang et
/// al. 2024, arXiv:2408.15664.
/// @param r           (T, experts)
/// @param correction  (experts) or empty
Chosen chosen_experts(MatrixView32 r, VectorView32 correction, const RouterSpec& router);

/// A block's feed-forward network and its experts. If f is the network that every token passes through (or 0)
/// and f_e are the experts that the token chose, the output is
///
///     y = sigmoid(shared_weight x) f(x) + sum_e weight_e f_e(x)                                 (4)
///
/// If weights multiply inputs, the sum is sum_e f_e(weight_e x). Experts compute only tokens that chose them.
/// @param x  (T, d_model)
/// @returns (T, d_model)
/// @throws ShapeError if the widths differ
Matrix32 feed_forward(MatrixView32 x, const Block& block, const BlockSpec& spec);

/// The rows from which queries, or keys and values, are projected: norm(down x), or x if `latent` is empty.
/// @param kept  receives the compressed rows and must outlive the view
MatrixView32 latent_of(MatrixView32 x, const Latent& latent, Matrix32& kept);

/// Projects the queries of all heads and applies their norm.
/// @returns (T, heads * d_head)
Matrix32 projected_queries(MatrixView32 x, const AttentionWeights& weights);

/// Multiplies queries by their temperature. Does nothing if the strength is 0.
/// @param first  position of the first row
void warm(Matrix32& queries, const QueryTemperature& temperature, Index first = 0);

/// Projects the keys of all heads and applies their norm.
/// @param latent  latent_of(x, weights.key_latent)
/// @returns (T, kv_heads * d_head)
Matrix32 projected_keys(MatrixView32 x, MatrixView32 latent, const AttentionWeights& weights, Index kv_heads);

/// Appends the channels that all heads share to the own channels of each head.
/// @param own     (rows, kv_heads * channels)
/// @param shared  (rows, shared channels)
Matrix32 with_shared_channels(const Matrix32& own, const Matrix32& shared, Index kv_heads);

}  // namespace headwave
