#pragma once

#include <vector>

#include "../../core/numbers/matrix.h"

namespace headwave {

/// The value below which a share q of the values lies, interpolated linearly between the two nearest.
///
///     h = (n - 1) q,    x_(floor h) + (h - floor h) (x_(floor h + 1) - x_(floor h))           (1)
///
/// with x_(0) <= ... <= x_(n-1): definition 7 of Hyndman and Fan, numpy's default.
///
/// Source: Hyndman and Fan 1996, doi:10.1080/00031305.1996.10473566.
/// @param values  (n)  n >= 1, any order, no NaN
/// @param q       in [0, 1]; 0.5 is the median
/// @throws ShapeError if there are no values; NumericError if q is outside [0, 1] or a value is NaN
double quantile(std::vector<double> values, double q);

/// Equation (1) of every row: what a head's resamples or draws under a null come to.
///
/// @param draws  (rows, draws)
/// @param q      in [0, 1]
/// @returns (rows)  NaN where a draw is not finite, or there is none
/// @throws NumericError if q is outside [0, 1]
Vector row_quantiles(const Matrix& draws, double q);

}  // namespace headwave
