#pragma once

#include <cstdint>
#include <vector>

#include "../../core/fields/fields.h"

namespace headwave {

/// Whether an offset can be predicted for a head, and why not.
enum class PredictedStatus : std::uint8_t {
  offset,   ///< yes
  edge,     ///< the maximum lies at the end of the search: it may be larger beyond, so it is no estimate
  chance,   ///< it cannot be told from chance, or no null was drawn
  weak,     ///< attention would hardly land there: the predicted weight is not enough above chance
  nothing,  ///< there is nothing to be predicted from
};

/// Adds the flags that say so, as group/status.
/// @param axes  layer, head
/// @returns fields, for what else is to be said of them
Fields& add_status(Fields& fields, std::vector<Axis> axes, const std::vector<PredictedStatus>& statuses);

}  // namespace headwave
