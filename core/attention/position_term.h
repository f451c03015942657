#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "../numbers/matrix.h"

namespace headwave {

/// interleaved: sine and cosine of a frequency side by side (the paper); concatenated: all sines, then all
/// cosines.
enum class SinusoidLayout { interleaved, concatenated };

struct SinusoidOptions {
  SinusoidLayout layout = SinusoidLayout::interleaved;
  double base = 10000;
  Index first = 0;  ///< position of token 0
  bool last_is_base =
      false;  ///< the slowest frequency is exactly 1/base (tensor2tensor's spacing), not one step faster
};

/// The original Transformer's position table.
///
///     PE(n, sine i)   = sin(n w_i),   PE(n, cosine i) = cos(n w_i)                            (1)
///     w_i = base^(-2i/d), i = 0 .. d/2 - 1                                                    (2)
///
/// Source: Vaswani et al. 2017, section 3.5.
/// @param d_model  d, even
/// @returns (length, d)
/// @throws ShapeError if d is odd or below 2
Matrix32 sinusoids(Index length, Index d_model, const SinusoidOptions& options = {});

/// A bias that is added to the scaled scores and depends on the offset alone: an exact Toeplitz matrix.
class ScoreBias {
 public:
  ScoreBias() = default;
  ScoreBias(const ScoreBias&) = delete;
  ScoreBias& operator=(const ScoreBias&) = delete;
  virtual ~ScoreBias() = default;

  /// "linear bias", "relative buckets".
  [[nodiscard]] virtual const char* name() const = 0;

  /// The bias of a head at offsets t = -reach .. reach, key minus query.
  /// @returns (2 reach + 1)
  [[nodiscard]] virtual Vector kernel(Index head, Index reach) const = 0;
};

/// Linear biases (ALiBi): slope_h * t is added to the scaled score, t = key minus query, the slopes a
/// geometric sequence in the heads.
///
///     slope_h = 2^(-8 (h+1) / H)  where the number of heads H is a power of two               (1)
///
/// For other H the slopes are those of the power of two below, then every second one of the power above.
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

/// Biases given for every head and offset; zero at offsets beyond those.
class OffsetBias : public ScoreBias {
 public:
  /// @param bias  (heads, 2 reach + 1)  at offsets t = -reach .. reach, key minus query
  /// @throws ShapeError if the number of offsets is even
  explicit OffsetBias(Matrix bias);

  [[nodiscard]] const char* name() const override { return "offset bias"; }
  [[nodiscard]] Vector kernel(Index head, Index reach) const override;

 private:
  Matrix bias_;
};

struct BucketOptions {
  Index farthest = 128;       ///< distances from here on share the last bucket
  bool bidirectional = true;  ///< half of the buckets for keys to the right; otherwise these share bucket 0
};

/// Learned biases per head and bucket of distances (T5's relative attention): near distances have a bucket
/// each, far ones share buckets whose widths grow geometrically.
///
/// Source: Raffel et al. 2020, section 2.1.
class BucketBias : public ScoreBias {
 public:
  /// @param bias  (buckets, heads)
  /// @throws ShapeError if there are fewer than two buckets a side, or no distances beyond the single ones
  BucketBias(MatrixView32 bias, const BucketOptions& options);

  [[nodiscard]] const char* name() const override { return "relative buckets"; }
  [[nodiscard]] Vector kernel(Index head, Index reach) const override;

  /// Bucket of an offset, key minus query.
  [[nodiscard]] Index bucket(Index offset) const;

 private:
  Matrix bias_;
  BucketOptions options_;
};

/// How a model stretches its rotary frequencies to texts longer than it was trained on.
enum class RotaryScaling { none, linear, dynamic, llama3, yarn, longrope, proportional };

/// Which two channels are rotated together: m and m + r/2 (Hugging Face), or 2m and 2m + 1 (the paper).
enum class RotaryPairing { halves, neighbours };

struct RotaryOptions {
  Index channels = 0;  ///< r, how many of a head's channels turn; even
  Index first = 0;     ///< the first of them
  double base = 10000;
  RotaryPairing pairing = RotaryPairing::halves;
  RotaryScaling scaling = RotaryScaling::none;
  double factor = 1;            ///< s, how many times longer
  double trained = 0;           ///< M, tokens the model was trained on; not of none, linear, proportional
  double low = 1, high = 4;     ///< llama3: turns within M below and above which all and nothing is stretched
  double fast = 32, slow = 1;   ///< yarn: turns within M between which the stretching fades in
  bool whole_channels = true;   ///< yarn: the fading begins and ends at whole channels
  double attention_factor = 1;  ///< yarn, longrope: multiplies queries and keys
  std::vector<double> short_factors = {}, long_factors = {};  ///< longrope: (r/2) up to M tokens, and beyond
  double share = 1;  ///< proportional: of the pairs, the fastest, that turn; the others stand still
};

/// The two channels x_a, x_b of a head that turn together as pair m.
/// @param pair  m, 0 .. r/2 - 1, the fastest first
std::pair<Index, Index> channels_of(const RotaryOptions& options, Index pair);

/// Rotary positions (RoPE): channel pair m of a head at position n is turned by n f_m.
///
///     (x_a, x_b) -> (x_a cos n f_m - x_b sin n f_m, x_b cos n f_m + x_a sin n f_m)          (1)
///     f_m = base^(-2m/r), m = 0 .. r/2 - 1                                                  (2)
///
/// so q_i . k_j depends on j - i alone. The scalings change (2): linear f / s; dynamic raises the base once a
/// text is longer than M; llama3 and yarn divide the slow frequencies by s and leave the fast ones, with a
/// fade between; longrope divides each by a factor of its own, one up to M tokens and another beyond;
/// proportional lets the slowest pairs stand still and divides the others by s.
///
/// Source: Su et al. 2021, equation 34; Peng et al. 2023 (yarn); Grattafiori et al. 2024 (llama3); Ding et
/// al. 2024 (longrope); Barbero et al. 2025 (proportional).
class RotaryTerm {
 public:
  /// @throws ShapeError if channels is odd or not above 0, or longrope has not a factor for each pair
  explicit RotaryTerm(const RotaryOptions& options);

  /// Turns the queries or keys of a whole sequence in place; row n stands at position n.
  /// @param rows  (T, heads * d_head)
  void turn(Matrix32& rows, Index d_head) const;
  void turn(Matrix& rows, Index d_head) const;

  /// The factor by which the rotation changes q.k of equal vectors at offsets t = -reach .. reach, averaged
  /// over channels.
  /// @returns (2 reach + 1)
  [[nodiscard]] Vector kernel(Index reach) const;

  /// @returns (r/2) f in radians per token, for a text of that many tokens
  [[nodiscard]] Vector frequency(Index length) const;
  [[nodiscard]] const RotaryOptions& options() const { return options_; }

 private:
  RotaryOptions options_;
};

struct DisentangledOptions {
  Index farthest = 512;  ///< M: offsets from here on share a row; with buckets, the largest offset they cover
  Index buckets = 0;     ///< b, rows on each side: near offsets have one each, far ones share; 0: one per offset
};

/// Disentangled attention (DeBERTa): queries and keys are also compared with vectors of relative positions.
///
///     S_ij = scale (q_i . k_j + q_i . P[row(j - i)] + k_j . R[row(j - i)])                    (1)
///     row(t) = s + bucket(-t), kept within 0 .. 2 s - 1                                       (2)
///     bucket(n) = n where |n| <= b / 2, else
///                 sign(n) (b/2 + ceil((b/2 - 1) ln(|n| / (b/2)) / ln((M - 1) / (b/2))))       (3)
///
/// P and R are each head's position keys and position queries (HeadInputs), one row for every vector of
/// relative positions as the layer projects it; s = b, and without buckets s = M and bucket(n) = n. What is
/// added depends on the tokens at both positions, so it has no kernel of offsets; attend() computes it tile
/// by tile.
///
/// Source: He et al. 2021 (DeBERTa), equation 4; He, Gao and Chen 2023 (DeBERTaV3). Both terms read row(j -
/// i), as the published code does.
class DisentangledTerm {
 public:
  /// Whether (3) can be evaluated: M at least 1, and b either 0 or at least 2 with b / 2 < M - 1.
  [[nodiscard]] static bool allows(const DisentangledOptions& options);
  /// @throws ShapeError if allows() does not
  explicit DisentangledTerm(const DisentangledOptions& options);

  /// The row of P and R for an offset, key minus query. Rows never increase with the offset.
  [[nodiscard]] Index row(Index offset) const;

  /// 2 s, the number of rows of P and of R.
  [[nodiscard]] Index rows() const { return 2 * span_; }

 private:
  DisentangledOptions options_;
  Index span_;  ///< s
};

class RotaryTerm;
class DisentangledTerm;

/// How attention takes relative positions into account, beside or instead of a position table: in one of
/// three ways, or not at all.
struct PositionTerm {
  std::shared_ptr<const ScoreBias> added = nullptr;    ///< to the scaled scores, by offset
  std::shared_ptr<const RotaryTerm> turned = nullptr;  ///< turns queries and keys, each by its own position
  /// Says which vectors of relative positions queries and keys are held against.
  std::shared_ptr<const DisentangledTerm> compared = nullptr;

  explicit operator bool() const { return added || turned || compared; }
  /// "rotary", "relative buckets", "linear bias", "disentangled terms"; empty: nothing.
  [[nodiscard]] const char* name() const {
    if (turned) return "rotary";
    if (compared) return "disentangled terms";
    return added ? added->name() : "";
  }
};

}  // namespace headwave
