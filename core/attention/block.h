#pragma once

#include <cmath>
#include <vector>

#include "../numbers/matrix.h"

namespace headwave {

enum class Activation { gelu, gelu_tanh, relu, silu };
enum class NormKind { layer, rms };

/// Where a block's norms are. post: x = norm(x + f(x)), as in the original Transformer and BERT. pre: x = x +
/// f(norm(x)), as in GPT-2 and Llama, or x = x + added_norm(f(norm(x))), as in Gemma 2.
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
  Index d_head = 0;  ///< width of a head, in norms of queries or keys whose scales differ between heads; else 0

  [[nodiscard]] bool empty() const { return scale.empty(); }
  /// The norm of one head's channels: that head's part if d_head > 0, else the whole norm.
  [[nodiscard]] Norm of_head(Index head) const {
    if (d_head == 0) return *this;
    Norm own = *this;
    own.d_head = 0;
    own.scale = VectorView32(scale.data() + head * d_head, d_head);
    if (!shift.empty()) own.shift = VectorView32(shift.data() + head * d_head, d_head);
    return own;
  }
};

/// Clips both sides of a gate (gpt-oss), which then gives
///
///     (clip(widen x) + 1) * g sigmoid(slope g),   g = min(gate x, limit)                       (1)
///
/// with clip(u) between -limit and limit.
struct GateClip {
  float limit = 0;  ///< 0: nothing is clipped, and the gate gives activation(gate x) * widen x
  float slope = 1;
};

/// Compresses a state to few channels, norm(down x), the input of multi-head latent attention (DeepSeek).
struct Latent {
  Linear down;
  Norm norm;

  [[nodiscard]] bool empty() const { return down.empty(); }
};

/// Projections of one attention, all heads side by side.
struct AttentionWeights {
  Linear query, key, value, output;
  /// Norms of queries and keys, before rotation: (d_head) shared by all heads; or (heads * d_head) for each
  /// head by itself (Norm::d_head) or over the whole width
  Norm query_norm = {}, key_norm = {};
  /// (rows, heads * d_head) vectors of disentangled attention, see HeadInputs; or empty
  MatrixView32 position_key = {}, position_query = {};
  /// Compressed states that `query`, or `key` and `value`, are projected from; empty: from the state itself
  Latent query_latent = {}, key_latent = {};
  /// (channels, d_model) projects the last channels of every head's key, which all heads share; or empty
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

/// Feed-forward network: narrow(activation(widen x)), or with a gate narrow(activation(gate x) * widen x).
struct FeedForward {
  Linear widen, gate, narrow;

  [[nodiscard]] bool empty() const { return widen.empty(); }
};

/// Scores of experts from the router's output r = router x: softmax over all experts, softmax over the chosen
/// ones, or sigmoid(r) of each.
enum class RouterScore { softmax, softmax_of_chosen, sigmoid };

/// The worth of a group of experts: that of its best expert, or the sum of its two best.
enum class GroupWorth { best, best_two };

/// How a token chooses its experts; chosen_experts() has the equations.
struct RouterSpec {
  Index chosen = 1;  ///< k, number of experts that a token passes through
  RouterScore score = RouterScore::softmax;
  bool normalised = false;    ///< divide the scores of the chosen by their sum
  bool weighs_input = false;  ///< multiply an expert's input by its score, not its output
  float scale = 1;            ///< multiplies the scores of the chosen
  Index groups = 1;           ///< number of groups of equal size, one after another
  Index chosen_groups = 1;    ///< number of groups from which a token chooses
  GroupWorth worth = GroupWorth::best;
};

/// A factor of queries that grows with their position i, from 0 (Llama 4):
///
///     1 + strength ln(1 + floor((i + 1) / step))                                               (1)
struct QueryTemperature {
  double strength = 0;  ///< 0: the factor is 1
  double step = 1;      ///< tokens

  [[nodiscard]] double at(Index position) const {
    return 1 + strength * std::log1p(std::floor(static_cast<double>(position + 1) / step));
  }
};

/// Mixture of experts: feed-forward networks, of which a token passes through few.
struct Mixture {
  Linear router;            ///< (experts, d_model)
  VectorView32 correction;  ///< (experts) added to scores only for the choice of experts; or empty
  std::vector<FeedForward> experts;
  /// (1, d_model): sigmoid(shared_weight x) multiplies the output of the block's feed_forward; or empty
  Linear shared_weight;

  [[nodiscard]] bool empty() const { return router.empty(); }
};

/// One layer. Parts that a family does not have are empty.
struct Block {
  Norm self_norm;
  AttentionWeights self;
  Norm self_added_norm;  ///< pre-norm only: norm of what attention adds
  Norm cross_norm;
  AttentionWeights cross;  ///< cross-attention in the decoder of an encoder-decoder
  Norm feed_forward_norm;
  FeedForward feed_forward;      ///< for every token; beside experts it is the shared expert; or empty
  Mixture mixture;               ///< experts, whose outputs are added to that of feed_forward; or empty
  Norm feed_forward_added_norm;  ///< pre-norm only
};

/// Sizes and options that all blocks of a stack share.
struct BlockSpec {
  NormPlace norm_place = NormPlace::post;
  bool parallel = false;  ///< pre-norm only: attention and feed-forward read the same x and are added together
  Activation activation = Activation::gelu;
  GateClip gate_clip = {};
  RouterSpec router = {};  ///< used by layers with experts
  bool causal = false;     ///< a token attends only to itself and to earlier tokens
  Index heads = 0;
  Index kv_heads = 0;        ///< key and value heads, shared evenly by query heads; often equal to heads
  Index d_head = 0;          ///< width of one head's queries and keys; read, never assumed to be d_model / heads
  double score_scale = 1;    ///< factor of q.k: 1/sqrt(d_head) in most models, 1 in T5
  double soft_cap = 0;       ///< scaled scores s become cap tanh(s / cap) before mask and position term; 0: no cap
  Index window = 0;          ///< attend only to keys with |i - j| < window; 0: no limit
  Index chunk = 0;           ///< attend only within chunks of this many tokens; 0: no limit
  float residual_scale = 1;  ///< factor of what attention and feed-forward add to x: Granite's residual_multiplier

  /// The key-value head that a query head reads.
  [[nodiscard]] Index key_head(Index head) const { return head / (heads / kv_heads); }
};

}  // namespace headwave
