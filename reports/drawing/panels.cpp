#include "panels.h"

#include <algorithm>
#include <cmath>

namespace headwave {

namespace {

constexpr double head_panel_needs = 6.1;  // letters of a head's name and a number in a small panel
constexpr double head_alone_needs = 5.3;  // the same without its layer
constexpr double layer_name = 0.12;       // inches
constexpr double least_beside = 2.6;      // inches of panel beside a legend

Index rows_for(std::size_t panels, Index columns) {
  return (static_cast<Index>(panels) + columns - 1) / columns;
}

/// What is left for each of so many panels in a row.
double room(const PanelGrid& grid, Index columns, double page) {
  const auto n = static_cast<double>(columns);
  return (page - grid.left - grid.right - (n - 1) * grid.gap_x) / n;
}

/// As many columns as fit, rows equally full.
Index columns_for(const PanelGrid& grid, Index panels, double least, double page) {
  Index columns = std::min(grid.columns, panels);
  while (columns > 1 && room(grid, columns, page) < least) --columns;
  const Index rows = rows_for(static_cast<std::size_t>(panels), columns);
  return (panels + rows - 1) / rows;
}

}  // namespace

double PanelGrid::width() const {
  const auto n = static_cast<double>(columns);
  return left + right + n * panel_width + (n - 1) * gap_x;
}

double PanelGrid::height() const {
  const auto n = static_cast<double>(rows);
  return top + bottom + n * panel_height + (n - 1) * gap_y;
}

double PanelGrid::panel_left(Index column) const {
  return left + static_cast<double>(column) * (panel_width + gap_x);
}

double PanelGrid::panel_bottom(Index row) const {
  return bottom + static_cast<double>(rows - 1 - row) * (panel_height + gap_y);
}

PanelGrid flowing(PanelGrid grid, std::size_t panels, Index most) {
  grid.columns = std::clamp<Index>(static_cast<Index>(panels), 1, most);
  grid.rows = rows_for(panels, grid.columns);
  return grid;
}

PanelGrid fitted(PanelGrid grid, std::size_t panels, double least, const FigureStyle& style) {
  const double page = layout_width(style);
  if (page == 0) return grid;
  const double natural = grid.panel_width;
  grid.columns = columns_for(grid, static_cast<Index>(panels), least, page);
  grid.rows = rows_for(panels, grid.columns);
  grid.panel_width = std::max(room(grid, grid.columns, page), 0.2);
  if (grid.rows == 1) grid.panel_height *= std::max(1.0, grid.panel_width / natural);
  return grid;
}

PanelGrid with_legend_beside(PanelGrid grid, std::size_t entries, const FigureStyle& style) {
  const double page = layout_width(style);
  if (page == 0 || page - grid.left - grid.right >= least_beside) return grid;
  grid.right = 0.16;
  grid.legend_below = static_cast<double>((entries + 1) / 2 + 1) * legend_line + legend_margin;
  grid.bottom += grid.legend_below;
  return grid;
}

PanelGrid with_cells(PanelGrid grid, std::size_t across, std::size_t down, double cell_width, double cell_height,
                     std::size_t entries, const FigureStyle& style) {
  grid = with_legend_beside(grid, entries, style);
  const auto columns = static_cast<double>(across);
  const double page = layout_width(style);
  const double fits = page > 0 ? (page - grid.left - grid.right) / columns : cell_width;
  grid.panel_width = columns * std::min(cell_width, fits);
  grid.panel_height = static_cast<double>(down) * cell_height * std::min(1.0, fits / cell_width);
  if (page > 0) grid.right = page - grid.left - grid.panel_width;
  if (grid.legend_below == 0)
    grid.bottom += std::max(0.0, legend_line * static_cast<double>(entries + 1) - grid.panel_height - grid.bottom);
  return grid;
}

HeadPanels head_panels(Index layers, Index heads, const FigureStyle& style, double flatness) {
  HeadPanels grid;
  grid.heads = heads;
  grid.rows = layers;
  grid.columns = heads;
  grid.gap_x = 0.08;
  grid.gap_y = 0.19;
  grid.left = 0.32;
  grid.bottom = 0.44;
  grid.right = 0.12;
  grid.top = 0.2;
  const double page = layout_width(style);
  if (page == 0) {
    grid.panel_width = std::clamp(8.4 / static_cast<double>(std::max(heads, layers)), 0.56, 1.9);
  } else {
    const double letter = legible(0, style) / 72;
    grid.columns = columns_for(grid, heads, head_panel_needs * letter, page);
    if (grid.columns < heads && room(grid, heads, page - layer_name) >= head_alone_needs * letter) {
      grid.columns = heads;
      grid.left += layer_name;
      grid.layers_left = true;
    }
    grid.rows = layers * grid.rows_of_layer();
    grid.panel_width = room(grid, grid.columns, page);
  }
  grid.panel_height = grid.panel_width * flatness;
  grid.points = legible(std::min(grid.panel_width * 7.5, 7.0), style);
  return grid;
}

}  // namespace headwave
