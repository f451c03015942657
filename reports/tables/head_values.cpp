#include "head_values.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace headwave {

namespace {

struct HeadValue {
  const char* name;
  Cell (*of)(const HeadFinding& head);
};

const std::vector<HeadValue>& values_of_heads() {
  using Head = const HeadFinding&;
  static const std::vector<HeadValue> values{
      {"head", [](Head head) -> Cell { return head_name(head.name.layer, head.name.head); }},
      {"layer", [](Head head) -> Cell { return head.name.layer; }},
      {"index", [](Head head) -> Cell { return head.name.head; }},
      {"offset", [](Head head) -> Cell { return head.offset; }},
      {"status", [](Head head) -> Cell { return head.status; }},
      {"weight", [](Head head) -> Cell { return head.weight; }},
      {"threshold", [](Head head) -> Cell { return head.threshold; }},
      {"chance", [](Head head) -> Cell { return head.chance; }},
      {"why", [](Head head) -> Cell { return head.why; }},
      {"strength", [](Head head) -> Cell { return head.strength; }},
      {"by_position", [](Head head) -> Cell { return head.by_position; }},
      {"by_self", [](Head head) -> Cell { return head.by_self; }},
      {"by_order", [](Head head) -> Cell { return head.by_order; }},
      {"offset_by_position", [](Head head) -> Cell { return head.by_account.offset; }},
      {"agrees", [](Head head) -> Cell { return head.agrees; }},
      {"predicted_offset", [](Head head) -> Cell { return head.by_weights.offset; }},
      {"predicted_status", [](Head head) -> Cell { return head.by_weights.status; }},
      {"predicted_weight", [](Head head) -> Cell { return head.predicted_weight; }},
      {"predicted_chance", [](Head head) -> Cell { return head.predicted_chance; }},
      {"offset_by_words", [](Head head) -> Cell { return head.by_words.offset; }},
      {"status_by_words", [](Head head) -> Cell { return head.by_words.status; }},
      {"offset_by_phases", [](Head head) -> Cell { return head.by_phases.offset; }},
      {"status_by_phases", [](Head head) -> Cell { return head.by_phases.status; }},
      {"offset_by_scores", [](Head head) -> Cell { return head.by_scores.offset; }},
      {"status_by_scores", [](Head head) -> Cell { return head.by_scores.status; }},
      {"toeplitz_r2", [](Head head) -> Cell { return head.toeplitz_r2; }},
      {"other_r2", [](Head head) -> Cell { return head.other_r2; }},
      {"other_null_quantile", [](Head head) -> Cell { return head.other_null; }},
      {"q_value", [](Head head) -> Cell { return head.q_value; }},
      {"cluster", [](Head head) { return head.cluster ? Cell(*head.cluster) : Cell(std::nan("")); }},
      {"cluster_share", [](Head head) -> Cell { return head.share; }}};
  return values;
}

}  // namespace

DataTable head_values(const std::vector<HeadFinding>& findings) {
  const bool planted = std::ranges::any_of(findings, [](const HeadFinding& head) { return head.planted.has_value(); });
  const bool grid = std::ranges::any_of(findings, [](const HeadFinding& head) { return !head.on_grid.empty(); });
  std::vector<std::string> names;
  for (const HeadValue& value : values_of_heads()) names.emplace_back(value.name);
  if (grid) names.emplace_back("on_grid");
  if (planted) names.insert(names.end(), {"planted_kind", "planted_offset", "planted_found"});
  DataTable table(names);
  for (const HeadFinding& head : findings) {
    std::vector<Cell> row;
    for (const HeadValue& value : values_of_heads()) row.push_back(value.of(head));
    if (grid) row.emplace_back(head.on_grid);
    if (planted && head.planted)
      row.insert(row.end(),
                 {head.planted->kind, head.planted->offset, std::string(head.planted->found ? "true" : "false")});
    else if (planted)
      row.insert(row.end(), {std::string(), std::nan(""), std::string()});
    table.add_row(std::move(row));
  }
  return table;
}

}  // namespace headwave
