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

namespace {

/// What every head differs by, a Field for each measure.
std::vector<Field> differences(const Comparison& comparison, const std::vector<Axis>& axes) {
  Fields fields("change");
  for (const MeasureChange& measure : comparison.measures)
    fields.add(measure.name, axes, measure.unit, "second - first: " + measure.long_name, measure.second - measure.first)
        .undefined("not defined in one of the results");
  return fields.taken();
}

/// Places of heads in the order of what is said of them.
std::vector<std::int64_t> ranks(const Comparison& comparison) {
  const std::vector<Index> order = comparison.order();
  std::vector<std::int64_t> rank(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) rank[static_cast<std::size_t>(order[i])] = static_cast<Index>(i);
  return rank;
}

}  // namespace

std::vector<Field> describe(const Comparison& comparison) {
  const std::vector<Axis> heads{layer_axis(comparison.grid.layers), head_axis(comparison.grid.heads)};
  const auto with = [&](Axis axis, bool outermost) {
    std::vector<Axis> axes = heads;
    axes.insert(outermost ? axes.begin() : axes.end(), std::move(axis));
    return axes;
  };
  const auto names_of = [](const auto& of) {
    std::vector<std::string> names;
    for (const auto& one : of) names.push_back(one.name);
    return names;
  };
  const std::vector<Axis> axes = with({"measure", "1", "what is compared", names_of(comparison.measures)}, true);
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
  std::vector<std::uint8_t> changed;
  for (Index row = 0; row < comparison.grid.rows(); ++row) changed.push_back(comparison.beyond(row) ? 1 : 0);
  fields.flags("changed", heads, "whether a difference is beyond its interval", changed, {"no", "yes"});
  fields.add("rank", heads, "1", "place among heads, those that changed first", ranks(comparison));
  fields
      .add("profile_offset", heads, "token", "offset at which the profile changed most, in standard errors",
           comparison.profile_offset)
      .undefined("not tested");
  if (!comparison.words.empty()) {
    const std::vector<Axis> said = with({"word", "1", "what is said of a head", names_of(comparison.words)}, true);
    const auto every = [&](auto member) { return comparison.words | std::views::transform(member); };
    fields.add("first_word", said, "1", "what the first result says", every(&WordChange::first));
    fields.add("second_word", said, "1", "what the second result says", every(&WordChange::second));
  }
  if (const Index offsets = comparison.first_profile.cols(); offsets > 0) {
    const std::vector<Axis> near = with(offset_axis("near_offset", -(offsets / 2), offsets / 2), false);
    const char* const long_name = "mean attention weight at an offset, over blocks of documents";
    const char* const absent = "a document has no such pair";
    fields.add("first_profile", near, "1", long_name, comparison.first_profile).undefined_if_any(absent);
    fields.add("second_profile", near, "1", long_name, comparison.second_profile).undefined_if_any(absent);
  }
  fields.note_all("level", comparison.options.level)
      .note_all("draws", comparison.options.draws)
      .note_all("seed", static_cast<std::int64_t>(comparison.options.seed))
      .note_all("block", comparison.block)
      .note_all("documents_paired", comparison.paired ? "yes" : "no");
  if (!comparison.untested.empty()) fields.note_all("untested", comparison.untested);
  fields.append(differences(comparison, heads));
  return fields.taken();
}

}  // namespace headwave
