#include "checkpoint_table.h"

#include <fmt/format.h>

#include "../drawing/field_values.h"

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

}  // namespace headwave
