#pragma once

#include "../numbers/matrix.h"
#include "model.h"

namespace headwave {

/// How far a position table was trained.
struct TrainedRows {
  Index trained = 0;          ///< rows 0 .. trained - 1 hold positions that were learned
  Index rows = 0;             ///< rows of the table; equal to `trained` if no row looks untrained
  double trained_norm = 0;    ///< median norm of the trained rows
  double untrained_norm = 0;  ///< median norm of the rows after them; 0 where there are none, or they are zero

  [[nodiscard]] bool all() const { return trained == rows; }
};

/// The rows at the end of a position table that no training text reached still hold their initial values:
/// independent random numbers, or zeros. With s^2 the median squared norm of the last rows, a row x_n looks
/// learned if
///
///     |x_n|^2 > (1 + a) s^2,   or |x_n|^2 < (1 - a / 2) s^2,   or cos(x_n, x_{n-1}) > c          (1)
///     a = max(1, 3 sqrt(2 / d)),   c = max(1/2, 2.5 / sqrt(d))
///
/// that is, if its norm differs from that of initial values, or if it is more similar to the row before it
/// than random rows of d dimensions hardly ever are. The boundary b is where most rows before it look learned
/// and most after it do not,
///
///     b = argmax (learned rows before b + other rows from b on)                                  (2)
///
/// The rows from b on count as untrained if there are at least `fewest_untrained`, if three quarters of those
/// before b look learned, and if the second half of the rows from b on, which training texts have not reached
/// even now and then, looks like independent numbers, while the rows before b fail (4):
///
///     spread of norms <= 2 / sqrt(2 d) of their mean                                             (3)
///     mean squared cosine of two of them <= (1 + 4 sqrt(2 / pairs)) / d                          (4)
///
/// (4) says that rows spread over as many directions as random ones: their participation ratio is that of
/// noise. A table that is random all over, whatever the norms of its rows, counts as trained, as does a
/// sinusoidal one. Rows of padding at the beginning do not matter.
///
/// What it leaves out: untrained rows in the middle of a table, or fewer than `fewest_untrained` of them.
///
/// @param table  (positions, d)
TrainedRows trained_rows(MatrixView32 table);

/// Fewer rows than this tell nothing about a table's end.
constexpr Index fewest_untrained = 8;

/// How many rows of the position table analyses of it read: the first `asked`, as many as there are at most;
/// 0: those that were trained.
Index rows_to_read(const Stack& stack, Index asked);

}  // namespace headwave
