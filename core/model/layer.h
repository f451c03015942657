#pragma once

#include <vector>

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

/// narrow(activation(widen x)), or narrow(activation(gate x) * widen x), or narrow of equation (1) of GateClip.
/// @param x  (T, d_model)
/// @returns (T, d_model)
/// @throws ShapeError if the widths differ
Matrix32 feed_forward(MatrixView32 x, const FeedForward& weights, Activation activation, const GateClip& clip = {});

/// The experts that each token chooses, and their weights.
struct Chosen {
  std::vector<Index> expert;  ///< (T * k) of each token, in the order of their worth
  std::vector<float> weight;  ///< (T * k)
};

/// Chooses experts by what the router gives for each token:
///
///     s = softmax(r) or sigmoid(r);   worth = s + correction                                    (1)
///     chosen: the k experts of the largest worth, within the groups of the largest worth        (2)
///     weight_e = scale s_e,   or scale s_e / sum of s over the chosen                           (3)
///
/// With softmax_of_chosen s is r itself in (1), and the softmax of r over the chosen in (3). Of experts of one worth the
/// first is chosen.
///
/// Source: Shazeer et al. 2017, section 2.1; groups after DeepSeek-AI 2024 (V2), section 2.2; the correction after Wang et
/// al. 2024, arXiv:2408.15664.
/// @param r           (T, experts)
/// @param correction  (experts) or empty
Chosen chosen_experts(MatrixView32 r, VectorView32 correction, const RouterSpec& router);

/// A block's feed-forward with its experts: y = sigmoid(shared_weight x) f(x) + sum_e weight_e f_e(x) over the experts
/// that the token chose, or sum_e f_e(weight_e x) where weights multiply the input; f is the feed-forward of every token, where
/// there is one. Tokens pass through the experts that they chose and through no others.
/// @param x  (T, d_model)
/// @returns (T, d_model)
/// @throws ShapeError if the widths differ
Matrix32 feed_forward(MatrixView32 x, const Block& block, const BlockSpec& spec);

/// The rows that queries, or keys and values, are projected from: norm(down x), or x itself where nothing is compressed.
/// @param kept  owns the compressed rows
MatrixView32 latent_of(MatrixView32 x, const Latent& latent, Matrix32& kept);

/// Queries of all heads, with the norm of queries.
/// @returns (T, heads * d_head)
Matrix32 projected_queries(MatrixView32 x, const AttentionWeights& weights);

/// Multiplies queries as the temperature says; does nothing where it has no strength.
/// @param first  position of the first row
void warm(Matrix32& queries, const QueryTemperature& temperature, Index first = 0);

/// Keys of all heads, with the norm of keys.
/// @param latent  latent_of(x, weights.key_latent)
/// @returns (T, kv_heads * d_head)
Matrix32 projected_keys(MatrixView32 x, MatrixView32 latent, const AttentionWeights& weights, Index kv_heads);

/// Puts the channels that all heads share after each head's own.
/// @param own     (rows, kv_heads * channels)
/// @param shared  (rows, channels of every head)
Matrix32 with_shared_channels(const Matrix32& own, const Matrix32& shared, Index kv_heads);

}  // namespace headwave
