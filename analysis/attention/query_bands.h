#pragma once

#include <algorithm>
#include <vector>

#include "../../core/numbers/matrix.h"

namespace headwave {

/// Neighbouring query positions taken together, and the offsets that their keys can have.
///
/// Every band is as wide as the smallest power of two with which no more than so many bands cover T queries; the last one
/// ends with T. So the bands of most jobs have the same edges, whatever their longest document. Sums over the diagonals
/// of all bands stand one behind the other, offsets ascending within a band: fewer than (bands + 1) T numbers.
class QueryBands {
 public:
  QueryBands() = default;
  /// @param length  T of the longest document, in tokens
  /// @param most    bands at most, >= 1
  /// @param causal  keys do not stand behind their query
  QueryBands(Index length, Index most, bool causal);

  [[nodiscard]] Index count() const { return static_cast<Index>(starts_.size()) - 1; }
  [[nodiscard]] Index width() const { return width_; }    ///< queries
  [[nodiscard]] Index length() const { return length_; }  ///< T
  [[nodiscard]] bool causal() const { return causal_; }
  [[nodiscard]] Index band_of(Index query) const { return query / width_; }

  /// Queries first(b) .. end(b) - 1.
  [[nodiscard]] Index first(Index band) const { return band * width_; }
  [[nodiscard]] Index end(Index band) const { return std::min(length_, first(band) + width_); }
  /// Offsets lowest(b) .. highest(b), key minus query.
  [[nodiscard]] Index lowest(Index band) const { return 1 - end(band); }
  [[nodiscard]] Index highest(Index band) const { return causal_ ? 0 : length_ - 1 - first(band); }

  /// Sums over all diagonals of all bands.
  [[nodiscard]] Index columns() const { return starts_.back(); }
  /// Where the diagonal t of a band stands among them.
  [[nodiscard]] Index column(Index band, Index t) const {
    return starts_[static_cast<std::size_t>(band)] + t - lowest(band);
  }

  /// How many pairs (i, i+t) of a band there are in a document.
  /// @param tokens  of the document, at most T
  /// @param window  keys this far away are masked, |i - j| < window; 0: no limit
  [[nodiscard]] Index pairs(Index band, Index t, Index tokens, Index window) const;

 private:
  Index width_ = 1, length_ = 0;
  bool causal_ = false;
  std::vector<Index> starts_{0};  ///< (count + 1)
};

/// Neighbouring offsets taken together: first <= t <= last.
struct OffsetBin {
  Index first = 0, last = 0;

  /// Where it stands on an axis: the offset itself, or the middle of several.
  [[nodiscard]] double middle() const { return 0.5 * static_cast<double>(first + last); }
};

constexpr Index bins_per_doubling = 4;

/// Offsets -(T-1) .. T-1, ascending: each by itself up to the reach, then in bins whose edges lie at
/// (reach + 1) 2^(k/4), the last cut off where T ends; under a causal mask t <= 0 alone.
std::vector<OffsetBin> offset_bins(Index length, Index reach, bool causal);

}  // namespace headwave
