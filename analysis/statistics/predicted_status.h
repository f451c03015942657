#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../../core/fields/field.h"

namespace headwave {

/// Whether an offset can be predicted for a head, and why not.
enum class PredictedStatus : std::uint8_t {
  offset,   ///< yes
  edge,     ///< the maximum lies at the end of the search: it may be larger beyond, so it is no estimate
  chance,   ///< it cannot be told from chance, or no null was drawn
  weak,     ///< attention would hardly land there: the predicted weight is not enough above chance
  nothing,  ///< there is nothing to be predicted from
};

/// A Field of flags by head that says so.
Field predicted_status_field(std::string name, std::vector<Axis> axes, const std::vector<PredictedStatus>& statuses);

}  // namespace headwave
