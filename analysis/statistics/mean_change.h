#pragma once

#include <cstdint>
#include <vector>

#include "../../core/numbers/matrix.h"

namespace headwave {

struct MeanChangeOptions {
  double level = 0.05;  ///< chance that any change is called although there is none
  Index draws = 999;    ///< other assignments of the blocks; with fewer than 1 / level none can call a change
  Index block = 0;      ///< documents in a row that stay together; 0: as many as leave the level within reach
  std::uint64_t seed = 1;
  int threads = 1;  ///< over rows; does not change results
};

/// Differences of means between two sets of documents, with simultaneous bands for all entries.
struct MeanChange {
  Matrix first, second;  ///< (rows, columns)  means over blocks; NaN: undefined in a document of that set
  Matrix error;          ///< (rows, columns)  standard error of second - first; NaN where it is not tested
  Matrix rounding;       ///< (rows, columns)  differences up to this count as none
  double factor = 0;     ///< half width of every band, in standard errors; infinite: too few blocks to call a change
  bool paired = false;
  Index block = 1;  ///< documents in a block, at least
  Index first_blocks = 0, second_blocks = 0;
  double least_level = 1;  ///< the smallest level at which so many blocks could call anything

  /// Half width of the band about second - first; NaN where it is not tested.
  [[nodiscard]] double half_width(Index row, Index column) const {
    return factor * error(row, column) + rounding(row, column);
  }
  [[nodiscard]] double difference(Index row, Index column) const { return second(row, column) - first(row, column); }
  /// Whether the band excludes 0.
  [[nodiscard]] bool beyond(Index row, Index column) const;
};

/// Differences of means over documents, entry by entry, with bands from the largest of all.
///
///     t_e = (mean second_e - mean first_e) / s_e,   s_e^2 = v1_e / n1 + v2_e / n2                (1)
///     t_e = mean d_e / s_e,   s_e^2 = v_e / n,   d = second - first, document by document        (2)
///     band_e = (mean second_e - mean first_e) +- (c s_e + r_e),   t_e = max(0, |difference_e| - r_e) / s_e  (3)
///
/// n counts blocks of documents in a row, d, v and the means are of blocks. (1) of different documents, whose
/// blocks are dealt out again; (2) of the same documents twice, whose blocks of differences change their
/// signs. c is the (floor(level (draws + 1)))-th largest of max_e |t_e|, the observed one and every draw's:
/// where blocks of both sets are alike, the chance that any band of any row leaves 0 out is at most `level`,
/// whatever the distribution and however entries go together. With (1) the blocks must be exchangeable, with
/// (2) a block's difference as likely as its opposite.
///
/// Documents that follow one another, of one article say, are more alike than those of two places: of single
/// ones s_e would be too small. Both sets have blocks of `block` documents, one more in some where they do
/// not come out even, and every block counts alike. How far likeness reaches few documents do not tell, so
/// blocks are as long as the level lets them: for 0.05 4 in each set or 6 of pairs, for half of it 5 or 7.
/// Long blocks cost power; more documents give it back. What is alike over more than a block still shows as a
/// change, and so does a set that is of one article as a whole.
///
/// Of few blocks no assignment is rare enough: the observed one is 1 of (n1 + n2 over n1), of pairs 1 of 2^n,
/// and its mirror image as extreme. Nothing is called where `level` is below that, `least_level`. r is the
/// rounding of float32 attention, 8 eps of the mean size, below which s is never taken: numbers that differ
/// by what another processor rounds are the same. Entries that a document does not define are left out.
///
/// Source: Westfall and Young 1993, single-step maxT; (1) Welch 1947, doi:10.1093/biomet/34.1-2.28; blocks: Künsch
/// 1989, doi:10.1214/aos/1176347265, for the bootstrap; how long is this project's.
/// @param first   (n1) documents, each (rows, columns), at least one; NaN: undefined
/// @param second  (n2) documents of that shape, at least one
/// @param paired  document i of both is the same text
/// @throws NumericError if level is outside (0, 1), draws < 1 or block < 0
MeanChange mean_change(const std::vector<Matrix>& first, const std::vector<Matrix>& second, bool paired,
                       const MeanChangeOptions& options = {});

/// The fewest blocks, in each of two equally large sets or of pairs, with which mean_change() can call a
/// change at a level.
Index blocks_for(double level, bool paired);

}  // namespace headwave
