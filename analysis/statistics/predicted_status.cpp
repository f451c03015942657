#include "predicted_status.h"

#include <utility>

namespace headwave {

Fields& add_status(Fields& fields, std::vector<Axis> axes, const std::vector<PredictedStatus>& statuses) {
  return fields.flags("status", std::move(axes), "whether an offset is predicted, and why not", statuses,
                      {"offset", "edge", "chance", "weak", "nothing"});
}

}  // namespace headwave
