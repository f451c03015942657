#pragma once

#include <string>
#include <vector>

#include "../../core/fields/field.h"

namespace headwave {

/// What offset_by_query found of every head, and an axis to draw it along: offsets up to the reach a unit each, bins beyond
/// a few units each, and a little room between the two.
struct OffsetBands {
  static constexpr const char* profile_name = "offset_by_query/profile";
  static constexpr Index bin_units = 6, room = 3;

  /// A peak as it is drawn.
  struct Peak {
    std::size_t band = 0;
    double offset = 0;   ///< tokens
    bool first = false;  ///< the largest of its band
    std::string source;  ///< "position", "other", "unknown"
  };

  std::vector<Index> layers, heads;
  std::vector<Index> first, last;                    ///< (bands)  query positions
  std::vector<Index> bin_first, bin_last;            ///< (bins)   offsets
  std::vector<double> profile, shares, band_shares;  ///< (heads, bands, bins), (heads), (heads, bands)
  std::vector<double> offsets, excesses;             ///< (heads, bands, most peaks)
  std::vector<std::string> sources;                  ///< (heads, bands, most peaks)
  double reach = 0;                                  ///< tokens

  [[nodiscard]] double weight(std::size_t row, std::size_t band, std::size_t bin) const {
    return profile[(row * first.size() + band) * bin_first.size() + bin];
  }
  [[nodiscard]] double share(std::size_t row) const { return shares[row]; }
  [[nodiscard]] double band_share(std::size_t row, std::size_t band) const {
    return band_shares[row * first.size() + band];
  }
  [[nodiscard]] std::vector<Peak> peaks_of(std::size_t row) const;
  /// "L0H2": of the heads that have a peak those with the largest, in the order of heads.
  [[nodiscard]] std::vector<std::string> with_largest_peaks(std::size_t most) const;

  /// The axis: units from 0, a bin in each or none where there is room.
  std::vector<Index> units;  ///< which bin; -1: room
  [[nodiscard]] double place(double offset) const;
  [[nodiscard]] std::vector<double> edges() const;  ///< the middle of the room between offsets and bins
  [[nodiscard]] std::vector<double> tics() const;   ///< offsets to be named
};

/// @throws ShapeError if Fields have other axes than described, or do not belong together
OffsetBands offset_bands(const Result& result);

}  // namespace headwave
