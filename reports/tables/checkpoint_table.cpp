#include "checkpoint_table.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"
#include "../../core/fields/head_name.h"
#include "../drawing/visible_text.h"

namespace headwave {

namespace {

constexpr const char* last_strength_name = "checkpoints_head_account/strength";

/// Every head's strength at the last checkpoint; empty if the account was not run.
std::vector<double> last_strength(const Result& result, std::size_t heads) {
  if (result.find(last_strength_name) == nullptr) return {};
  const auto& all = doubles_of(result, last_strength_name, {"checkpoint", "layer", "head"});
  if (all.size() < heads || all.size() % heads != 0)
    throw ShapeError(fmt::format("{}: expected {} heads at every checkpoint, found {} numbers", last_strength_name,
                                 heads, all.size()));
  return {all.end() - static_cast<std::ptrdiff_t>(heads), all.end()};
}

/// The strongest first; without a number last.
void order_by(const std::vector<double>& strength, std::vector<TableColumn>& columns) {
  std::vector<std::size_t> order(strength.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(),
                           [&](std::size_t head) { return std::isnan(strength[head]) ? -1.0 : strength[head]; });
  for (TableColumn& column : columns) {
    std::vector<std::string> cells;
    for (const std::size_t head : order) cells.push_back(column.cells[head]);
    column.cells = std::move(cells);
  }
}

}  // namespace

std::vector<TableColumn> checkpoint_columns(const Result& result) {
  const Field* steps = result.find("checkpoints/step");
  if (steps == nullptr) return {};
  std::vector<TableColumn> columns{{"checkpoint", Align::left, labels_of(*steps, "checkpoint")}};
  const auto add = [&](const std::string& header, const std::vector<std::int64_t>& counts, std::size_t first,
                       std::size_t every) {
    columns.push_back({header, Align::right, {}});
    for (std::size_t i = first; i < counts.size(); i += every)
      columns.back().cells.push_back(fmt::format("{}", counts[i]));
  };
  if (result.find("checkpoints/with_offset") != nullptr)
    add("with an offset", counts_of(result, "checkpoints/with_offset", {"checkpoint"}), 0, 1);
  if (const Field* verdicts = result.find("checkpoints/verdicts")) {
    const auto& names = labels_of(*verdicts, "verdict");
    for (std::size_t v = 0; v < names.size(); ++v)
      add(names[v], counts_of(result, "checkpoints/verdicts", {"checkpoint", "verdict"}), v, names.size());
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
    if (columns.empty()) {
      columns.push_back({"head", Align::left, {}});
      const FieldHeads heads = field_heads(*field);
      for (std::size_t row = 0; row < heads.size(); ++row)
        columns.front().cells.push_back(head_name(heads[row].layer, heads[row].head));
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
  if (columns.empty()) return columns;
  const std::vector<double> strength = last_strength(result, columns.front().cells.size());
  if (strength.empty()) return columns;
  TableColumn column{"strength", Align::right, {}};
  for (const double one : strength) column.cells.push_back(std::isnan(one) ? "" : fmt::format("{:.3f}", one));
  columns.push_back(std::move(column));
  order_by(strength, columns);
  return columns;
}

}  // namespace headwave
