// Attention over the patches of images.
#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"
#include "../drawing/page.h"
#include "chosen_heads.h"
#include "kinds.h"

namespace headwave {

namespace {

constexpr const char *lags_name = "grid_offset/mean_weight", *received_name = "grid_offset/received",
                     *patch_map_name = "grid_offset/map", *down_name = "grid_offset/offset_down",
                     *right_name = "grid_offset/offset_right";
constexpr std::size_t widest_grid = 1024;  // patches along a side
constexpr double title_needs = 0.8;        // inches beside a panel

/// What the panels are drawn from.
struct GridMaps {
  std::size_t rows = 0, columns = 0;  // of patches
  std::size_t queries = 0;
  const std::vector<double>& lags;         // (heads, 2 rows - 1, 2 columns - 1)
  const std::vector<double>& received;     // (heads, rows, columns)
  const std::vector<double>& map;          // (heads, queries, rows, columns)
  const std::vector<double>&down, &right;  // (heads) NaN: undefined

  [[nodiscard]] std::size_t panels() const { return 2 + queries; }
};

GridMaps grid_maps_of(const Result& result) {
  const auto size = [&](const char* name, const char* axis) {
    return static_cast<std::size_t>(result.at(name).axis(axis).size());
  };
  GridMaps maps{size(received_name, "row"),
                size(received_name, "column"),
                size(patch_map_name, "map_query"),
                doubles_of(result, lags_name, {"layer", "head", "down", "right"}),
                doubles_of(result, received_name, {"layer", "head", "row", "column"}),
                doubles_of(result, patch_map_name, {"layer", "head", "map_query", "row", "column"}),
                doubles_of(result, down_name, {"layer", "head"}),
                doubles_of(result, right_name, {"layer", "head"})};
  if (std::max(maps.rows, maps.columns) > widest_grid || size(lags_name, "down") != 2 * maps.rows - 1 ||
      size(lags_name, "right") != 2 * maps.columns - 1)
    throw ShapeError(fmt::format("{}: {} x {} patches and their offsets do not fit each other", received_name,
                                 maps.rows, maps.columns));
  return maps;
}

/// One panel's cells: what stands at (row, column), and the coordinates of the first of each.
struct PatchCells {
  std::string title;
  std::size_t rows = 0, columns = 0;
  double first_row = 0, first_column = 0;
  std::function<double(std::size_t row, std::size_t column)> amount;

  [[nodiscard]] double largest() const {
    double largest = 0;
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < columns; ++c)
        if (std::isfinite(amount(r, c))) largest = std::max(largest, amount(r, c));
    return largest > 0 ? largest : 1;
  }
};

/// Offsets up to half the grid, as they are searched: farther ones have few pairs.
PatchCells lag_cells(const GridMaps& maps, std::size_t head) {
  const std::size_t down = std::min(maps.rows / 2, maps.rows - 1), right = std::min(maps.columns / 2, maps.columns - 1);
  const std::size_t across = 2 * maps.columns - 1, top = maps.rows - 1 - down, left = maps.columns - 1 - right;
  const auto lags = slice_of(maps.lags, head, (2 * maps.rows - 1) * across);
  return {"by offset",
          2 * down + 1,
          2 * right + 1,
          -static_cast<double>(down),
          -static_cast<double>(right),
          [=](std::size_t r, std::size_t c) { return lags[(top + r) * across + left + c]; }};
}

/// All panels of a head.
std::vector<PatchCells> patch_cells(const GridMaps& maps, std::size_t head) {
  const auto place_cells = [&](const std::vector<double>& all, std::size_t place, const std::string& title) {
    const auto patches = slice_of(all, place, maps.rows * maps.columns);
    return PatchCells{
        title, maps.rows, maps.columns,
        0,     0,         [patches, columns = maps.columns](auto r, auto c) {
                        return patches[r * columns + c]; }};
  };
  std::vector<PatchCells> cells{lag_cells(maps, head), place_cells(maps.received, head, "received")};
  for (std::size_t q = 0; q < maps.queries; ++q)  // by number: texts of a result never reach a script
    cells.push_back(place_cells(maps.map, head * maps.queries + q,
                                q + 1 < maps.queries ? fmt::format("from token {}", q) : "from the middle"));
  return cells;
}

DataTable dot_table(double right, double down) {
  DataTable table({"right", "down", "size"});
  table.add_row({right, down, 0.9});
  return table;
}

/// Panel p of a head.
void add_patches(Page& page, Panel& panel, std::size_t p, const HeadName& name, const PatchCells& cells) {
  const auto across = static_cast<double>(cells.columns), down = static_cast<double>(cells.rows);
  const double left = cells.first_column, top = cells.first_row;
  panel.tic_length(0.3);
  panel.x_axis({left - 0.5, left + across - 0.5}, {.step = std::max(1.0, tic_step(across)), .points = 6, .away = -0.3});
  panel.y_axis({top + down - 0.5, top - 0.5}, {.step = std::max(1.0, tic_step(down)), .points = 6});
  panel.note(fmt::format("{} {}", head_name(name.layer, name.head), cells.title), panel.over(0, 0.1), {.points = 7});
  panel.title_below(p == 0 ? "patches right" : "column", 0.3);
  if (p < 2 || panel.is_leftmost())
    panel.title_left(p > 0 ? "row" : panel.height() < title_needs ? "down" : "patches down", 0.3);
  const double largest = cells.largest();
  panel.color_range({0, largest});
  ColorBar bar = amount_bar(largest, "", 0.05);
  bar.tics.step = tic_step(largest * std::max(1.0, title_needs / panel.height()));
  panel.color_bar(bar);
  DataTable kept({"layer", "head", "panel", "row", "column", "weight"});
  for (std::size_t r = 0; r < cells.rows; ++r)
    for (std::size_t c = 0; c < cells.columns; ++c)
      kept.add_row({name.layer, name.head, cells.title, static_cast<double>(r) + top, static_cast<double>(c) + left,
                    cells.amount(r, c)});
  page.keep(kept);
  const std::size_t block = std::clamp<std::size_t>(128 / std::max(cells.rows, cells.columns), 2, 16);
  panel.heat_map(page.data(pixels({cells.columns, cells.rows, [&](auto c, auto r) { return cells.amount(r, c); },
                                   [&](double c) { return c + left; }, [&](double r) { return r + top; }},
                                  block, block)));
}

/// Panels follow each other head by head, all of one in a row if there is room.
GnuplotFigure draw_grid_offset(const Result& result, const FigureOptions& options) {
  const GridMaps maps = grid_maps_of(result);
  PanelFlow flow{.grid = {.panel = {.width = 1.45},
                          .gap = {0.8, 0.72},
                          .margin = {.left = 0.55, .right = 0.62, .top = 0.3, .bottom = 0.45}},
                 .in_row = maps.panels(),
                 .least = 0.7,
                 .each = maps.panels(),
                 .note = "colours: attention weight, each panel from 0 to its largest"};
  const double flatness = static_cast<double>(maps.rows) / static_cast<double>(maps.columns);
  const double width = grid_of(flow, maps.panels(), options.style).panel.width;
  flow.grid.panel.height = std::clamp(width * flatness, 0.25, 4.0);
  const std::vector<ChosenHead> heads = heads_on_page(result, lags_name, options, flow);
  return drawn_panels(flow, heads.size() * flow.each, options.style, [&](Page& page, Panel& panel, std::size_t k) {
    const std::size_t p = k % flow.each;
    const ChosenHead& head = heads[k / flow.each];
    add_patches(page, panel, p, head.name, patch_cells(maps, head.row)[p]);
    if (p > 0) return;
    panel.dots(page.data(dot_table(0, 0)), "1:2:3", {ink::guide, 1, Shape::disc});
    const double down = maps.down[head.row], right = maps.right[head.row];
    if (std::isfinite(down) && std::isfinite(right))
      panel.dots(page.data(dot_table(right, down)), "1:2:3", {ink::mark, 1, Shape::ring}, 2);
  });
}

}  // namespace

FigureKind grid_offset_figure() {
  return {.name = "grid_offset",
          .fields = {lags_name, received_name, patch_map_name, down_name, right_name},
          .extras = strength_fields(),
          .caption =
              "Attention of single heads over the patches of images. By offset: mean weight on the patch so many "
              "rows down and columns right; dot: the patch itself, ring: the measured offset. Received: mean weight "
              "that the patch at a place gets from all patches, over all images. From token 0 ([CLS]) and others "
              "before the patches, from the middle: weights of one token over the patches of one image. Each panel "
              "has its own colour scale from 0 to its largest weight.",
          .drawing = draw_grid_offset,
          .single_heads = true};
}

}  // namespace headwave
