#pragma once

#include <vector>

#include "../../core/numbers/fft.h"
#include "../../core/numbers/matrix.h"

namespace headwave {

struct DelayOptions {
  Index reach = 64;      ///< delays are searched at |t| <= reach, in tokens
  Index oversample = 8;  ///< grid points per token before the maximum is refined
};

/// The delay between queries and keys of one head, and how much of the cross-spectrum agrees with it.
struct Delay {
  double offset = 0;           ///< t^ in tokens, key minus query; NaN: nothing but rounding in the cross-spectrum
  double coherence = 0;        ///< share of the modulus that adds up at t^; 1: one delay at every frequency
  double runner_up = 0;        ///< offset of the next peak within the search, tokens; NaN: there is none
  double runner_up_share = 0;  ///< its height over the highest
  bool at_edge = false;        ///< the highest value lies at the end of the search, where D(t) was cut off: no estimate
};

/// The delay that all frequencies together agree on best.
///
///     t^ = argmax_{|t| <= reach} D(t),  D(t) = Re sum_{f > 0} m_f C(f) e^{2 pi i f t / T}      (1)
///     coherence = D(t^) / sum_{f > 0} m_f |C(f)|                                              (2)
///
/// C(f) = sum_c conj(F[q_c](f)) F[k_c](f) over a head's columns, or those weighted by gain; m_f = 2, but 1 at
/// f = T/2. f = 0 is left out: a constant agrees with every delay. One frequency alone fixes a delay only up
/// to T / f (aliasing); many together do not leave that choice, and the runner-up tells how close another
/// came. The maximum is found on a grid and refined by Newton's method on D'(t) = 0: no whole tokens. A
/// maximum at |t| = reach is marked: the search ends there, so D(t) may rise further. Where reach is T / 2 or more
/// that end is T / 2, where left and right are one.
///
/// Source: this project's; the phases it combines are those of Yamamoto and Matsuzaki 2023, section 3.5.
/// @param cross   (floor(T/2) + 1, heads)  one C(f) per column
/// @param length  T
/// @returns one Delay per column
/// @throws ShapeError if the number of rows is not floor(T/2) + 1
std::vector<Delay> delays(const MatrixC& cross, Index length, const DelayOptions& options = {});

/// The delay of every frequency by itself, t^(f) = -T arg C(f) / (2 pi f), f = 1 .. floor(T/2): known up to T
/// / f.
/// @returns (floor(T/2) + 1, heads)  in tokens; NaN at f = 0 and where C(f) is zero; at f = T/2, where C is real, -1 or 0
Matrix delay_by_frequency(const MatrixC& cross, Index length);

}  // namespace headwave
