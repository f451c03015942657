#include "head_account_figure.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "../drawing/field_values.h"
#include "head_cells.h"

namespace headwave {

namespace {

constexpr const char* verdict_name = "head_account/verdict";
constexpr const char* held_out_shape_name = "head_account/held_out_shape";

const std::array verdict_cells{
    CellKind{"positional", categorical(0), ink::paper},     CellKind{"mixed", categorical(2), ink::paper},
    CellKind{"content", categorical(1), ink::paper},        CellKind{"no preferred offset", ink::rest, ink::text},
    CellKind{"not accounted for", ink::unnamed, ink::text}, CellKind{"undefined", ink::shade_on_paper, ink::text},
};

struct Accounts {
  HeadCells cells;                    // by verdict
  std::vector<double> position, all;  // (layers * heads) explained shape, of position and of all terms
};

Accounts accounts_of(const Result& result) {
  Accounts accounts{head_cells(result, verdict_name, {verdict_cells.begin(), verdict_cells.end()}), {}, {}};
  const std::size_t heads = accounts.cells.kind.size();
  const auto& shapes = doubles_of(result, held_out_shape_name, {"term", "layer", "head"});
  if (shapes.size() != 3 * heads)
    throw ShapeError(
        fmt::format("{}: expected 3 shares for each of {} heads, found {}", held_out_shape_name, heads, shapes.size()));
  for (std::size_t i = 0; i < heads; ++i) {
    accounts.position.push_back(shapes[i]);
    accounts.all.push_back(std::max({shapes[i], shapes[heads + i], shapes[2 * heads + i]}));
  }
  return accounts;
}

std::string percent(double share) {
  return std::isfinite(share) && share > 0 ? fmt::format("{:.0f}", 100 * share) : std::isfinite(share) ? "0" : "";
}

DataTable numbers_of(const Accounts& accounts) {
  const HeadCells& cells = accounts.cells;
  DataTable table({"layer", "head", "verdict", "position", "all_terms"});
  for (std::size_t i = 0; i < cells.kind.size(); ++i)
    table.add_row({cells.layers[i / cells.heads.size()], cells.heads[i % cells.heads.size()],
                   cells.kinds[cells.kind[i]].name, accounts.position[i], accounts.all[i]});
  return table;
}

DataTable cells_of(const Accounts& accounts, std::size_t verdict) {
  const HeadCells& cells = accounts.cells;
  DataTable table({"column", "row", "position", "all_terms"});
  for (std::size_t i = 0; i < cells.kind.size(); ++i)
    if (cells.kind[i] == verdict)
      table.add_row({static_cast<Index>(i % cells.heads.size()), static_cast<double>(i / cells.heads.size()),
                     percent(accounts.position[i]), percent(accounts.all[i])});
  return table;
}

GnuplotFigure draw_head_account(const Result& result, const FigureOptions& options) {
  Accounts accounts = accounts_of(result);
  HeadCells& cells = accounts.cells;
  cells.title = "why: heads";
  cells.legend = 1.75;
  cells.tallest = 0.34;
  cells.largest_text = 6.5;
  cells.lines = 2.6;
  cells.texts = {"1:($2-0.2):3", "1:($2+0.22):4"};
  cells.table = [&](std::size_t verdict, bool /*wide*/) { return cells_of(accounts, verdict); };
  return head_cells_figure(cells, numbers_of(accounts), options.style);
}

}  // namespace

FigureKind head_account_figure() {
  return {"head_account",
          {verdict_name, held_out_shape_name},
          {},
          "What accounts for every head's offset profile. The numbers are shares of its shape in per cent, terms from "
          "one half of the documents and profiles of the other, above what "
          "positions explain alone, below the most that position, content and spread explain together. Positional and "
          "mixed heads prefer offsets by position more than they would with places in random order. Numbers are left "
          "out where cells are too small to "
          "read them.",
          draw_head_account};
}

}  // namespace headwave
