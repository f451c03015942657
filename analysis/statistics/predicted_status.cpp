#include "predicted_status.h"

#include <utility>

namespace headwave {

Field predicted_status_field(std::string name, std::vector<Axis> axes, const std::vector<PredictedStatus>& statuses) {
  std::vector<std::uint8_t> flags;
  for (const PredictedStatus status : statuses) flags.push_back(static_cast<std::uint8_t>(status));
  return {std::move(name),
          std::move(axes),
          "1",
          "whether an offset is predicted, and why not",
          std::move(flags),
          {"offset", "edge", "chance", "weak", "nothing"},
          {}};
}

}  // namespace headwave
