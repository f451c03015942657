#include <algorithm>
#include <cmath>
#include <numeric>
#include <ranges>

#include "../../core/fields/fields.h"
#include "comparison.h"

namespace headwave {

bool Comparison::beyond(Index row) const {
  return std::ranges::any_of(measures, [&](const MeasureChange& measure) {
    return measure.verdict[static_cast<std::size_t>(row)] == ChangeVerdict::beyond;
  });
}

bool Comparison::beyond() const {
  for (Index row = 0; row < grid.rows(); ++row)
    if (beyond(row)) return true;
  return false;
}

std::vector<Index> Comparison::order() const {
  Vector size = Vector::Zero(grid.rows());
  for (const MeasureChange& measure : measures)
    if (measure.name.starts_with("weight_at") || measure.name == "profile")
      for (Index row = 0; row < size.size(); ++row)
        size[row] = std::fmax(size[row], std::abs(measure.second[row] - measure.first[row]));
  std::vector<Index> rows(static_cast<std::size_t>(grid.rows()));
  std::iota(rows.begin(), rows.end(), Index{0});
  std::ranges::stable_sort(rows, [&](Index a, Index b) {
    if (beyond(a) != beyond(b)) return beyond(a);
    return size[a] > size[b];
  });
  return rows;
}

std::vector<Field> describe(const Comparison& comparison) {
  std::vector<std::string> names;
  for (const MeasureChange& measure : comparison.measures) names.push_back(measure.name);
  const Axis layer = layer_axis(comparison.grid.layers), head = head_axis(comparison.grid.heads);
  const std::vector<Axis> axes{{"measure", "1", "what is compared", names}, layer, head};
  const auto each = [&](auto member) { return comparison.measures | std::views::transform(member); };
  Fields fields("comparison");
  const char* const undefined = "not defined in that result";
  const char* const no_interval = "the results hold nothing that an interval could be made of";
  fields.add("first", axes, "1 or token", "of the first result", each(&MeasureChange::first)).undefined(undefined);
  fields.add("second", axes, "1 or token", "of the second result", each(&MeasureChange::second)).undefined(undefined);
  fields.add("lower", axes, "1 or token", "lower end of the interval of second - first", each(&MeasureChange::lower))
      .undefined(no_interval);
  fields.add("upper", axes, "1 or token", "upper end of that interval", each(&MeasureChange::upper))
      .undefined(no_interval);
  fields.flags("verdict", axes, "whether the difference is beyond its interval", each(&MeasureChange::verdict),
               {"within", "beyond", "no interval", "undefined"});
  fields
      .add("profile_offset", {layer, head}, "token", "offset at which the profile changed most, in standard errors",
           comparison.profile_offset)
      .undefined("not tested");
  fields.note_all("level", comparison.options.level)
      .note_all("draws", comparison.options.draws)
      .note_all("seed", static_cast<std::int64_t>(comparison.options.seed))
      .note_all("documents_paired", comparison.paired ? "yes" : "no");
  return fields.taken();
}

}  // namespace headwave
