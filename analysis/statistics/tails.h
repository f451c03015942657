#pragma once

#include "../../core/numbers/matrix.h"

namespace headwave {

/// The z that a normal number of mean 0 and deviation 1 exceeds with this probability.
///
/// @param tail  in (0, 1)
/// @throws NumericError if it is outside
double normal_quantile(double tail);

/// The same of Student's t.
///
/// @param degrees  of freedom, > 0
/// @throws NumericError if tail or degrees is outside
double student_quantile(double tail, double degrees);

/// Which tail of a bootstrap distribution stands for a tail of the truth where documents are few.
///
///     tail' = Phi(-sqrt(n / (n - 1)) t),   P(Student's t with n - 1 degrees > t) = tail       (1)
///
/// Percentile intervals of a mean over n are too narrow by sqrt((n - 1) / n), since the resampled variance divides by
/// n, and by the normal for Student's quantile: 90 % intervals of 20 documents cover 87 %, of 5 documents 78 %. The
/// percentiles tail' and 1 - tail' make up for both; as n grows tail' becomes tail.
///
/// Source: Hesterberg 2015, doi:10.1080/00031305.2015.1089789, expanded percentile intervals.
/// @param tail  in (0, 1/2)
/// @param n     documents, 2 or more
/// @throws NumericError if tail or n is outside
double bootstrap_tail(double tail, Index n);

/// What a sum of independent numbers exceeds its mean by with at most this probability, however skew they are.
///
///     x = L m / 3 + sqrt((L m / 3)^2 + 2 L v),   L = -log tail                                (2)
///
/// Larger than the normal quantile, the more so the fewer numbers make up the sum: a few large weights prove little.
///
/// Source: Bernstein's inequality, as in Boucheron, Lugosi and Massart 2013, doi:10.1093/acprof:oso/9780199535255.001.0001,
/// corollary 2.11.
/// @param tail      in (0, 1)
/// @param variance  v of the sum, >= 0
/// @param largest   m, by which no number exceeds its mean, >= 0
/// @throws NumericError if one of them is outside
double largest_excess(double tail, double variance, double largest);

}  // namespace headwave
