#include "panel_grid.h"

#include <algorithm>
#include <cmath>

namespace headwave {

namespace {

constexpr double head_panel_needs = 6.1;  // letters of a head's name and a number in a small panel
constexpr double head_alone_needs = 5.3;  // the same without its layer
constexpr double layer_name = 0.12;       // inches
constexpr double least_beside = 2.6;      // inches of panel beside a legend

std::size_t rows_for(std::size_t panels, std::size_t columns) {
  return (panels + columns - 1) / columns;
}

/// What is left for each of so many panels in a row.
double room(const PanelGrid& grid, std::size_t columns, double page) {
  const auto n = static_cast<double>(columns);
  return (page - grid.margin.left - grid.margin.right - (n - 1) * grid.gap.x) / n;
}

/// As many columns as fit, rows equally full.
std::size_t columns_for(const PanelGrid& grid, std::size_t panels, double least, double page) {
  std::size_t columns = std::min(grid.columns, panels);
  while (columns > 1 && room(grid, columns, page) < least) --columns;
  const std::size_t rows = rows_for(panels, columns);
  return (panels + rows - 1) / rows;
}

}  // namespace

double PanelGrid::width() const {
  const auto n = static_cast<double>(columns);
  return margin.left + margin.right + n * panel.width + (n - 1) * gap.x;
}

double PanelGrid::height() const {
  const auto n = static_cast<double>(rows);
  return margin.top + margin.bottom + n * panel.height + (n - 1) * gap.y;
}

double PanelGrid::panel_left(std::size_t column) const {
  return margin.left + static_cast<double>(column) * (panel.width + gap.x);
}

double PanelGrid::panel_bottom(std::size_t row) const {
  return margin.bottom + static_cast<double>(rows - 1 - row) * (panel.height + gap.y);
}

PanelGrid flowing(PanelGrid grid, std::size_t panels, std::size_t most) {
  grid.columns = std::clamp<std::size_t>(panels, 1, most);
  grid.rows = rows_for(panels, grid.columns);
  grid.panels = panels;
  return grid;
}

PanelGrid fitted(PanelGrid grid, std::size_t panels, double least, const FigureStyle& style) {
  const double page = layout_width(style);
  if (page == 0) return grid;
  const double natural = grid.panel.width;
  grid.columns = columns_for(grid, panels, least, page);
  grid.rows = rows_for(panels, grid.columns);
  grid.panels = panels;
  grid.panel.width = std::max(room(grid, grid.columns, page), 0.2);
  if (grid.rows > 1) return grid;
  const double fits = (layout_height(style) - grid.margin.top - grid.margin.bottom) / grid.panel.height;
  grid.panel.height *= std::max(1.0, std::min(grid.panel.width / natural, fits));
  return grid;
}

std::size_t panels_on_page(const PanelGrid& fitted, const FigureStyle& style) {
  return panels_within(fitted, layout_height(style));
}

std::size_t panels_within(const PanelGrid& fitted, double height) {
  const double room = height - fitted.margin.top - fitted.margin.bottom + fitted.gap.y;
  const double rows = std::floor(room / (fitted.panel.height + fitted.gap.y) + 1e-9);
  return fitted.columns * static_cast<std::size_t>(std::clamp(rows, 1.0, static_cast<double>(fitted.rows)));
}

PanelGrid with_legend_beside(PanelGrid grid, std::size_t entries, const FigureStyle& style) {
  const double page = layout_width(style);
  if (page == 0 || page - grid.margin.left - grid.margin.right >= least_beside) return grid;
  grid.margin.right = 0.16;
  grid.legend_below = static_cast<double>((entries + 1) / 2 + 1) * legend_line + legend_margin;
  grid.margin.bottom += grid.legend_below;
  return grid;
}

PanelGrid with_cells(PanelGrid grid, std::size_t across, std::size_t down, double cell_width, double cell_height,
                     std::size_t entries, const FigureStyle& style) {
  grid = with_legend_beside(grid, entries, style);
  const auto columns = static_cast<double>(across);
  const double page = layout_width(style);
  const double fits = page > 0 ? (page - grid.margin.left - grid.margin.right) / columns : cell_width;
  grid.panel.width = columns * std::min(cell_width, fits);
  grid.panel.height = static_cast<double>(down) * cell_height * std::min(1.0, fits / cell_width);
  if (page > 0) grid.margin.right = page - grid.margin.left - grid.panel.width;
  if (grid.legend_below == 0)
    grid.margin.bottom +=
        std::max(0.0, legend_line * static_cast<double>(entries + 1) - grid.panel.height - grid.margin.bottom);
  return grid;
}

PanelGrid with_room_below(PanelGrid grid, double inches) {
  grid.margin.bottom += inches;
  if (grid.legend_below > 0) grid.legend_below += inches;
  return grid;
}

HeadPanels head_panels(std::size_t layers, std::size_t heads, const FigureStyle& style, double flatness) {
  HeadPanels grid{{.rows = layers,
                   .columns = heads,
                   .gap = {0.08, 0.19},
                   .margin = {.left = 0.32, .right = 0.12, .top = 0.2, .bottom = 0.44}},
                  heads};
  const double page = layout_width(style);
  if (page == 0) {
    if (layers == 1) grid = {flowing(grid, heads, 12), heads};
    grid.panel.width = std::clamp(8.4 / static_cast<double>(std::max(grid.columns, layers)), 0.56, 1.9);
  } else {
    const double letter = legible(0, style) / 72;
    grid.columns = columns_for(grid, heads, head_panel_needs * letter, page);
    if (layers > 1 && grid.columns < heads && room(grid, heads, page - layer_name) >= head_alone_needs * letter) {
      grid.columns = heads;
      grid.margin.left += layer_name;
      grid.layers_left = true;
    }
    grid.rows = layers * grid.rows_of_layer();
    grid.panel.width = room(grid, grid.columns, page);
  }
  grid.panel.height = grid.panel.width * flatness;
  grid.points = legible(std::min(grid.panel.width * 7.5, 7.0), style);
  return grid;
}

}  // namespace headwave
