#pragma once

#include <cmath>
#include <vector>

#include "../numbers/matrix.h"

namespace headwave {

enum class Activation { gelu, gelu_tanh, relu, silu };
enum class NormKind { layer, rms };

/// Where a block's norms are. post: x = norm(x + f(x)), as in the original Transformer and in BERT. pre: x =
/// x + f(norm(x)), as in GPT-2 and Llama, or x = x + added_norm(f(norm(x))), as in Gemma 2.
enum class NormPlace { post, pre };

/// Weights of a linear map, y = x weight^T + bias.
struct Linear {
  MatrixView32 weight;  ///< (d_out, d_in), as PyTorch's Linear stores it; or empty
  VectorView32 bias;    ///< (d_out) or empty

  [[nodiscard]] bool empty() const { return weight.empty(); }
  [[nodiscard]] Index d_in() const { return weight.cols(); }
  [[nodiscard]] Index d_out() const { return weight.rows(); }
};

/// Normalisation of each row. layer: y = (x - mean) / sqrt(variance + eps) * scale + shift; rms: y = x /
/// sqrt(mean square + eps) * scale.
struct Norm {
  VectorView32 scale;  ///< (d); empty: there is no norm
  VectorView32 shift;  ///< (d) or empty
  float eps = 1e-5F;
  NormKind kind = NormKind::layer;
  Index d_head = 0;  ///< width of a head if a norm of queries or keys has separate scales for each head; else 0

  [[nodiscard]] bool empty() const { return scale.empty(); }
  /// The norm of one head's channels: the head's part of the scales if d_head > 0, else the whole norm.
  [[nodiscard]] Norm of_head(Index head) const {
    if (d_head == 0) return *this;
    Norm own = *this;
    own.d_head = 0;
    own.scale = VectorView32(scale.data() + head * d_head, d_head);
    if (!shift.empty()) own.shift = VectorView32(shift.data() + head * d_head, d_head);
    return own;
  }
};

/// Clips both factors of a gated feed-forward network (gpt-oss), whose hidden layer is then
///
///     (clip(widen x) + 1) * g sigmoid(slope g),   g = min(gate x, limit)                       (1)
///
/// where clip(u) limits u to -limit .. limit.
struct GateClip {
  float limit = 0;  ///< 0: nothing is clipped, and the hidden layer is activation(gate x) * widen x
  float slope = 1;
};

/// Compresses a state x to a few channels, norm(down x). Multi-head latent attention (DeepSeek) projects its
/// queries, keys and values from compressed states.
struct Latent {
  Linear down;
  Norm norm;

  [[nodiscard]] bool empty() const { return down.empty(); }
};

/// The projections of self-attention or cross-attention in one layer, all heads side by side.
struct AttentionWeights {
  Linear query, key, value, output;
  /// Norms of queries and keys before rotation. A norm of (d_head) is shared by all heads. A norm of (heads *
  /// d_head) is applied to each head by itself if Norm::d_head is set, else to the whole width
  Norm query_norm = {}, key_norm = {};
  /// (rows, heads * d_head) vectors of disentangled attention, see HeadInputs; or empty
  MatrixView32 position_key = {}, position_query = {};
  /// The compression of states before they are projected by `query`, or by `key` and `value`; empty: none
  Latent query_latent = {}, key_latent = {};
  /// (channels, d_model) projection to the last channels of the keys, which all heads share; or empty
  Linear shared_key = {};
  /// (heads) learned sinks: each head's score in the softmax that belongs to no key; or empty
  VectorView32 sinks = {};

  [[nodiscard]] bool empty() const { return query.empty(); }
  /// Width of the states that are projected.
  [[nodiscard]] Index d_in() const { return query_latent.empty() ? query.d_in() : query_latent.down.d_in(); }
  /// Width of all keys side by side.
  [[nodiscard]] Index key_width(Index kv_heads) const {
    return key.d_out() + (shared_key.empty() ? 0 : kv_heads * shared_key.d_out());
  }
};

/// Feed-forward network: narrow(activation(widen x)), or narrow(activation(gate x) * widen x) with a gate.
struct FeedForward {
  Linear widen, gate, narrow;

  [[nodiscard]] bool empty() const { return widen.empty(); }
};

/// Scores of experts from the router's output r = router x: softmax of r over all experts, softmax of r over
/// the chosen experts, or sigmoid(r) of each expert.
enum class RouterScore { softmax, softmax_of_chosen, sigmoid };

/// The worth of a group of experts: the worth of its best expert, or the sum over its two best experts.
enum class GroupWorth { best, best_two };

/// How a token chooses its experts; chosen_experts() has the equations.
struct RouterSpec {
  Index chosen = 1;  ///< k, number of experts that a token passes through
  RouterScore score = RouterScore::softmax;
  bool normalised = false;    ///< whether the scores of the chosen experts are divided by their sum
  bool weighs_input = false;  ///< whether a score multiplies the expert's input, not its output
  float scale = 1;            ///< factor of the scores of the chosen experts
  Index groups = 1;           ///< number of groups of equally many consecutive experts
  Index chosen_groups = 1;    ///< number of groups from which a token chooses
  GroupWorth worth = GroupWorth::best;
};

/// A factor of queries that grows with the query's position i, which counts from 0 (Llama 4):
///
///     1 + strength ln(1 + floor((i + 1) / step))                                               (1)
struct QueryTemperature {
  double strength = 0;  ///< 0: the factor is 1
  double step = 1;      ///< in tokens

  [[nodiscard]] double at(Index position) const {
    return 1 + strength * std::log1p(std::floor(static_cast<double>(position + 1) / step));
  }
};

/// Mixture of experts: many feed-forward networks, of which each token passes through only a few.
struct Mixture {
  Linear router;            ///< (experts, d_model)
  VectorView32 correction;  ///< (experts) added to scores only for the choice of experts; or empty
  std::vector<FeedForward> experts;
  /// (1, d_model): sigmoid(shared_weight x) multiplies the output of the block's feed_forward; or empty
  Linear shared_weight;

  [[nodiscard]] bool empty() const { return router.empty(); }
};

/// One layer. Parts that a model does not have are empty.
struct Block {
  Norm self_norm;
  AttentionWeights self;
  Norm self_added_norm;  ///< pre-norm only: norm of the output of attention
  Norm cross_norm;
  AttentionWeights cross;  ///< cross-attention, in the decoder of an encoder-decoder
  Norm feed_forward_norm;
  FeedForward feed_forward;      ///< network of all tokens: with experts, the shared expert; or empty
  Mixture mixture;               ///< experts, whose outputs are added to the output of feed_forward; or empty
  Norm feed_forward_added_norm;  ///< pre-norm only: norm of the output of feed-forward
};

/// Sizes and options that all blocks of a stack share.
struct BlockSpec {
  NormPlace norm_place = NormPlace::post;
  bool parallel = false;  ///< pre-norm only: attention and feed-forward read the same x
  Activation activation = Activation::gelu;
  GateClip gate_clip = {};
  RouterSpec router = {};  ///< used by layers with experts
  bool causal = false;     ///< a token attends only to itself and to earlier tokens
  Index heads = 0;
  Index kv_heads = 0;        ///< key and value heads, often as many as heads; query heads share them evenly
  Index d_head = 0;          ///< width of one head's queries and keys; need not be d_model / heads
  double score_scale = 1;    ///< factor of q.k: 1/sqrt(d_head) in most models, 1 in T5
  double soft_cap = 0;       ///< scaled scores s become cap tanh(s / cap) before mask and position term; 0: no cap
  Index window = 0;          ///< queries attend only to keys with |i - j| < window; 0: no limit
  Index chunk = 0;           ///< queries attend only within their chunk of this many tokens; 0: no limit
  float residual_scale = 1;  ///< factor of the outputs that are added to x: Granite's residual_multiplier

  /// The number of the key and value head that a query head uses.
  [[nodiscard]] Index key_head(Index head) const { return head / (heads / kv_heads); }
};

}  // namespace headwave
