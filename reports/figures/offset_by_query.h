#pragma once

#include <string>
#include <vector>

#include "../../core/fields/field_reader.h"

namespace headwave {

/// What offset_by_query found for every head, and an axis to draw it along: a unit for each offset up to the reach, a few
/// units for each bin beyond, and a little room between the two.
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

  FieldHeads heads;
  std::vector<Index> first, last;                    ///< (bands)  query positions
  std::vector<Index> bin_first, bin_last;            ///< (bins)   offsets
  std::vector<double> profile, shares, band_shares;  ///< (heads, bands, bins), (heads), (heads, bands)
  std::vector<double> offsets, excesses;             ///< (heads, bands, most peaks)
  std::vector<std::string> sources;                  ///< (heads, bands, most peaks)
  double reach = 0;                                  ///< tokens

  [[nodiscard]] double weight(std::size_t row, std::size_t band, std::size_t bin) const {
    return profile[(row * first.size() + band) * bin_first.size() + bin];
  }
  [[nodiscard]] std::vector<Peak> peaks_of(std::size_t row) const;
  /// The heads with the largest peaks, "L0H2", in the order of heads.
  [[nodiscard]] std::vector<std::string> with_largest_peaks(std::size_t most) const;

  /// The axis: units from 0, each part of a bin or of the room between offsets and bins.
  std::vector<Index> units;  ///< which bin; -1: room
  [[nodiscard]] double place(double offset) const;
  [[nodiscard]] std::vector<double> edges() const;  ///< the middle of the room between offsets and bins
  [[nodiscard]] std::vector<double> tics() const;   ///< offsets to be named
};

/// @throws ShapeError if Fields have other axes than described, or bins do not follow each other
OffsetBands offset_bands(const Result& result);

}  // namespace headwave
