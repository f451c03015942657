#include "grid_offset_figure.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../../core/fields/head_name.h"
#include "../drawing/field_values.h"
#include "../drawing/page.h"
#include "../drawing/pixels.h"
#include "chosen_heads.h"

namespace headwave {

namespace {

constexpr const char *lags_name = "grid_offset/mean_weight", *received_name = "grid_offset/received",
                     *map_name = "grid_offset/map";
constexpr Index widest_grid = 1024;  // patches along a side

/// What the panels are drawn from.
struct GridMaps {
  Index rows = 0, columns = 0;  // of patches
  std::vector<std::string> queries;
  const std::vector<double>* lags = nullptr;      // (layers, heads, 2 rows - 1, 2 columns - 1)
  const std::vector<double>* received = nullptr;  // (layers, heads, rows, columns)
  const std::vector<double>* map = nullptr;       // (layers, heads, queries, rows, columns)
  std::vector<double> down, right;                // (layers, heads) NaN: undefined

  [[nodiscard]] std::size_t panels() const { return 2 + queries.size(); }
};

GridMaps maps_of(const Result& result) {
  GridMaps maps;
  maps.lags = &doubles_of(result, lags_name, {"layer", "head", "down", "right"});
  maps.received = &doubles_of(result, received_name, {"layer", "head", "row", "column"});
  maps.map = &doubles_of(result, map_name, {"layer", "head", "map_query", "row", "column"});
  maps.rows = result.at(received_name).axis("row").size();
  maps.columns = result.at(received_name).axis("column").size();
  maps.queries = labels_of(result.at(map_name), "map_query");
  maps.down = doubles_of(result, "grid_offset/offset_down", {"layer", "head"});
  maps.right = doubles_of(result, "grid_offset/offset_right", {"layer", "head"});
  const Field& lags = result.at(lags_name);
  if (maps.rows < 1 || maps.columns < 1 || maps.rows > widest_grid || maps.columns > widest_grid ||
      lags.axis("down").size() != 2 * maps.rows - 1 || lags.axis("right").size() != 2 * maps.columns - 1 ||
      result.at(map_name).axis("row").size() != maps.rows || result.at(map_name).axis("column").size() != maps.columns)
    throw ShapeError(fmt::format("{}: {} x {} patches and their offsets do not fit each other", received_name,
                                 maps.rows, maps.columns));
  return maps;
}

/// One panel's cells: what stands at (row, column), and the coordinate of the first of each.
struct PanelCells {
  std::string title, quantity;
  Index rows = 0, columns = 0, first_row = 0, first_column = 0;
  std::function<double(Index row, Index column)> amount;

  [[nodiscard]] double largest() const {
    double largest = 0;
    for (Index r = 0; r < rows; ++r)
      for (Index c = 0; c < columns; ++c)
        if (std::isfinite(amount(r, c))) largest = std::max(largest, amount(r, c));
    return largest > 0 ? largest : 1;
  }
};

/// Offsets up to half the grid, as they are searched: farther ones have few pairs.
PanelCells lag_cells(const GridMaps& maps, std::size_t head) {
  const Index down = maps.rows / 2, right = maps.columns / 2, across = 2 * maps.columns - 1;
  const double* first = maps.lags->data() + head * static_cast<std::size_t>((2 * maps.rows - 1) * across);
  return {"by offset",
          "offset",
          2 * std::min(down, maps.rows - 1) + 1,
          2 * std::min(right, maps.columns - 1) + 1,
          -std::min(down, maps.rows - 1),
          -std::min(right, maps.columns - 1),
          [=, rows = maps.rows, columns = maps.columns](Index r, Index c) {
            const Index top = rows - 1 - std::min(down, rows - 1), left = columns - 1 - std::min(right, columns - 1);
            return first[(top + r) * across + left + c];
          }};
}

PanelCells place_cells(const GridMaps& maps, const double* first, const std::string& title) {
  const Index columns = maps.columns;
  return {title, "place", maps.rows, columns, 0, 0, [=](Index r, Index c) { return first[r * columns + c]; }};
}

/// All panels of a head.
std::vector<PanelCells> cells_of(const GridMaps& maps, std::size_t head) {
  const auto patches = static_cast<std::size_t>(maps.rows * maps.columns);
  std::vector<PanelCells> cells{lag_cells(maps, head),
                                place_cells(maps, maps.received->data() + head * patches, "received")};
  for (std::size_t q = 0; q < maps.queries.size(); ++q)  // by number: texts of a result never reach a script
    cells.push_back(place_cells(maps, maps.map->data() + (head * maps.queries.size() + q) * patches,
                                q + 1 < maps.queries.size() ? fmt::format("from token {}", q) : "from the middle"));
  return cells;
}

/// Panels follow each other head by head, all of one in a row where there is room.
PanelGrid grid_of(const GridMaps& maps, std::size_t heads, const FigureStyle& style) {
  const std::size_t panels = heads * maps.panels();
  PanelGrid grid;
  grid.panel_width = 1.45;
  grid.gap_x = 0.8;
  grid.gap_y = 0.62;
  grid.left = 0.55;
  grid.right = 0.62;
  grid.top = 0.3;
  grid.bottom = 0.45;
  grid = fitted(flowing(grid, panels, static_cast<Index>(maps.panels())), panels, 0.9, style);
  grid.panel_height =
      std::clamp(grid.panel_width / static_cast<double>(maps.columns) * static_cast<double>(maps.rows), 0.25, 4.0);
  return grid;
}

DataTable cell_numbers(const PanelCells& cells, const HeadName& name) {
  DataTable table({"layer", "head", "panel", "row", "column", "weight"});
  for (Index r = 0; r < cells.rows; ++r)
    for (Index c = 0; c < cells.columns; ++c)
      table.add_row(
          {name.layer, name.head, cells.title, cells.first_row + r, cells.first_column + c, cells.amount(r, c)});
  return table;
}

DataTable cell_pixels(const PanelCells& cells) {
  const auto block = static_cast<std::size_t>(std::clamp<Index>(128 / std::max(cells.rows, cells.columns), 2, 16));
  return pixels(
      {static_cast<std::size_t>(cells.columns), static_cast<std::size_t>(cells.rows),
       [&](std::size_t c, std::size_t r) { return cells.amount(static_cast<Index>(r), static_cast<Index>(c)); },
       [&](double c) { return c + static_cast<double>(cells.first_column); },
       [&](double r) { return r + static_cast<double>(cells.first_row); }},
      block, block);
}

DataTable dot_table(double right, double down) {
  DataTable table({"right", "down", "size"});
  table.add_row({right, down, 0.9});
  return table;
}

/// Panel p of a head, which is panel k of the figure.
Panel& add_cells(Page& page, std::size_t k, std::size_t panels, std::size_t p, const HeadName& name,
                 const PanelCells& cells, const GridMaps& maps) {
  const PanelGrid& grid = page.grid();
  Panel& panel = page.panel(k);
  const double left = static_cast<double>(cells.first_column), top = static_cast<double>(cells.first_row);
  const std::size_t below = k + static_cast<std::size_t>(grid.columns);
  panel.tic_length(0.3);
  panel.x_axis({left - 0.5, left + static_cast<double>(cells.columns) - 0.5},
               {.step = std::max(1.0, tic_step(static_cast<double>(cells.columns))), .points = 6, .away = -0.3});
  panel.y_axis({top + static_cast<double>(cells.rows) - 0.5, top - 0.5},
               {.step = std::max(1.0, tic_step(static_cast<double>(cells.rows))), .points = 6});
  panel.note(fmt::format("{} {}", head_name(name.layer, name.head), cells.title),
             grid.at(grid.panel_left(grid.column_of(k)), grid.panel_bottom(grid.row_of(k)) + grid.panel_height + 0.1),
             {.points = 7});
  if (grid.is_lowest(k, panels) || below % maps.panels() != p)
    panel.title_below(p == 0 ? "patches right" : "column", 0.3);
  if (p == 0 || p == 1 || grid.column_of(k) == 0) panel.title_left(p == 0 ? "patches down" : "row", 0.3);
  const double largest = cells.largest();
  panel.color_range({0, largest});
  const double bar = grid.panel_left(grid.column_of(k)) + grid.panel_width + 0.05;
  panel.color_bar({.x = bar,
                   .y = grid.panel_bottom(grid.row_of(k)),
                   .height = grid.panel_height,
                   .tics = {.step = tic_step(largest), .first = 0, .points = 6, .away = 0.6}});
  panel.note("weight", grid.at(bar, grid.panel_bottom(grid.row_of(k)) + grid.panel_height + 0.1), {.points = 6});
  panel.heat_map(page.data(cell_pixels(cells)));
  return panel;
}

GnuplotFigure draw_grid_offset(const Result& result, const FigureOptions& options) {
  const GridMaps maps = maps_of(result);
  const std::vector<ChosenHead> heads = chosen_heads(result, lags_name, options);
  Page page(grid_of(maps, heads.size(), options.style), options.style);
  std::size_t k = 0;
  for (const ChosenHead& head : heads) {
    const std::vector<PanelCells> all = cells_of(maps, head.row);
    for (std::size_t p = 0; p < all.size(); ++p, ++k) {
      page.keep(cell_numbers(all[p], head.name));
      Panel& panel = add_cells(page, k, heads.size() * all.size(), p, head.name, all[p], maps);
      if (p > 0) continue;
      panel.dots(page.data(dot_table(0, 0)), "1:2:3", {ink::guide, 1, Shape::disc});
      const double down = maps.down[head.row], right = maps.right[head.row];
      if (std::isfinite(down) && std::isfinite(right))
        panel.dots(page.data(dot_table(right, down)), "1:2:3", {ink::mark, 1, Shape::ring}, 2);
    }
  }
  return page.figure();
}

}  // namespace

FigureKind grid_offset_figure() {
  std::vector<std::string> extras = clearness_fields();
  return {
      "grid_offset",
      {lags_name, received_name, map_name, "grid_offset/offset_down", "grid_offset/offset_right"},
      extras,
      "Attention of single heads over the patches of images. By offset: mean weight of a patch on the patch so many "
      "rows down and columns right of it, over the pairs that there are; the dot marks the patch itself, the ring the "
      "measured offset where there is one. Received: mean weight that the patch at a place gets from all patches, over "
      "all images. From token 0 ([CLS]) and others before the patches, from the middle: weights of that token, and of "
      "the patch in the middle, over the patches of one image. Rows count from the top. Each panel has its own colour "
      "scale from 0 to its largest weight.",
      draw_grid_offset};
}

}  // namespace headwave
