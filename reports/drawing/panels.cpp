#include "panels.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace headwave {

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

std::string PanelGrid::place(Index row, Index column) const {
  const double x = panel_left(column);
  const double y = panel_bottom(row);
  return fmt::format(
      "set lmargin at screen {:.6f}\nset rmargin at screen {:.6f}\nset bmargin at screen {:.6f}\nset tmargin at screen "
      "{:.6f}",
      x / width(), (x + panel_width) / width(), y / height(), (y + panel_height) / height());
}

std::string PanelGrid::page(double x, double y) const {
  return fmt::format("screen {:.6f}, screen {:.6f}", x / width(), y / height());
}

std::string PanelGrid::title_below(Index row, Index column, const std::string& title, double distance) const {
  return fmt::format("set label 91 \"{}\" at {} center", title,
                     page(panel_left(column) + panel_width / 2, panel_bottom(row) - distance));
}

std::string PanelGrid::title_left(Index row, Index column, const std::string& title, double distance) const {
  return fmt::format("set label 92 \"{}\" at {} center rotate by 90", title,
                     page(panel_left(column) - distance, panel_bottom(row) + panel_height / 2));
}

std::string legend_above(const PanelGrid& grid, const std::vector<LegendEntry>& entries, double below) {
  std::string plot;
  for (const LegendEntry& entry : entries)
    plot += fmt::format("{}NaN with lines {} title \"{}\"", plot.empty() ? "" : ", ", entry.style, entry.title);
  return fmt::format(
      "set lmargin at screen 0\nset rmargin at screen 1\nset bmargin at screen 0\nset tmargin at screen 1\nset border "
      "0\nunset xtics\nunset ytics\nset key at screen 0.5, screen {:.6f} center center horizontal samplen 2.6 maxrows "
      "1\nplot [0:1] [0:1] {}\nset border 31\nset xtics\nset ytics",
      1 - below / grid.height(), plot);
}

PanelGrid head_panels(Index layers, Index heads) {
  PanelGrid grid;
  grid.rows = layers;
  grid.columns = heads;
  const double across = static_cast<double>(std::max(heads, layers));
  grid.panel_width = std::clamp(8.4 / across, 0.56, 1.9);
  grid.panel_height = grid.panel_width * 0.62;
  grid.gap_x = 0.08;
  grid.gap_y = 0.19;
  grid.left = 0.32;
  grid.bottom = 0.44;
  grid.right = 0.12;
  grid.top = 0.2;
  return grid;
}

double tic_step(double range) {
  const double rough = range / 4;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double digit = rough / power;
  return power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
}

ValueRange range_with_zero(const std::vector<double>& values) {
  ValueRange range{0.0, 0.0};
  for (const double value : values)
    if (std::isfinite(value)) {
      range.low = std::min(range.low, value);
      range.high = std::max(range.high, value);
    }
  if (!(range.high > range.low)) return {};
  const double room = 0.07 * (range.high - range.low);
  return {range.low < 0 ? range.low - room : 0.0, range.high + room};
}

std::string house_style() {
  return "set minussign\n"
         "set border lw 0.8 lc rgb \"#404040\"\n"
         "set tics out nomirror scale 0.5,0.25\n"
         "unset key";
}

}  // namespace headwave
