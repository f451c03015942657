#include "re_aiming_figure.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../../core/fields/head_name.h"
#include "../drawing/field_values.h"
#include "../drawing/palette.h"
#include "../drawing/panels.h"

namespace headwave {

namespace {

constexpr const char* offset_name = "re_aiming/offset";

/// Names of the heads; read and written anew, since they come from a file and go into a script.
std::vector<std::string> heads_of(const Result& result) {
  std::vector<std::string> names;
  for (const std::string& text : labels_of(result.at(offset_name), "re_aimed_head")) {
    const HeadName name = parse_head_name(text);
    names.push_back(head_name(name.layer, name.head));
  }
  return names;
}

/// Where among the shifts 0 stands.
std::size_t zero_of(const std::vector<Index>& shifts) {
  const auto zero = std::find(shifts.begin(), shifts.end(), Index{0});
  if (zero == shifts.end()) throw ShapeError(fmt::format("{}: expected a shift of 0 among the others", offset_name));
  return static_cast<std::size_t>(zero - shifts.begin());
}

}  // namespace

GnuplotFigure re_aiming_figure(const Result& result, const FigureOptions& /*options*/) {
  const auto& offsets = doubles_of(result, offset_name, {"re_aimed_head", "shift"});
  const auto& slopes = doubles_of(result, "re_aiming/slope", {"re_aimed_head"});
  const auto shifts = whole_coordinates(result.at(offset_name), "shift");
  const std::vector<std::string> heads = heads_of(result);
  if (heads.empty() || slopes.size() != heads.size())
    throw ShapeError(fmt::format("{}: expected a slope for each of {} heads", offset_name, heads.size()));
  const std::size_t zero = zero_of(shifts);

  double furthest = static_cast<double>(std::max(-shifts.front(), shifts.back()));
  std::vector<DataTable> tables;
  for (std::size_t h = 0; h < heads.size(); ++h) {
    DataTable table({"head", "shift", "offset", "moved", "place"});
    // Heads that move alike would cover each other: each stands a little aside.
    const double aside = 0.05 * (static_cast<double>(h) - 0.5 * static_cast<double>(heads.size() - 1));
    for (std::size_t s = 0; s < shifts.size(); ++s) {
      const double offset = offsets[h * shifts.size() + s];
      const double moved = offset - offsets[h * shifts.size() + zero];
      if (std::isfinite(moved)) furthest = std::max(furthest, std::abs(moved));
      table.add_row({heads[h], shifts[s], offset, moved, static_cast<double>(shifts[s]) + aside});
    }
    tables.push_back(std::move(table));
  }

  PanelGrid grid;
  grid.panel_width = 3.2;
  grid.panel_height = std::max(2.6, 0.19 * static_cast<double>(heads.size()) + 0.5);
  grid.right = 1.7;
  grid.top = 0.12;
  GnuplotFigure figure(grid.width(), grid.height());
  figure.add(house_style());
  figure.add(grid.place(0, 0));
  figure.add(grid.title_below(0, 0, "keys re-aimed by u (tokens)"));
  figure.add(grid.title_left(0, 0, "attended offset moves by (tokens)"));
  figure.add(fmt::format("set xrange [{}:{}]\nset yrange [{}:{}]\nset xtics {}\nset ytics {}",
                         static_cast<double>(shifts.front()) - 0.6, static_cast<double>(shifts.back()) + 0.6,
                         -furthest - 0.6, furthest + 0.6,
                         std::max(1.0, std::round(tic_step(static_cast<double>(shifts.back() - shifts.front())))),
                         std::max(1.0, std::round(tic_step(2 * furthest)))));
  figure.add(fmt::format(
      "set key at screen {:.6f}, graph 1 left top Left reverse samplen 3.2 spacing 1.25 title \"head: slope\" "
      "left font \"sans-serif,7.5\"",
      (grid.left + grid.panel_width + 0.1) / grid.width()));
  std::string plot = "plot -x with lines lc rgb \"#909090\" dt 2 lw 1.2 title \"position alone\"";
  for (std::size_t h = 0; h < heads.size(); ++h) {
    const std::string slope = std::isfinite(slopes[h]) ? fmt::format("{:.2f}", slopes[h]) : "no offset";
    plot += fmt::format(", \"{}\" using 5:4 with linespoints {} ps 0.5 title \"{}: {}\"", figure.add_numbers(tables[h]),
                        line_style(static_cast<Index>(h)), heads[h], slope);
  }
  figure.add(plot);
  return figure;
}

}  // namespace headwave
