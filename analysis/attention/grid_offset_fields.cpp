#include <fmt/format.h>

#include "../../core/fields/fields.h"
#include "grid_offset.h"
#include "grid_offset_probe.h"

namespace headwave {

namespace {

Axis lag_axis(const std::string& name, const std::string& long_name, Index side) {
  return counting_axis(name, "patch", long_name, 1 - side, side - 1);
}

/// The null and what is left of the offset where it says something.
void add_offsets(Fields& fields, const GridOffsets& found, const std::vector<Axis>& heads) {
  const std::string why =
      "status is self or flat: the maximum cannot be told from shuffled queries; or edge: it lies at the end of the "
      "search, half the grid";
  fields
      .add("offset_down", heads, "patch",
           "rows from the query patch down to the key patch at which the mean attention weight is largest", found.down)
      .undefined(why)
      .note("level", found.level);
  fields
      .add("offset_right", heads, "patch",
           "columns from the query patch to the right to the key patch at which the mean attention weight is largest",
           found.right)
      .undefined(why)
      .note("level", found.level);
  fields.flags("status", heads, "whether the head singles out an offset on the grid", found.status,
               {"offset", "self", "flat", "edge"});
  fields.add("weight", heads, "1", "largest mean attention weight within half the grid", found.peak);
  fields.add("threshold", heads, "1", "weight that a head without a preference stays below", found.threshold)
      .undefined_if_any("the grid has fewer than three patches");
  fields.add("chance", heads, "1", "weight expected at that offset if the queries are shuffled", found.chance)
      .undefined_if_any("the grid has fewer than three patches");
}

}  // namespace

std::vector<Field> describe(const GridOffsets& found, const std::vector<std::string>& opening) {
  const PatchGrid& grid = found.grid;
  const Axis layer = layer_axis(found.heads.layers), head = head_axis(found.heads.heads);
  const Axis down = lag_axis("down", "row of the key patch minus row of the query patch", grid.rows);
  const Axis right = lag_axis("right", "column of the key patch minus column of the query patch", grid.columns);
  const Axis row = counting_axis("row", "patch", "row of the key patch, from the top", 0, grid.rows - 1);
  const Axis column = counting_axis("column", "patch", "column of the key patch, from the left", 0, grid.columns - 1);
  const std::vector<Axis> by_lag{layer, head, down, right};
  const std::string few = "the grid has fewer than three patches";
  Fields fields("grid_offset");
  fields.add("mean_weight", by_lag, "1",
             "mean attention weight of a patch on the patch so far down and right, over the pairs that there are",
             found.weight);
  std::vector<double> pairs;
  for (Index d = 1 - grid.rows; d < grid.rows; ++d)
    for (Index r = 1 - grid.columns; r < grid.columns; ++r) pairs.push_back(GridLags(grid).pairs(d, r));
  fields.add("count", {down, right}, "1", "pairs of patches at an offset, in one image", pairs);
  fields
      .add("null_weight", by_lag, "1", "mean attention weight expected at an offset if the queries are shuffled",
           found.null_weight)
      .undefined_if_any(few);
  fields.add("null_deviation", by_lag, "1", "standard deviation of null_weight", found.null_deviation)
      .undefined_if_any(few);
  fields.add("null_skewness", by_lag, "1", "skewness of null_weight", found.null_skewness).undefined_if_any(few);
  add_offsets(fields, found, {layer, head});
  if (!opening.empty())
    fields.add("opening_weight", {layer, head, {"opening", "1", "token before the patches", opening}}, "1",
               "mean attention weight of the patches on a token before them", found.opening);
  fields.add("received", {layer, head, row, column}, "1",
             "mean attention weight that the patch at a place gets from all patches", found.received);
  std::vector<std::string> queries = opening;
  const Index middle = GridOffsetProbe::map_queries(grid).back() - grid.first;
  queries.push_back(fmt::format("r{}c{}", middle / grid.columns, middle % grid.columns));
  fields
      .add("map", {layer, head, {"map_query", "1", "token whose attention is shown", queries}, row, column}, "1",
           "attention weights of a token on the patches of one image", found.map)
      .note("document", found.map_document);
  fields.note_all("documents", found.documents);
  return fields.taken();
}

}  // namespace headwave
