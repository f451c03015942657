#pragma once

#include "../../core/fields/fields.h"
#include "../../core/fields/head_name.h"

namespace headwave::sample {

/// Heads over 3 x 4 patches behind [CLS], without a status: of every two heads the first looks 1 up and 1 to the right.
inline std::vector<Field> grid_fields(Index layers, Index heads) {
  const Axis layer = layer_axis(layers), head = head_axis(heads);
  const Axis down = counting_axis("down", "patch", "", -2, 2), right = counting_axis("right", "patch", "", -3, 3);
  const Axis row = counting_axis("row", "patch", "", 0, 2), column = counting_axis("column", "patch", "", 0, 3);
  const Axis query{"map_query", "1", "", std::vector<std::string>{"[CLS]", "r1c2"}};
  const auto rows = static_cast<std::size_t>(layers * heads);
  std::vector<double> weight(35 * rows, 0.1), received(12 * rows), map(24 * rows), downs, rights;
  for (std::size_t i = 0; i < rows; ++i) {
    if (i % 2 == 0) weight[35 * i + 1 * 7 + 4] = 0.8;  // (-1, +1)
    downs.push_back(i % 2 == 0 ? -1 : not_defined);
    rights.push_back(i % 2 == 0 ? 1 : not_defined);
  }
  for (std::size_t i = 0; i < received.size(); ++i) received[i] = 0.01 * static_cast<double>(i % 12);
  for (std::size_t i = 0; i < map.size(); ++i) map[i] = 0.001 * static_cast<double>(i % 24);
  Fields fields("grid_offset");
  fields.add("mean_weight", {layer, head, down, right}, "1", "", weight);
  fields.add("received", {layer, head, row, column}, "1", "", received);
  fields.add("map", {layer, head, query, row, column}, "1", "", map);
  fields.add("offset_down", {layer, head}, "patch", "", downs).undefined("flat");
  fields.add("offset_right", {layer, head}, "patch", "", rights).undefined("flat");
  return fields.taken();
}

/// A result of two such heads.
inline Result grid_result() {
  const std::vector<Axis> heads{layer_axis(1), head_axis(2)}, by_pairs{pairs_axis(), heads[0], heads[1]};
  Fields fields("grid_offset");
  fields.append(grid_fields(1, 2));
  fields.flags("status", heads, "", std::vector<std::uint8_t>{0, 2}, {"offset", "self", "flat", "edge"});
  Fields measured("measured_offset");
  measured.add("offset", by_pairs, "token", "", std::vector<double>{-3, not_defined, -3, not_defined, -3, not_defined});
  measured.add("weight", by_pairs, "1", "", std::vector<double>{0.7, 0.1, 0.7, 0.1, 0.7, 0.1});
  Result result;
  result.fields = fields.taken();
  append(result.fields, measured.taken());
  return result;
}

}  // namespace headwave::sample
