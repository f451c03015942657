#pragma once

#include <cmath>
#include <vector>

#include "../numbers/matrix.h"

namespace headwave {

enum class Activation { gelu, gelu_tanh, relu, silu };
enum class NormKind { layer, rms };

/// Where a block's norms stand. post: x = norm(x + f(x)), as in the original Transformer and BERT. pre: x = x
/// + f(norm(x)), as in GPT-2 and Llama; with a norm of what is added, x = x + added_norm(f(norm(x))), as in
/// Gemma 2.
enum class NormPlace { post, pre };

/// y = x weight^T + bias.
struct Linear {
  MatrixView32 weight;  ///< (d_out, d_in), as PyTorch's Linear stores it; or empty
  VectorView32 bias;    ///< (d_out) or empty

  [[nodiscard]] bool empty() const { return weight.empty(); }
  [[nodiscard]] Index d_in() const { return weight.cols(); }
  [[nodiscard]] Index d_out() const { return weight.rows(); }
};

/// layer: y = (x - mean) / sqrt(variance + eps) * scale + shift; rms: y = x / sqrt(mean square + eps) *
/// scale; over each row.
struct Norm {
  VectorView32 scale;  ///< (d); empty: there is no norm
  VectorView32 shift;  ///< (d) or empty
  float eps = 1e-5F;
  NormKind kind = NormKind::layer;
  Index d_head = 0;  ///< of queries and keys whose heads have scales of their own: each head is a row; 0: they have not

  [[nodiscard]] bool empty() const { return scale.empty(); }
  /// The norm of one head's channels, where each has its own; else this.
  [[nodiscard]] Norm of_head(Index head) const {
    if (d_head == 0) return *this;
    Norm own = *this;
    own.d_head = 0;
    own.scale = VectorView32(scale.data() + head * d_head, d_head);
    if (!shift.empty()) own.shift = VectorView32(shift.data() + head * d_head, d_head);
    return own;
  }
};

/// A gate whose two sides are clipped (GPT-OSS):
///
///     (clip(widen x) + 1) * g sigmoid(slope g),   g = min(gate x, limit)                       (1)
///
/// with clip(u) between -limit and limit.
struct GateClip {
  float limit = 0;  ///< 0: nothing is clipped, and a gate is activation(gate x) * widen x
  float slope = 1;
};

/// A state compressed to few channels, norm(down x), from which multi-head latent attention (DeepSeek) projects.
struct Latent {
  Linear down;
  Norm norm;

  [[nodiscard]] bool empty() const { return down.empty(); }
};

/// Projections of one attention, all heads side by side.
struct AttentionWeights {
  Linear query, key, value, output;
  Norm query_norm = {},
       key_norm = {};  ///< of queries and keys before rotation: (d_head), one for all heads; (heads * d_head), of each
                       ///< head or over the whole width
  /// (rows, heads * d_head) vectors of disentangled attention that queries, and keys, are compared with; or
  /// empty
  MatrixView32 position_key = {}, position_query = {};
  /// What `query`, and what `key` and `value`, read in place of the state; empty: the state itself
  Latent query_latent = {}, key_latent = {};
  /// (channels, d_model) from the state: the last channels of every head's key, the same for all heads; or empty
  Linear shared_key = {};
  /// (heads) a score of each head that takes part in the softmax and is no key's; or empty
  VectorView32 sinks = {};

  [[nodiscard]] bool empty() const { return query.empty(); }
  /// Width of the states that are projected.
  [[nodiscard]] Index d_in() const { return query_latent.empty() ? query.d_in() : query_latent.down.d_in(); }
  /// Width of all keys side by side.
  [[nodiscard]] Index key_width(Index kv_heads) const {
    return key.d_out() + (shared_key.empty() ? 0 : kv_heads * shared_key.d_out());
  }
};

/// narrow(activation(widen x)), or narrow(activation(gate x) * widen x) where there is a gate.
struct FeedForward {
  Linear widen, gate, narrow;

  [[nodiscard]] bool empty() const { return widen.empty(); }
};

/// How scores of experts are made of what the router gives, r = router x: softmax over all experts, softmax over the chosen
/// ones, or sigmoid(r) of each.
enum class RouterScore { softmax, softmax_of_chosen, sigmoid };

/// What a group of experts is worth: its best expert, or the sum of its two best.
enum class GroupWorth { best, best_two };

/// How a token chooses its experts, see mixture().
struct RouterSpec {
  Index chosen = 1;  ///< k, experts that a token passes through
  RouterScore score = RouterScore::softmax;
  bool normalised = false;    ///< scores of the chosen are divided by their sum
  bool weighs_input = false;  ///< the score multiplies what enters an expert, not what it gives
  float scale = 1;            ///< multiplies the scores of the chosen
  Index groups = 1;           ///< experts come in so many groups of equal size, one group after another
  Index chosen_groups = 1;    ///< groups from which a token chooses
  GroupWorth worth = GroupWorth::best;
};

/// Queries that are multiplied by a number which grows with their position i, counted from 0 (Llama 4):
///
///     1 + strength ln(1 + floor((i + 1) / step))                                               (1)
struct QueryTemperature {
  double strength = 0;  ///< 0: queries stay
  double step = 1;      ///< tokens

  [[nodiscard]] double at(Index position) const {
    return 1 + strength * std::log1p(std::floor(static_cast<double>(position + 1) / step));
  }
};

/// Experts, feed-forward networks of which a token passes through few.
struct Mixture {
  Linear router;            ///< (experts, d_model)
  VectorView32 correction;  ///< (experts) added to the scores while experts are chosen, and to nothing else; or empty
  std::vector<FeedForward> experts;
  /// (1, d_model): sigmoid(shared_weight x) multiplies what the shared expert gives, the block's feed-forward; or empty
  Linear shared_weight;

  [[nodiscard]] bool empty() const { return router.empty(); }
};

/// One layer. Parts that a family does not have are empty.
struct Block {
  Norm self_norm;
  AttentionWeights self;
  Norm self_added_norm;  ///< pre-norm only: norm of what attention adds
  Norm cross_norm;
  AttentionWeights cross;  ///< cross-attention of a decoder that reads an encoder
  Norm feed_forward_norm;
  FeedForward feed_forward;      ///< of every token: beside experts their shared one; or empty
  Mixture mixture;               ///< experts, whose outputs are added to that; or empty
  Norm feed_forward_added_norm;  ///< pre-norm only
};

/// Sizes and options that all blocks of a stack share.
struct BlockSpec {
  NormPlace norm_place = NormPlace::post;
  bool parallel = false;  ///< pre-norm only: attention and feed-forward read the same x and are added together
  Activation activation = Activation::gelu;
  GateClip gate_clip = {};
  RouterSpec router = {};  ///< of layers that have experts
  bool causal = false;     ///< a token attends to itself and to earlier tokens only
  Index heads = 0;
  Index kv_heads = 0;        ///< key and value heads, which query heads share evenly; equal to heads in most models
  Index d_head = 0;          ///< width of one head's queries and keys; read, never assumed to be d_model / heads
  double score_scale = 1;    ///< what q.k is multiplied by: 1/sqrt(d_head) in most models, 1 in T5
  double soft_cap = 0;       ///< scaled scores s become cap tanh(s / cap) before mask and position term; 0: no cap
  Index window = 0;          ///< keys this far are not attended to: |i - j| < window; 0: no limit
  Index chunk = 0;           ///< a token attends within its chunk of so many tokens alone; 0: no limit
  float residual_scale = 1;  ///< factor of what attention and feed-forward add to x: Granite's residual_multiplier

  /// The key-value head that a query head reads.
  [[nodiscard]] Index key_head(Index head) const { return head / (heads / kv_heads); }
};

}  // namespace headwave
