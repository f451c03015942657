#include "carried_waves.h"

#include <algorithm>
#include <utility>

#include "../../core/fields/fields.h"

namespace headwave {

namespace {

/// The middle of one head's row, |t| <= reach, of a Field whose last three axes are layer, head and offset; of the
/// first entry of any axis before them.
std::vector<double> row_of(const Field* field, const HeadName& head, Index reach) {
  std::vector<double> row(static_cast<std::size_t>(2 * reach + 1), not_defined);
  if (field == nullptr) return row;
  const std::size_t axes = field->axes.size();
  const Index heads = field->axes[axes - 2].size(), width = field->axes[axes - 1].size();
  if (head.layer >= field->axes[axes - 3].size() || head.head >= heads) return row;
  const Index first = (head.layer * heads + head.head) * width, middle = width / 2;
  for (Index t = -std::min(reach, middle); t <= std::min(reach, middle); ++t)
    row[static_cast<std::size_t>(t + reach)] = field->doubles()[static_cast<std::size_t>(first + middle + t)];
  return row;
}

}  // namespace

CarriedWaves::CarriedWaves(std::vector<HeadName> heads, Index reach) : heads_(std::move(heads)), reach_(reach) {}

void CarriedWaves::add(const std::string& condition, const Result& result) {
  conditions_.push_back(condition);
  for (const HeadName& head : heads_) {
    const std::vector<double> weight = row_of(result.find("offset_trace/mean_weight"), head, reach_);
    const std::vector<double> weighted = row_of(result.find("cross_covariance/weighted_centred"), head, reach_);
    weight_.insert(weight_.end(), weight.begin(), weight.end());
    weighted_.insert(weighted_.end(), weighted.begin(), weighted.end());
  }
}

std::vector<Field> CarriedWaves::fields() const {
  if (heads_.empty() || conditions_.empty()) return {};
  const std::vector<Axis> axes{{"condition", "1", "what the model was given", conditions_},
                               head_name_axis("carried_head", "head", heads_),
                               offset_axis("carried_offset", -reach_, reach_)};
  Fields fields("carried_waves");
  fields.add("mean_weight", axes, "1", "mean attention weight at an offset", weight_);
  fields.add("weighted", axes, "1", "unscaled scores without their row means, summed along a diagonal", weighted_);
  fields.note_all("undefined", "no pair at that offset, or no redefined queries and keys");
  return fields.taken();
}

}  // namespace headwave
