#pragma once

#include <vector>

#include "../../core/numbers/matrix.h"
#include "../../core/numbers/random.h"

namespace headwave {

/// How often each of n documents is drawn in a sample of n with replacement.
///
/// @param documents  n >= 1
/// @returns (n)  whole numbers that sum to n
std::vector<double> drawn_times(Index documents, Random& random);

/// Ends of an interval of every head.
struct BootstrapInterval {
  Vector lower, upper;  ///< (rows)  NaN: undefined
};

/// Expanded percentile intervals of what resampled documents gave (tails.h, bootstrap_tail()).
///
/// @param drawn      (rows, resamples)
/// @param estimate   (rows)  of all documents; where it is NaN, or a resample's is, the interval is undefined
/// @param documents  n >= 2
/// @param coverage   in (0, 1)
/// @throws NumericError if documents or coverage is outside
BootstrapInterval bootstrap_interval(const Matrix& drawn, const Vector& estimate, Index documents, double coverage);

}  // namespace headwave
