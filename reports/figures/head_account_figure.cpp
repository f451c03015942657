#include "head_account_figure.h"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "../drawing/field_values.h"
#include "head_cells.h"

namespace headwave {

namespace {

constexpr const char* verdict_name = "head_account/verdict";
constexpr const char* strength_name = "head_account/strength";
constexpr const char* head_part_name = "head_account/part";

const std::array verdict_cells{
    CellKind{"positional", categorical(0), ink::paper}, CellKind{"self", categorical(1), ink::paper},
    CellKind{"order", categorical(3), ink::paper},      CellKind{"mixed", categorical(2), ink::paper},
    CellKind{"no preference", ink::rest, ink::text},    CellKind{"undefined", ink::shade_on_paper, ink::text},
};

struct Accounts {
  HeadCells cells;                         // by verdict
  std::vector<double> strength, position;  // (layers * heads)
};

Accounts accounts_of(const Result& result) {
  Accounts accounts{head_cells(result, verdict_name, {verdict_cells.begin(), verdict_cells.end()}), {}, {}};
  const std::size_t heads = accounts.cells.kind.size();
  const auto& parts = doubles_of(result, head_part_name, {"cause", "layer", "head"});
  accounts.strength = doubles_of(result, strength_name, {"layer", "head"});
  if (parts.size() != 3 * heads || accounts.strength.size() != heads)
    throw ShapeError(fmt::format("{}: expected 3 parts and a strength for each of {} heads, found {} and {}",
                                 head_part_name, heads, parts.size(), accounts.strength.size()));
  accounts.position.assign(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(heads));
  return accounts;
}

std::string percent(double share) {
  return std::isfinite(share) ? fmt::format("{:.0f}", 100 * share) : "";
}

DataTable numbers_of(const Accounts& accounts) {
  const HeadCells& cells = accounts.cells;
  DataTable table({"layer", "head", "verdict", "strength", "position"});
  for (std::size_t i = 0; i < cells.kind.size(); ++i)
    table.add_row({cells.layers[i / cells.heads.size()], cells.heads[i % cells.heads.size()],
                   cells.kinds[cells.kind[i]].name, accounts.strength[i], accounts.position[i]});
  return table;
}

DataTable cells_of(const Accounts& accounts, std::size_t verdict) {
  const HeadCells& cells = accounts.cells;
  DataTable table({"column", "row", "strength", "position"});
  for (std::size_t i = 0; i < cells.kind.size(); ++i)
    if (cells.kind[i] == verdict)
      table.add_row({static_cast<Index>(i % cells.heads.size()), static_cast<double>(i / cells.heads.size()),
                     percent(accounts.strength[i]), percent(accounts.position[i])});
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
  return {
      "head_account",
      {verdict_name, strength_name, head_part_name},
      {},
      "Why every head looks where it looks. The numbers are per cent: above, the strength of the head's offset profile "
      "(attention that it draws to offsets within reach beyond uniform attention); below, the part of what can be "
      "explained of the profile that positions give. Positional, self and order: that much of it is left when contents "
      "are dealt to other places, when every token keeps meeting itself, or only in the order of the text. Numbers are "
      "omitted where cells are too small to read them.",
      draw_head_account};
}

}  // namespace headwave
