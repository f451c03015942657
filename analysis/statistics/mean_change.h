#pragma once

#include <cstdint>
#include <vector>

#include "../../core/numbers/matrix.h"

namespace headwave {

struct MeanChangeOptions {
  double level = 0.05;  ///< probability that any change is found although there is none
  Index draws = 999;    ///< random assignments of the blocks; below 2 / level - 1 none can find a change
  Index block = 0;      ///< consecutive documents that stay together; 0: as many as the level allows
  std::uint64_t seed = 1;
  int threads = 1;  ///< over rows; does not change results
};

/// Differences of means between two sets of documents, with simultaneous bands for all entries.
struct MeanChange {
  Matrix first, second;  ///< (rows, columns)  means over blocks; NaN: undefined in a document of that set
  Matrix error;          ///< (rows, columns)  standard error of second - first; NaN: not tested
  Matrix rounding;       ///< (rows, columns)  differences up to this count as none
  double factor = 0;     ///< half width of every band, in standard errors; infinite: too few blocks to find a change
  bool paired = false;
  Index block = 1;  ///< smallest number of documents in a block
  Index first_blocks = 0, second_blocks = 0;
  double least_level = 1;  ///< smallest level at which so many blocks can find a change

  /// Half width of the band around second - first; NaN: not tested.
  [[nodiscard]] double half_width(Index row, Index column) const {
    return factor * error(row, column) + rounding(row, column);
  }
  [[nodiscard]] double difference(Index row, Index column) const { return second(row, column) - first(row, column); }
  /// Whether the band excludes 0.
  [[nodiscard]] bool beyond(Index row, Index column) const;
};

/// Tests whether means over documents differ between two sets, with simultaneous bands for all entries.
///
///     t_e = (mean second_e - mean first_e) / s_e,   s_e^2 = v1_e / n1 + v2_e / n2                (1)
///     t_e = mean d_e / s_e,   s_e^2 = v_e / n,   d = second - first, document by document        (2)
///     band_e = (mean second_e - mean first_e) +- (c s_e + r_e),   t_e = max(0, |difference_e| - r_e) / s_e  (3)
///
/// All means and variances are over n blocks of consecutive documents. (1) is for sets of different
/// documents: draws assign the blocks to the sets at random. (2) is for the same documents measured twice:
/// draws flip the signs of the blocks' differences at random. c is the (floor(level (draws + 1)))-th largest
/// of max_e |t_e| over the draws and the observed assignment. If nothing changed, the probability that any
/// band of any row excludes 0 is at most `level`, whatever the distribution and the correlation of entries.
/// (1) needs exchangeable blocks; (2) needs differences that are as likely as their opposites.
///
/// Consecutive documents, for example of one article, are more alike than distant ones, and s_e over single
/// documents would be too small. Blocks therefore have at least `block` documents, are as equal in size as
/// possible, and count alike. Few documents do not show how far the similarity reaches, so by default blocks
/// are as long as the level allows: for 0.05 there are 4 in each set or 6 of pairs, for half of it 5 or 7.
/// Long blocks cost power, which more documents restore. Similarity beyond a block still shows as a change,
/// and so does a set that is from one article as a whole.
///
/// With few blocks no assignment is rare enough. The observed one is 1 of (n1 + n2 over n1), or of 2^n for
/// pairs, and for pairs or n1 = n2 its mirror image is as extreme. No change is found if `level` is below
/// this share, `least_level`. r is the rounding of float32 attention, 8 eps of the mean size; r^2 is added to
/// s^2, so that differences between processors are no change. Undefined entries are omitted.
///
/// Source: Westfall and Young 1993, single-step maxT; (1) Welch 1947, doi:10.1093/biomet/34.1-2.28; blocks:
/// Künsch 1989, doi:10.1214/aos/1176347265, for the bootstrap; the length of blocks is this project's.
/// @param first   (n1) documents, each (rows, columns), at least one; NaN: undefined
/// @param second  (n2) documents of that shape, at least one
/// @param paired  document i of both is the same text
/// @throws NumericError if level is outside (0, 1), draws < 1 or block < 0
MeanChange mean_change(const std::vector<Matrix>& first, const std::vector<Matrix>& second, bool paired,
                       const MeanChangeOptions& options = {});

/// Smallest number of blocks, in each of two equal sets or of pairs, that lets mean_change() find a change.
Index blocks_for(double level, bool paired);

}  // namespace headwave
