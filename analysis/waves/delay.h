#pragma once

#include <vector>

#include "../../core/numbers/fft.h"
#include "../../core/numbers/matrix.h"

namespace headwave {

struct DelayOptions {
  Index reach = 64;      ///< delays are searched at |t| <= reach, in tokens
  Index oversample = 8;  ///< grid points per token before the maximum is refined
};

/// Delay between the queries and keys of one head.
struct Delay {
  double offset = 0;     ///< t^ in tokens, key minus query; NaN: the cross-spectrum is only rounding
  double coherence = 0;  ///< share of the cross-spectrum that agrees on t^; 1: the delay is the same at every frequency
  double runner_up = 0;  ///< offset of the second highest peak within the search, in tokens; NaN: there is none
  double runner_up_share = 0;  ///< height of that peak, relative to the highest
  bool at_edge = false;  ///< the maximum lies at the end of the search; D(t) may rise beyond, so t^ is no estimate
};

/// Finds the delay on which all frequencies together agree best.
///
///     t^ = argmax_{|t| <= reach} D(t),  D(t) = Re sum_{f > 0} m_f C(f) e^{2 pi i f t / T}      (1)
///     coherence = D(t^) / sum_{f > 0} m_f |C(f)|                                              (2)
///
/// C(f) = sum_c conj(F[q_c](f)) F[k_c](f) over a head's columns c, possibly weighted by gain. m_f is 2, but 1
/// at f = T/2. f = 0 is omitted, since a constant agrees with every delay. One frequency alone cannot tell
/// delays apart that differ by multiples of T / f (aliasing). Many frequencies together decide between such
/// delays, and the runner-up tells how close the decision was. The maximum is found on a grid and refined by
/// Newton's method, so t^ need not be a whole number. If reach is T / 2 or more, the search ends at T / 2,
/// where left and right are the same.
///
/// Source: this project; the phases that it combines are those of Yamamoto and Matsuzaki 2023, section 3.5.
/// @param cross   (floor(T/2) + 1, heads)  one C(f) per column
/// @param length  T
/// @returns one Delay per column
/// @throws ShapeError if the number of rows is not floor(T/2) + 1
std::vector<Delay> delays(const MatrixC& cross, Index length, const DelayOptions& options = {});

/// The delay at each single frequency, t^(f) = -T arg C(f) / (2 pi f). Multiples of T / f can be added to it.
/// @returns (floor(T/2) + 1, heads)  in tokens; NaN at f = 0 and if C(f) is 0; -1 or 0 at T/2 (C is real)
Matrix delay_by_frequency(const MatrixC& cross, Index length);

}  // namespace headwave
