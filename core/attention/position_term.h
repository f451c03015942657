#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "../numbers/matrix.h"

namespace headwave {

/// Order of the columns of sinusoids. interleaved: the sine and the cosine of a frequency are neighbours, as
/// in the paper. concatenated: all sines come first, then all cosines.
enum class SinusoidLayout { interleaved, concatenated };

struct SinusoidOptions {
  SinusoidLayout layout = SinusoidLayout::interleaved;
  double base = 10000;
  Index first = 0;  ///< position of token 0
  /// Whether the slowest frequency is exactly 1/base, as in tensor2tensor, and not one step faster
  bool last_is_base = false;
};

/// Computes the original Transformer's position table.
///
///     PE(n, sine i)   = sin(n w_i),   PE(n, cosine i) = cos(n w_i)                            (1)
///     w_i = base^(-2i/d), i = 0 .. d/2 - 1                                                    (2)
///
/// Source: Vaswani et al. 2017, section 3.5.
/// @param d_model  d, even
/// @returns (length, d)
/// @throws ShapeError if d is odd or below 2
Matrix32 sinusoids(Index length, Index d_model, const SinusoidOptions& options = {});

/// A bias that is added to the scaled scores and depends only on the offset: an exact Toeplitz matrix.
class ScoreBias {
 public:
  ScoreBias() = default;
  ScoreBias(const ScoreBias&) = delete;
  ScoreBias& operator=(const ScoreBias&) = delete;
  virtual ~ScoreBias() = default;

  /// The kind of bias: "linear bias", "offset bias", "relative buckets".
  [[nodiscard]] virtual const char* name() const = 0;

  /// A head's bias at offsets t = -reach .. reach.
  /// @returns (2 reach + 1)
  [[nodiscard]] virtual Vector kernel(Index head, Index reach) const = 0;
};

/// Linear biases (ALiBi): adds slope_h * t at offset t. The slopes of the heads are a geometric sequence,
///
///     slope_h = 2^(-8 (h+1) / H)  where the number of heads H is a power of two               (1)
///
/// For any other H, they are the slopes for the next power of two below H, followed by every second slope for
/// the next power of two above H.
///
/// Source: Press, Smith and Lewis 2022, section 3.
class LinearBias : public ScoreBias {
 public:
  explicit LinearBias(Index heads);

  [[nodiscard]] const char* name() const override { return "linear bias"; }
  [[nodiscard]] Vector kernel(Index head, Index reach) const override;

 private:
  Vector slope_;
};

/// A table of biases, one for every head and offset. At offsets beyond the given range the bias is zero.
class OffsetBias : public ScoreBias {
 public:
  /// @param bias  (heads, 2 reach + 1)  at offsets t = -reach .. reach
  /// @throws ShapeError if the number of offsets is even
  explicit OffsetBias(Matrix bias);

  [[nodiscard]] const char* name() const override { return "offset bias"; }
  [[nodiscard]] Vector kernel(Index head, Index reach) const override;

 private:
  Matrix bias_;
};

struct BucketOptions {
  Index farthest = 128;       ///< all distances from here on share the last bucket
  bool bidirectional = true;  ///< half of the buckets are for keys to the right; else these keys share bucket 0
};

/// Learned biases of every head and bucket of distances (T5's relative attention). Each near distance has its
/// own bucket; far distances share buckets whose widths grow geometrically.
///
/// Source: Raffel et al. 2020, section 2.1.
class BucketBias : public ScoreBias {
 public:
  /// @param bias  (buckets, heads)
  /// @throws ShapeError if a side has fewer than two buckets, or only buckets of a single distance
  BucketBias(MatrixView32 bias, const BucketOptions& options);

  [[nodiscard]] const char* name() const override { return "relative buckets"; }
  [[nodiscard]] Vector kernel(Index head, Index reach) const override;

  /// The bucket of an offset.
  [[nodiscard]] Index bucket(Index offset) const;

 private:
  Matrix bias_;
  BucketOptions options_;
};

/// How a model stretches its rotary positions for texts that are longer than its training texts.
enum class RotaryScaling { none, linear, dynamic, llama3, yarn, longrope, proportional };

/// Which two channels rotate together: m and m + r/2 (halves, as in Hugging Face), or 2m and 2m + 1
/// (neighbours, as in the paper).
enum class RotaryPairing { halves, neighbours };

struct RotaryOptions {
  Index channels = 0;  ///< r, number of a head's channels that rotate; even
  Index first = 0;     ///< the first of these channels
  double base = 10000;
  RotaryPairing pairing = RotaryPairing::halves;
  RotaryScaling scaling = RotaryScaling::none;
  double factor = 1;            ///< s, the factor by which positions are stretched
  double trained = 0;           ///< M, tokens of a training text; not used by none, linear and proportional
  double low = 1, high = 4;     ///< llama3: frequencies below `low` turns in M tokens are stretched, above `high` kept
  double fast = 32, slow = 1;   ///< yarn: frequencies below `slow` turns in M tokens are stretched, above `fast` kept
  bool whole_channels = true;   ///< yarn: whether the transition begins and ends at whole channels
  double attention_factor = 1;  ///< yarn, longrope: factor of queries and of keys
  std::vector<double> short_factors = {}, long_factors = {};  ///< longrope: (r/2) factors up to M tokens, and beyond
  double share = 1;  ///< proportional: share of the pairs that rotate; these are the fastest pairs
};

/// The two channels x_a, x_b of a head that rotate together as pair m.
/// @param pair  m = 0 .. r/2 - 1, the fastest first
std::pair<Index, Index> channels_of(const RotaryOptions& options, Index pair);

/// Rotary positions (RoPE): at position n, channel pair m of a head is rotated by the angle n f_m.
///
///     (x_a, x_b) -> (x_a cos n f_m - x_b sin n f_m, x_b cos n f_m + x_a sin n f_m)          (1)
///     f_m = base^(-2m/r), m = 0 .. r/2 - 1                                                  (2)
///
/// Thus q_i . k_j depends on the positions only through j - i. Scalings change (2):
///
///     linear        divides all frequencies by s
///     dynamic       raises the base if a text is longer than M tokens
///     llama3, yarn  divide slow frequencies by s and keep fast ones, with a transition in between
///     longrope      divides each frequency by its short_factor in texts up to M tokens, else by its long_factor
///     proportional  sets the slowest frequencies to 0 and divides the others by s
///
/// Source: Su et al. 2021, equation 34; Peng et al. 2023 (yarn); Grattafiori et al. 2024 (llama3); Ding et
/// al. 2024 (longrope); Barbero et al. 2025 (proportional).
class RotaryTerm {
 public:
  /// @throws ShapeError if `channels` is odd or below 2, or longrope lacks a factor for some pair
  explicit RotaryTerm(const RotaryOptions& options);

  /// Rotates the queries or keys of a whole sequence in place; row n has position n.
  /// @param rows  (T, heads * d_head)
  /// @throws ShapeError if a head has fewer channels than rotate, or d_head does not divide the width
  void turn(Matrix32& rows, Index d_head) const;
  void turn(Matrix& rows, Index d_head) const;

  /// The factor by which rotation changes q . k if query and key are equal, at the offsets t = -reach ..
  /// reach. It is the mean of cos(t f_m) over the pairs m, times the square of the attention_factor.
  /// @returns (2 reach + 1)
  [[nodiscard]] Vector kernel(Index reach) const;

  /// @returns (r/2) the frequencies f_m in radians per token, for a text of `length` tokens
  [[nodiscard]] Vector frequency(Index length) const;
  [[nodiscard]] const RotaryOptions& options() const { return options_; }

 private:
  RotaryOptions options_;
};

struct DisentangledOptions {
  Index farthest = 512;  ///< M: offsets of M or more share a row; with buckets, the largest offset that these cover
  Index buckets = 0;  ///< b, rows on each side: near offsets have their own row, far offsets share rows; 0: none share
};

/// Disentangled attention (DeBERTa): queries and keys are also compared with vectors of relative positions.
///
///     S_ij = scale (q_i . k_j + q_i . P[row(j - i)] + k_j . R[row(j - i)])                    (1)
///     row(t) = s + bucket(-t), clamped to 0 .. 2 s - 1                                        (2)
///     bucket(n) = n where |n| <= b / 2, else
///                 sign(n) (b/2 + ceil((b/2 - 1) ln(|n| / (b/2)) / ln((M - 1) / (b/2))))       (3)
///
/// P and R hold each head's position keys and position queries (HeadInputs), one row per relative position.
/// The layer projects them. With buckets, s = b. Without buckets, s = M and bucket(n) = n. The terms depend
/// on the query or the key, so they have no kernel of offsets. attend() computes them tile by tile.
///
/// Source: He et al. 2021 (DeBERTa), equation 4; He, Gao and Chen 2023 (DeBERTaV3). Both terms use row(j -
/// i), as in the published code.
class DisentangledTerm {
 public:
  /// Whether (3) can be evaluated: M is at least 1, and b is either 0, or at least 2 with b / 2 < M - 1.
  [[nodiscard]] static bool allows(const DisentangledOptions& options);
  /// @throws ShapeError if allows() is false
  explicit DisentangledTerm(const DisentangledOptions& options);

  /// The row of P and R for an offset. Larger offsets never have larger rows.
  [[nodiscard]] Index row(Index offset) const;

  [[nodiscard]] Index rows() const { return 2 * span_; }

 private:
  DisentangledOptions options_;
  Index span_;  ///< s
};

/// How attention uses relative positions, with or without a position table. Null members are not used.
struct PositionTerm {
  std::shared_ptr<const ScoreBias> added = nullptr;            ///< bias of the scaled scores at each offset
  std::shared_ptr<const RotaryTerm> turned = nullptr;          ///< rotates each query and key by its own position
  std::shared_ptr<const DisentangledTerm> compared = nullptr;  ///< compares tokens with vectors of relative positions

  explicit operator bool() const { return added || turned || compared; }
  /// "rotary", "disentangled terms" or the name of the bias; empty if all members are null.
  [[nodiscard]] const char* name() const {
    if (turned) return "rotary";
    if (compared) return "disentangled terms";
    return added ? added->name() : "";
  }
};

}  // namespace headwave
