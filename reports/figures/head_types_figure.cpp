#include "head_types_figure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "../../core/numbers/error.h"
#include "../drawing/field_values.h"
#include "cluster_peaks.h"
#include "head_cells.h"

namespace headwave {

namespace {

constexpr const char* head_kind_name = "head_types/kind";
constexpr const char* positional_offset_name = "head_types/positional_offset";

/// A name that a head can have, and what earns it.
struct Kind {
  CellKind cell;
  const char* score;  // Field; nullptr: none
};

const std::array head_kinds{
    Kind{{"previous", categorical(0), ink::paper}, "head_types/previous"},
    Kind{{"next", categorical(1), ink::paper}, "head_types/next"},
    Kind{{"positional", categorical(2), ink::paper}, "head_types/positional_share"},
    Kind{{"duplicate", categorical(3), ink::text}, "head_types/duplicate"},
    Kind{{"induction", categorical(4), ink::text}, "head_types/induction"},
    Kind{{"sink", categorical(5), ink::text}, "head_types/sink_weight"},
    Kind{{"other", ink::unnamed, ink::text}, nullptr},
};

struct Types {
  HeadCells cells;                                                    // by kind
  std::array<const std::vector<double>*, head_kinds.size()> score{};  // (layers, heads); nullptr: none
  const std::vector<double>* offset = nullptr;  // (layers, heads) tokens; nullptr: not in the result
};

Types types_of(const Result& result) {
  std::vector<CellKind> cells;
  for (const Kind& kind : head_kinds) cells.push_back(kind.cell);
  Types types{head_cells(result, head_kind_name, std::move(cells)), {}, nullptr};
  const auto numbers = [&](const char* name) {
    const auto& values = doubles_of(result, name, {"layer", "head"});
    if (values.size() != types.cells.kind.size())
      throw ShapeError(fmt::format("{}: expected {} heads as in {}, found {}", name, types.cells.kind.size(),
                                   head_kind_name, values.size()));
    return &values;
  };
  for (std::size_t kind = 0; kind < head_kinds.size(); ++kind)
    if (head_kinds[kind].score != nullptr) types.score[kind] = numbers(head_kinds[kind].score);
  if (result.find(positional_offset_name) != nullptr) types.offset = numbers(positional_offset_name);
  return types;
}

double score_of(const Types& types, std::size_t i) {
  const std::vector<double>* scores = types.score[types.cells.kind[i]];
  return scores != nullptr ? (*scores)[i] : std::nan("");
}

/// NaN but for positional heads.
double offset_of(const Types& types, std::size_t i) {
  const bool positional =
      head_kinds[types.cells.kind[i]].cell.name == std::string_view("positional") && types.offset != nullptr;
  return positional ? (*types.offset)[i] : std::nan("");
}

DataTable numbers_of(const Types& types) {
  DataTable table({"layer", "head", "kind", "score", "offset"});
  for (std::size_t i = 0; i < types.cells.kind.size(); ++i)
    table.add_row({types.cells.layers[i / types.cells.heads.size()], types.cells.heads[i % types.cells.heads.size()],
                   head_kinds[types.cells.kind[i]].cell.name, score_of(types, i), offset_of(types, i)});
  return table;
}

/// Cells of one kind, and what stands in them: one line in the middle or two.
DataTable cells_of(const Types& types, std::size_t kind, bool wide) {
  DataTable table({"column", "row", "score_row", "score", "offset"});
  for (std::size_t i = 0; i < types.cells.kind.size(); ++i) {
    if (types.cells.kind[i] != kind) continue;
    const double score = score_of(types, i), offset = offset_of(types, i);
    const auto row = static_cast<double>(i / types.cells.heads.size());
    table.add_row({static_cast<Index>(i % types.cells.heads.size()), row, std::isfinite(offset) ? row - 0.2 : row,
                   std::isfinite(score) ? fmt::format("{:.2f}", score) : "",
                   std::isfinite(offset) ? (wide ? "t = " : "") + signed_offset(offset) : ""});
  }
  return table;
}

GnuplotFigure draw_head_types(const Result& result, const FigureOptions& options) {
  Types types = types_of(result);
  HeadCells& cells = types.cells;
  cells.title = "kind: heads";
  cells.texts = {"1:3:4", "1:($2+0.22):5"};
  cells.table = [&](std::size_t kind, bool wide) { return cells_of(types, kind, wide); };
  return head_cells_figure(cells, numbers_of(types), options.style);
}

}  // namespace

FigureKind head_types_figure() {
  return {"head_types",
          {"head_types/kind", "head_types/previous", "head_types/next", "head_types/positional_share",
           "head_types/duplicate", "head_types/induction", "head_types/sink_weight"},
          {"head_types/positional_offset"},
          "What every head is called, the first kind of the legend that holds, and the score behind it: mean weight on "
          "the previous or next token, share of queries whose largest weight lies at one offset t (tokens), mean "
          "weight on earlier occurrences of the query's token or on what followed them, largest mean weight that one "
          "key gets.",
          draw_head_types};
}

}  // namespace headwave
