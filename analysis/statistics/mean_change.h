#pragma once

#include <cstdint>
#include <vector>

#include "../../core/numbers/matrix.h"

namespace headwave {

struct MeanChangeOptions {
  double level = 0.05;  ///< chance that anything at all is called changed where nothing is
  Index draws = 999;    ///< other assignments of the documents; with fewer than 2 / level none can call a change
  std::uint64_t seed = 1;
  int threads = 1;  ///< over rows; changes no digit
};

/// How means over documents differ between two sets of documents, with bands that hold for all entries together.
struct MeanChange {
  Matrix first, second;  ///< (rows, columns)  means; NaN: undefined in a document of that set
  Matrix error;          ///< (rows, columns)  standard error of second - first; NaN where it is not tested
  Matrix rounding;       ///< (rows, columns)  differences up to this are none
  double factor = 0;     ///< half width of every band, in standard errors; infinite: too few documents to call anything
  bool paired = false;

  /// Half width of the band about second - first; NaN where it is not tested.
  [[nodiscard]] double half_width(Index row, Index column) const {
    return factor * error(row, column) + rounding(row, column);
  }
  [[nodiscard]] double difference(Index row, Index column) const { return second(row, column) - first(row, column); }
  /// Whether the band leaves 0 out.
  [[nodiscard]] bool beyond(Index row, Index column) const;
};

/// Differences of means over documents, entry by entry, with bands from the largest of all.
///
///     t_e = (mean second_e - mean first_e) / s_e,   s_e^2 = v1_e / n1 + v2_e / n2                (1)
///     t_e = mean d_e / s_e,   s_e^2 = v_e / n,   d = second - first, document by document        (2)
///     band_e = (mean second_e - mean first_e) +- (c s_e + r_e),   t_e = max(0, |difference_e| - r_e) / s_e  (3)
///
/// (1) of different documents, which are dealt out again; (2) of the same documents twice, whose differences change
/// their signs. c is the (floor(level (draws + 1)))-th largest of max_e |t_e|, the observed one and every draw's: where
/// documents of both sets are alike, the chance that any band of any row leaves 0 out is at most `level`, whatever the
/// distribution and however entries go together. With (1) the documents must be exchangeable, of one length say; with
/// (2) a difference must be as likely as its opposite.
///
/// r is the rounding of float32 attention, 8 eps of the mean size, below which s is never taken: numbers that differ by
/// what another processor rounds are the same. Entries that a document does not define are left out. Of fewer than
/// 4 documents in each set, or than 6 that are the same, no assignment is rare enough for level 0.05, and nothing is called.
///
/// Source: Westfall and Young 1993, single-step maxT; (1) Welch 1947, doi:10.1093/biomet/34.1-2.28.
/// @param first   (n1) documents, each (rows, columns); NaN: undefined
/// @param second  (n2) documents of that shape
/// @param paired  document i of both is the same text
/// @throws ShapeError if the shapes differ, a set has no document, or the paired are not as many; NumericError if level
///         is outside (0, 1) or draws < 1
MeanChange mean_change(const std::vector<Matrix>& first, const std::vector<Matrix>& second, bool paired,
                       const MeanChangeOptions& options = {});

}  // namespace headwave
