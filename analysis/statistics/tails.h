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

}  // namespace headwave
