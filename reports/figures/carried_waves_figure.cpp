#include "carried_waves_figure.h"

#include <cmath>

#include <fmt/format.h>

#include "../../core/fields/head_name.h"
#include "../drawing/field_values.h"
#include "../drawing/palette.h"
#include "../drawing/panels.h"

namespace headwave {

namespace {

constexpr const char* weight_name = "carried_waves/mean_weight";
constexpr const char* weighted_name = "carried_waves/weighted";

/// Our own words for a condition; what a file says reaches no script.
std::string condition_title(const std::string& condition) {
  for (const char* known : {"as it is", "positions only", "words only", "words shuffled"})
    if (condition == known) return known;
  return "another condition";
}

/// What one panel shows of one Field: the numbers of one head, all conditions.
struct Panel {
  const std::vector<double>* values;
  std::size_t head, heads, conditions, offsets;
  [[nodiscard]] double at(std::size_t condition, std::size_t t) const {
    return (*values)[(condition * heads + head) * offsets + t];
  }
};

ValueRange range_of(const Panel& panel) {
  std::vector<double> shown;
  for (std::size_t c = 0; c < panel.conditions; ++c)
    for (std::size_t t = 0; t < panel.offsets; ++t) shown.push_back(panel.at(c, t));
  return range_with_zero(shown);
}

void add_panel(GnuplotFigure& figure, const Panel& panel, const std::vector<std::string>& conditions,
               const std::vector<double>& offsets, const std::string& head, const std::string& quantity) {
  const ValueRange range = range_of(panel);
  figure.add(fmt::format("set xrange [{}:{}]\nset yrange [{}:{}]\nset xtics 10\nset ytics {}\nunset key",
                         offsets.front() - 0.5, offsets.back() + 0.5, range.low, range.high,
                         tic_step(range.high - range.low)));
  figure.add("set arrow 1 from 0, graph 0 to 0, graph 1 nohead back lc rgb \"#b8b8b8\" lw 0.8");
  std::string plot;
  for (std::size_t c = 0; c < conditions.size(); ++c) {
    DataTable table({"head", "condition", "quantity", "offset", "value"});
    for (std::size_t t = 0; t < offsets.size(); ++t)
      table.add_row({head, conditions[c], quantity, offsets[t], panel.at(c, t)});
    plot += fmt::format("{}\"{}\" using 4:5 with lines {} notitle", c == 0 ? "plot " : ", ", figure.add_numbers(table),
                        line_style(static_cast<Index>(c), 1.4));
  }
  figure.add(plot);
}

}  // namespace

GnuplotFigure carried_waves_figure(const Result& result, const FigureOptions& /*options*/) {
  const auto& weights = doubles_of(result, weight_name, {"condition", "carried_head", "carried_offset"});
  const auto& scores = doubles_of(result, weighted_name, {"condition", "carried_head", "carried_offset"});
  const auto offsets = coordinates(result.at(weight_name), "carried_offset");
  const auto conditions = labels_of(result.at(weight_name), "condition");
  const auto heads = labels_of(result.at(weight_name), "carried_head");
  if (heads.empty() || conditions.empty() || offsets.empty() || scores.size() != weights.size())
    throw ShapeError(
        fmt::format("{}: expected as many numbers as {}, of at least one head", weighted_name, weight_name));

  PanelGrid grid;
  grid.rows = 2;
  grid.columns = static_cast<Index>(heads.size());
  grid.panel_width = 2.0;
  grid.panel_height = 1.5;
  grid.gap_x = 0.65;
  grid.gap_y = 0.3;
  grid.left = 0.8;
  grid.top = 0.6;
  GnuplotFigure figure(grid.width(), grid.height());
  std::vector<LegendEntry> legend;
  for (std::size_t c = 0; c < conditions.size(); ++c)
    legend.push_back({condition_title(conditions[c]), line_style(static_cast<Index>(c), 1.4)});
  figure.add("set multiplot\n" + legend_above(grid, legend));
  figure.add(house_style());
  for (std::size_t h = 0; h < heads.size(); ++h) {
    const HeadName parsed = parse_head_name(heads[h]);
    const std::string name = head_name(parsed.layer, parsed.head);
    const auto column = static_cast<Index>(h);
    for (const Index row : {0, 1}) {
      figure.add(grid.place(row, column));
      figure.add("unset label");
      if (row == 0) figure.add(fmt::format("set label 1 \"{}\" at graph 0, graph 1.09 font \"sans-serif,9\"", name));
      if (row == 1) figure.add(grid.title_below(1, column, "offset t = key − query (tokens)"));
      if (h == 0)
        figure.add(grid.title_left(row, 0, row == 0 ? "mean attention weight" : "scores summed along t", 0.62));
      const Panel panel{row == 0 ? &weights : &scores, h, heads.size(), conditions.size(), offsets.size()};
      add_panel(figure, panel, conditions, offsets, name, row == 0 ? "mean_weight" : "weighted");
    }
  }
  figure.add("unset multiplot");
  return figure;
}

}  // namespace headwave
