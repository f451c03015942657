#pragma once

#include <limits>
#include <string>
#include <vector>

#include "../../core/numbers/matrix.h"

namespace headwave {

/// The part of an axis that shows some numbers; of one that runs the other way `low` is the larger.
struct ValueRange {
  double low = 0.0;
  double high = 1.0;
};

/// From zero, or a little below the smallest value where that is negative, to a little above the largest; what is not
/// finite does not count. Never empty: gnuplot fails on an empty range.
ValueRange range_with_zero(const std::vector<double>& values);

/// The finite values, and a part of their span below and above them; 0 to 1 where none is finite.
ValueRange range_around(const std::vector<double>& values, double room);

/// A round distance between tics, 1, 2 or 5 times a power of ten, that puts about four into a range.
/// @param range  > 0
double tic_step(double range);

/// A tic that has a name instead of a number.
struct Tic {
  double place = 0.0;
  std::string name;
};

/// How an axis' numbers are written: with room for a sign before them, without, not at all.
enum class Numbers { aligned, plain, none };

/// The tics of an axis.
struct Tics {
  double step = 0.0;                                        ///< 0: wherever they are round
  double first = std::numeric_limits<double>::quiet_NaN();  ///< none below; NaN: from the end of the axis
  std::vector<Tic> named = {};                              ///< where there are any, these alone
  Numbers numbers = Numbers::aligned;
  double points = 0.0;  ///< size of letters; 0: as elsewhere
  double away = 0.0;    ///< letters by which names are moved from the axis; below 0 towards it
  bool upward = false;  ///< read from below
};

/// Names for lines 0, 1, ... of a grid, every n-th of them, so that they do not touch.
std::vector<Tic> every_nth(const std::vector<Index>& numbers, std::size_t n);

/// 1, 2 and 5 times powers of ten within a range; a few tic_step()s apart where a narrow one holds fewer than two of these.
/// @param range  above 0
std::vector<Tic> round_tics(const ValueRange& range);

}  // namespace headwave
