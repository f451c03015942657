#include "checkpoint_table.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "../../core/fields/head_name.h"
#include "../../core/numbers/error.h"
#include "../drawing/field_values.h"
#include "../drawing/visible_text.h"

namespace headwave {

namespace {

/// Every so many-th of the counts, from one on.
std::vector<std::string> counts_column(const std::vector<std::int64_t>& counts, std::size_t first, std::size_t every) {
  std::vector<std::string> cells;
  for (std::size_t i = first; i < counts.size(); i += every) cells.push_back(fmt::format("{}", counts[i]));
  return cells;
}

}  // namespace

std::vector<TableColumn> checkpoint_columns(const Result& result) {
  const Field* steps = result.find("checkpoints/step");
  if (steps == nullptr) return {};
  std::vector<TableColumn> columns{{"checkpoint", Align::left, labels_of(*steps, "checkpoint")}};
  if (result.find("checkpoints/with_offset") != nullptr)
    columns.push_back({"with an offset", Align::right,
                       counts_column(counts_of(result, "checkpoints/with_offset", {"checkpoint"}), 0, 1)});
  if (const Field* verdicts = result.find("checkpoints/verdicts")) {
    const auto& names = labels_of(*verdicts, "verdict");
    const auto& counts = counts_of(result, "checkpoints/verdicts", {"checkpoint", "verdict"});
    for (std::size_t v = 0; v < names.size(); ++v)
      columns.push_back({names[v], Align::right, counts_column(counts, v, names.size())});
  }
  return columns;
}

std::vector<TableColumn> arrival_columns(const Result& result) {
  const Field* steps = result.find("checkpoints/step");
  if (steps == nullptr) return {};
  const auto& names = labels_of(*steps, "checkpoint");
  std::vector<TableColumn> columns;
  for (const auto& [name, header] : {std::pair{"checkpoints/offset_since", "offset since"},
                                     std::pair{"checkpoints/positional_since", "positional since"}}) {
    const Field* field = result.find(name);
    if (field == nullptr) continue;
    const auto& since = doubles_of(result, name, {"layer", "head"});
    const auto layers = whole_coordinates(*field, "layer"), heads = whole_coordinates(*field, "head");
    if (columns.empty()) {
      columns.push_back({"head", Align::left, {}});
      for (const Index layer : layers)
        for (const Index head : heads) columns.front().cells.push_back(head_name(layer, head));
    }
    TableColumn column{header, Align::left, {}};
    for (const double checkpoint : since) {
      if (checkpoint >= static_cast<double>(names.size()) || checkpoint < 0)
        throw ShapeError(
            fmt::format("{}: expected one of {} checkpoints, from 0 on, found {}", name, names.size(), checkpoint));
      column.cells.push_back(std::isnan(checkpoint) ? "-" : visible_text(names[static_cast<std::size_t>(checkpoint)]));
    }
    columns.push_back(std::move(column));
    if (columns.back().cells.size() != columns.front().cells.size())
      throw ShapeError(
          fmt::format("{}: expected {} heads, found {}", name, columns.front().cells.size(), since.size()));
  }
  return columns;
}

}  // namespace headwave
