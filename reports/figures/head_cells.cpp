#include "head_cells.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "../../core/numbers/error.h"
#include "../drawing/field_values.h"
#include "../drawing/visible_text.h"

namespace headwave {

namespace {

PanelGrid grid_of(const HeadCells& cells, const FigureStyle& style) {
  const auto across = static_cast<double>(cells.heads.size()), down = static_cast<double>(cells.layers.size());
  PanelGrid grid;
  grid.left = 0.5;
  grid.bottom = 0.42;
  grid.top = 0.1;
  grid.right = cells.legend;
  return with_cells(grid, cells.heads.size(), cells.layers.size(), std::clamp(5.6 / across, 0.12, 0.46),
                    std::clamp(5.6 / std::max(across, down), 0.1, cells.tallest),
                    std::set(cells.kind.begin(), cells.kind.end()).size(), style);
}

DotLegend legend_of(const HeadCells& cells) {
  DotLegend legend{.title = cells.title, .entries = {}, .away = 0.2, .text_right = 0.12};
  for (std::size_t kind = 0; kind < cells.kinds.size(); ++kind)
    if (const auto count = std::count(cells.kind.begin(), cells.kind.end(), kind); count > 0)
      legend.entries.push_back(
          {{cells.kinds[kind].ink, 1.1, Shape::square}, fmt::format("{}: {}", cells.kinds[kind].name, count)});
  return legend;
}

/// Numbers of layers or heads, as many as do not touch.
Tics numbered(const std::vector<Index>& numbers, double cell, double away) {
  return {.named = every_nth(numbers, static_cast<std::size_t>(std::max(1.0, std::ceil(0.2 / cell)))), .away = away};
}

/// The place in `kinds` of each value of the Field.
std::vector<std::size_t> places_of(const Field& field, const std::vector<CellKind>& kinds) {
  std::vector<std::size_t> places;
  for (const std::string& meaning : field.flag_meanings) {
    const auto known = std::ranges::find_if(kinds, [&](const CellKind& kind) { return meaning == kind.name; });
    if (known == kinds.end())
      throw ShapeError(fmt::format("{}: no such kind of head is known here: '{}'", field.name,
                                   shortened(visible_text(meaning), 40)));
    places.push_back(static_cast<std::size_t>(known - kinds.begin()));
  }
  return places;
}

}  // namespace

HeadCells head_cells(const Result& result, const std::string& name, std::vector<CellKind> kinds) {
  const auto& flags = flags_of(result, name, {"layer", "head"});
  const Field& field = result.at(name);
  HeadCells cells{whole_coordinates(field, "layer"), whole_coordinates(field, "head"), std::move(kinds), {}};
  const auto places = places_of(field, cells.kinds);
  if (flags.empty()) throw ShapeError(fmt::format("{}: holds no head to draw", name));
  for (const std::uint8_t flag : flags) {
    if (flag >= places.size())
      throw ShapeError(fmt::format("{}: expected a value below {}, found {}", name, places.size(), flag));
    cells.kind.push_back(places[flag]);
  }
  return cells;
}

GnuplotFigure head_cells_figure(const HeadCells& cells, const DataTable& numbers, const FigureStyle& style) {
  const PanelGrid grid = grid_of(cells, style);
  const auto across = static_cast<double>(cells.heads.size()), down = static_cast<double>(cells.layers.size());
  const double cell = grid.panel_width / across, line = grid.panel_height / down;
  const double points = std::min({cells.largest_text, cell * 72 / 3.4, line * 72 / cells.lines});
  Page page(grid, style);
  Panel& panel = page.panel(0, 0);
  panel.frame(Frame::none);
  panel.x_axis({-0.5, across - 0.5}, numbered(cells.heads, cell, -0.4));
  panel.y_axis({down - 0.5, -0.5}, numbered(cells.layers, line, -0.5));
  panel.title_below("head", 0.3);
  panel.title_left("layer", 0.32);
  panel.legend_beside(legend_of(cells));
  page.keep(numbers);
  for (std::size_t kind = 0; kind < cells.kinds.size(); ++kind) {
    const DataTable table = cells.table(kind, cell > 0.3);
    if (table.rows().empty()) continue;
    const std::string file = page.data(table);
    panel.boxes(file, "1:2:(0.47):(0.46)", cells.kinds[kind].ink);
    if (points < legible(0, style)) continue;  // what could not be read is left out
    for (const char* text : cells.texts)
      panel.texts(file, text, {.points = points, .ink = cells.kinds[kind].text, .anchor = Anchor::center});
  }
  return page.figure();
}

}  // namespace headwave
