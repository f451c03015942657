#include "re_aiming_figure.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../../core/fields/head_name.h"
#include "../drawing/field_values.h"
#include "../drawing/page.h"

namespace headwave {

namespace {

constexpr const char* re_aimed_offset_name = "re_aiming/offset";

/// Names of the heads; read and written anew, since they come from a file and go into a script.
std::vector<std::string> heads_of(const Result& result) {
  std::vector<std::string> names;
  for (const std::string& text : labels_of(result.at(re_aimed_offset_name), "re_aimed_head")) {
    const HeadName name = parse_head_name(text);
    names.push_back(head_name(name.layer, name.head));
  }
  return names;
}

/// Where among the shifts 0 stands.
std::size_t zero_of(const std::vector<Index>& shifts) {
  const auto zero = std::find(shifts.begin(), shifts.end(), Index{0});
  if (zero == shifts.end())
    throw ShapeError(fmt::format("{}: expected a shift of 0 among the others", re_aimed_offset_name));
  return static_cast<std::size_t>(zero - shifts.begin());
}

double whole_step(double range) {
  return std::max(1.0, std::round(tic_step(range)));
}

GnuplotFigure draw_re_aiming(const Result& result, const FigureOptions& options) {
  const auto& offsets = doubles_of(result, re_aimed_offset_name, {"re_aimed_head", "shift"});
  const auto& slopes = doubles_of(result, "re_aiming/slope", {"re_aimed_head"});
  const auto shifts = whole_coordinates(result.at(re_aimed_offset_name), "shift");
  const std::vector<std::string> heads = heads_of(result);
  if (heads.empty() || slopes.size() != heads.size())
    throw ShapeError(fmt::format("{}: expected a slope for each of {} heads", re_aimed_offset_name, heads.size()));
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
  grid = fitted(with_legend_beside(grid, heads.size() + 1, options.style), 1, 1.0, options.style);
  Page page(grid, options.style);
  Panel& panel = page.panel(0, 0);
  panel.title_below("keys re-aimed by u (tokens)");
  panel.title_left("attended offset moves by (tokens)");
  const auto first = static_cast<double>(shifts.front()), last = static_cast<double>(shifts.back());
  panel.x_axis({first - 0.6, last + 0.6}, {.step = whole_step(last - first)});
  panel.y_axis({-furthest - 0.6, furthest + 0.6}, {.step = whole_step(2 * furthest)});
  panel.legend_beside("head: slope");
  panel.falling_diagonal({ink::reference, 1.2, "2"}, "position alone");
  for (std::size_t h = 0; h < heads.size(); ++h)
    panel.curve(
        page.numbers(tables[h]), "5:4", categorical_line(static_cast<Index>(h), 1.8, 0.5),
        fmt::format("{}: {}", heads[h], std::isfinite(slopes[h]) ? fmt::format("{:.2f}", slopes[h]) : "no offset"));
  return page.figure();
}

}  // namespace

FigureKind re_aiming_figure() {
  return {"re_aiming",
          {"re_aiming/offset", "re_aiming/slope"},
          {},
          "How far attention moves when a head's keys are re-aimed by u tokens in the running model: measured offset "
          "less that of the model as it is. Where position is all that a head reads it moves by -u, the dashed line. "
          "Heads stand a little beside each other; where no offset can be told from chance a point is missing.",
          draw_re_aiming};
}

}  // namespace headwave
