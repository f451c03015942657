#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "../../core/fields/field.h"

namespace headwave {

/// Fields that far_findings() looks at.
inline constexpr std::array<const char*, 4> far_names{"offset_by_query/share_beyond", "offset_by_query/peak_offset",
                                                      "offset_by_query/peak_excess", "offset_by_query/peak_source"};

/// Where a head looks beyond the reach.
struct FarFinding {
  double share = 0;    ///< of its attention; NaN: undefined, or the result is silent
  double offset = 0;   ///< the single offset at which most of that piles up, in any band of queries; NaN: none
  std::string source;  ///< of the peak there: "position", "other", "unknown"
};

/// @param heads  how many the result has
/// @returns one of each head
/// @throws ShapeError if the Fields have other axes than described, or another number of heads
std::vector<FarFinding> far_findings(const Result& result, std::size_t heads);

}  // namespace headwave
