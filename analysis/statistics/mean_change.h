#pragma once

#include <cstdint>
#include <vector>

#include "../../core/numbers/matrix.h"

namespace headwave {

struct MeanChangeOptions {
  double level = 0.05;  ///< probability that any change is found although there is none
  Index draws = 999;    ///< number of random assignments of the blocks; below 2 / level - 1 no change can be found
  Index block = 0;      ///< number of consecutive documents that stay together; 0: as many as the level allows
  std::uint64_t seed = 1;
  int threads = 1;  ///< threads over rows; does not change results
};

/// Differences of means between two sets of documents, with simultaneous bands for all entries.
struct MeanChange {
  Matrix first, second;  ///< (rows, columns)  means over blocks; NaN: a document of that set does not define it
  Matrix error;          ///< (rows, columns)  standard error of second - first; NaN: not tested
  Matrix rounding;       ///< (rows, columns)  differences up to this size count as rounding, not as a change
  double factor = 0;     ///< half width of every band, in standard errors; infinite: too few blocks to find a change
  bool paired = false;
  Index block = 1;  ///< smallest number of documents in a block
  Index first_blocks = 0, second_blocks = 0;
  double least_level = 1;  ///< smallest level at which a change can be found with this number of blocks

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
/// documents, and its draws assign the blocks to the sets at random. (2) is for the same documents measured
/// twice, and its draws flip the signs of the blocks' differences at random. Take max_e |t_e| of every draw
/// and of the observed assignment: c is the k-th largest of these numbers, with k = floor(level (draws + 1)).
/// If nothing changed, the probability that any band of any row excludes 0 is at most `level`. This holds for
/// every distribution of the entries and every correlation between them. (1) assumes that blocks are
/// exchangeable. (2) assumes that every difference is as likely as its opposite.
///
/// Consecutive documents, for example of one article, are more alike than distant ones, so s_e over single
/// documents would be too small. Blocks therefore have at least `block` documents, are as equal in size as
/// possible, and have the same weight. Few documents do not show how far the similarity reaches, so by
/// default blocks are as long as the level allows. For level 0.05 there are 4 blocks in each set, or 6 blocks
/// of pairs; for level 0.025 there are 5 or 7. Long blocks cost power, which more documents restore.
/// Similarity beyond a block still shows as a change, and so does a set from one article.
///
/// With few blocks no assignment is rare enough. The observed assignment is one of (n1 + n2 over n1)
/// assignments, or of 2^n for pairs. For pairs, and if n1 = n2, its mirror image is as extreme and counts,
/// too. The share of these extreme assignments is `least_level`. No change is found if `level` is smaller. r
/// is the rounding of float32 attention, 8 eps times the mean size of the entry. r^2 is added to s^2, so that
/// differences between processors do not count as changes. Undefined entries are omitted.
///
/// Source: Westfall and Young 1993, single-step maxT; (1) Welch 1947, doi:10.1093/biomet/34.1-2.28; blocks:
/// Künsch 1989, doi:10.1214/aos/1176347265, for the bootstrap; the length of blocks is this project's.
/// @param first   (n1) documents, each (rows, columns), at least one; NaN: undefined
/// @param second  (n2) documents of the same shape, at least one
/// @param paired  whether document i of both sets is the same text
/// @throws NumericError if level is outside (0, 1), draws < 1 or block < 0
MeanChange mean_change(const std::vector<Matrix>& first, const std::vector<Matrix>& second, bool paired,
                       const MeanChangeOptions& options = {});

/// Smallest number of blocks, in each of two sets or of pairs, with which mean_change() can find a change.
Index blocks_for(double level, bool paired);

}  // namespace headwave
