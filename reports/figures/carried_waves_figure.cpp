#include "carried_waves_figure.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../../core/fields/head_name.h"
#include "../drawing/field_values.h"
#include "../drawing/page.h"

namespace headwave {

namespace {

constexpr const char* mean_weight_name = "carried_waves/mean_weight";
constexpr const char* weighted_name = "carried_waves/weighted";

/// Our own words for a condition; what a file says reaches no script.
std::string condition_title(const std::string& condition) {
  for (const char* known : {"as it is", "positions only", "words only", "words shuffled"})
    if (condition == known) return known;
  return "another condition";
}

/// What one panel shows of one Field: the numbers of one head, all conditions, in parts of a unit.
struct HeadCurves {
  const std::vector<double>* values;
  std::size_t head, heads, conditions, offsets;
  double unit = 1;
  [[nodiscard]] double at(std::size_t condition, std::size_t t) const {
    return (*values)[(condition * heads + head) * offsets + t] / unit;
  }
};

/// Of a head's sums the largest there is, up or down, as the model is: other heads' scores have other sizes.
double largest_of(const HeadCurves& curves) {
  double largest = 0;
  for (std::size_t t = 0; t < curves.offsets; ++t)
    if (const double value = std::abs(curves.at(0, t)); std::isfinite(value)) largest = std::max(largest, value);
  return largest > 0 ? largest : 1;
}

ValueRange range_of(const HeadCurves& curves) {
  std::vector<double> shown;
  for (std::size_t c = 0; c < curves.conditions; ++c)
    for (std::size_t t = 0; t < curves.offsets; ++t) shown.push_back(curves.at(c, t));
  return range_with_zero(shown);
}

/// The curves of one head, all conditions.
void add_curves(Page& page, Panel& panel, const HeadCurves& curves, const std::vector<std::string>& conditions,
                const std::vector<double>& offsets, const std::string& head, const std::string& quantity) {
  const ValueRange range = range_of(curves);
  panel.x_axis({offsets.front() - 0.5, offsets.back() + 0.5}, {.step = 10});
  panel.y_axis(range, {.step = tic_step(range.high - range.low)});
  panel.vertical(0, {ink::zero_line, 0.8});
  for (std::size_t c = 0; c < conditions.size(); ++c) {
    DataTable table({"head", "condition", "quantity", "offset", "value"});
    for (std::size_t t = 0; t < offsets.size(); ++t)
      table.add_row({head, conditions[c], quantity, offsets[t], curves.at(c, t)});
    panel.curve(page.numbers(table), "4:5", categorical_line(static_cast<Index>(c), 1.4));
  }
}

std::vector<LegendEntry> legend_of(const std::vector<std::string>& conditions) {
  std::vector<LegendEntry> legend;
  for (std::size_t c = 0; c < conditions.size(); ++c)
    legend.push_back({condition_title(conditions[c]), categorical_line(static_cast<Index>(c), 1.4)});
  return legend;
}

/// A column per head of two rows each, and where one page does not hold so many columns the others below.
PanelGrid carried_grid(std::size_t heads, const std::vector<LegendEntry>& legend, const FigureStyle& style) {
  PanelGrid grid;
  grid.columns = static_cast<Index>(heads);
  grid.panel_width = 2.0;
  grid.panel_height = 1.5;
  grid.gap_x = 0.5;
  grid.left = 0.7;
  grid.right = 0.16;
  grid.top = 0.6;
  grid = fitted(with_legend_above(grid, legend, style), heads, 1.7, style);
  grid.gap_y = grid.rows > 1 ? 0.62 : 0.3;
  grid.rows *= 2;
  return grid;
}

GnuplotFigure draw_carried_waves(const Result& result, const FigureOptions& options) {
  const auto& weights = doubles_of(result, mean_weight_name, {"condition", "carried_head", "carried_offset"});
  const auto& scores = doubles_of(result, weighted_name, {"condition", "carried_head", "carried_offset"});
  const auto offsets = coordinates(result.at(mean_weight_name), "carried_offset");
  const auto conditions = labels_of(result.at(mean_weight_name), "condition");
  const auto heads = labels_of(result.at(mean_weight_name), "carried_head");
  if (heads.empty() || conditions.empty() || offsets.empty() || scores.size() != weights.size())
    throw ShapeError(
        fmt::format("{}: expected as many numbers as {}, of at least one head", weighted_name, mean_weight_name));

  const auto legend = legend_of(conditions);
  const PanelGrid grid = carried_grid(heads.size(), legend, options.style);
  Page page(grid, options.style);
  page.legend(legend);
  for (std::size_t h = 0; h < heads.size(); ++h) {
    const HeadName parsed = parse_head_name(heads[h]);
    const std::string name = head_name(parsed.layer, parsed.head);
    for (const bool above : {true, false}) {
      Panel& panel = page.panel(2 * grid.row_of(h) + (above ? 0 : 1), grid.column_of(h));
      if (above) panel.above(name, Anchor::left, {.points = 8, .bold = true, .up = 0.5});
      if (!above) panel.title_below("offset t = key − query (tokens)");
      if (grid.column_of(h) == 0)
        panel.title_left(above ? "mean attention weight" : "score sum ÷ its peak as it is", 0.5);
      HeadCurves curves{above ? &weights : &scores, h, heads.size(), conditions.size(), offsets.size()};
      if (!above) curves.unit = largest_of(curves);
      add_curves(page, panel, curves, conditions, offsets, name, above ? "mean_weight" : "weighted_share");
    }
  }
  return page.figure();
}

}  // namespace

FigureKind carried_waves_figure() {
  return {
      "carried_waves",
      {"carried_waves/mean_weight", "carried_waves/weighted"},
      {},
      "What carries the offsets of single heads. Above: mean attention weight at each offset t = key position "
      "minus query position. Below: scores before mask and softmax, without row means, summed along each diagonal and "
      "divided by the head's largest sum, up or down, of the model as it is. Lines are runs of the model as it "
      "is, with every word the same, with every position the same, and with the words in another order.",
      draw_carried_waves};
}

}  // namespace headwave
