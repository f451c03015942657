#pragma once

#include <utility>

#include "../numbers/matrix.h"

namespace headwave {

/// How a model stretches its rotary frequencies to texts longer than it was trained on.
enum class RotaryScaling { none, linear, dynamic, llama3, yarn };

/// Which two channels are rotated together: m and m + r/2 (Hugging Face), or 2m and 2m + 1 (the paper).
enum class RotaryPairing { halves, neighbours };

struct RotaryOptions {
  Index channels = 0;  ///< r, how many of a head's first channels turn; even
  double base = 10000;
  RotaryPairing pairing = RotaryPairing::halves;
  RotaryScaling scaling = RotaryScaling::none;
  double factor = 1;            ///< s, how many times longer
  double trained = 0;           ///< M, tokens the model was trained on; all but none and linear
  double low = 1, high = 4;     ///< llama3: turns within M below and above which all and nothing is stretched
  double fast = 32, slow = 1;   ///< yarn: turns within M between which the stretching fades in
  bool whole_channels = true;   ///< yarn: the fading begins and ends at whole channels
  double attention_factor = 1;  ///< yarn: multiplies queries and keys
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
/// fade between.
///
/// Source: Su et al. 2021, equation 34; Peng et al. 2023 (yarn); Grattafiori et al. 2024 (llama3).
class RotaryTerm {
 public:
  /// @throws ShapeError if channels is odd or not above 0
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

}  // namespace headwave
