// Figures of runs in which something was changed: what documents say, or where keys stand.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"
#include "../drawing/page.h"
#include "kinds.h"

namespace headwave {

namespace {

constexpr const char *carried_weight_name = "carried_waves/mean_weight", *carried_sum_name = "carried_waves/weighted",
                     *re_aimed_offset_name = "re_aiming/offset";

/// Names of the heads on an axis; read and written anew, since they come from a file and go into a script.
std::vector<std::string> rewritten_heads(const Field& field, const char* axis) {
  std::vector<std::string> names;
  for (const std::string& text : labels_of(field, axis)) {
    const HeadName name = parse_head_name(text);
    names.push_back(head_name(name.layer, name.head));
  }
  return names;
}

/// Our own words for a condition; what a file says reaches no script.
std::string condition_title(const std::string& condition) {
  for (const char* known : {"as it is", "positions only", "words only", "words shuffled"})
    if (condition == known) return known;
  return "another condition";
}

Line condition_line(std::size_t condition) {
  return categorical_line(static_cast<Index>(condition), 1.4);
}

/// What one panel shows: the numbers of one head under all conditions.
struct Carried {
  std::string head, quantity;
  std::vector<std::vector<double>> curves;  // (conditions, offsets)
};

void add_carried(Page& page, Panel& panel, const Carried& carried, const std::vector<std::string>& conditions,
                 const std::vector<double>& offsets) {
  std::vector<double> all;
  for (const auto& curve : carried.curves) all.insert(all.end(), curve.begin(), curve.end());
  const ValueRange range = range_with_zero(all);
  panel.x_axis({offsets.front() - 0.5, offsets.back() + 0.5}, {.step = 10});
  panel.y_axis(range, {.step = tic_step(range.high - range.low)});
  panel.vertical(0, {ink::zero_line, 0.8});
  for (std::size_t c = 0; c < conditions.size(); ++c) {
    DataTable table({"head", "condition", "quantity", "offset", "value"});
    for (std::size_t t = 0; t < offsets.size(); ++t)
      table.add_row({carried.head, conditions[c], carried.quantity, offsets[t], carried.curves[c][t]});
    panel.curve(page.numbers(table), "4:5", condition_line(c));
  }
}

/// A column per head of two rows each, and where one page does not hold so many columns the others below.
PanelGrid carried_grid(std::size_t heads, const std::vector<LegendEntry>& legend, const FigureStyle& style) {
  PanelGrid grid{
      .columns = heads, .panel = {2.0, 1.5}, .gap = {.x = 0.5}, .margin = {.left = 0.7, .right = 0.16, .top = 0.6}};
  grid = fitted(with_legend_above(grid, legend, style), heads, 1.7, style);
  grid.gap.y = grid.rows > 1 ? 0.62 : 0.3;
  grid.rows *= 2;
  return grid;
}

GnuplotFigure draw_carried_waves(const Result& result, const FigureOptions& options) {
  const auto& weights = doubles_of(result, carried_weight_name, {"condition", "carried_head", "offset"});
  const auto& sums = doubles_of(result, carried_sum_name, {"condition", "carried_head", "offset"});
  const Field& field = result.at(carried_weight_name);
  const auto offsets = coordinates(field, "offset");
  const auto& conditions = labels_of(field, "condition");
  const auto heads = rewritten_heads(field, "carried_head");
  std::vector<LegendEntry> legend;
  for (std::size_t c = 0; c < conditions.size(); ++c)
    legend.push_back({condition_title(conditions[c]), condition_line(c)});
  const PanelGrid grid = carried_grid(heads.size(), legend, options.style);
  Page page(grid, options.style);
  page.legend(legend);
  for (std::size_t h = 0; h < heads.size(); ++h)
    for (const bool above : {true, false}) {
      Panel& panel = page.panel(2 * grid.row_of(h) + (above ? 0 : 1), grid.column_of(h));
      if (above) panel.above(heads[h], Anchor::left, {.points = 8, .bold = true, .up = 0.5});
      if (!above) panel.title_below("offset t = key − query (tokens)");
      if (grid.column_of(h) == 0)
        panel.title_left(above ? "mean attention weight" : "score sum ÷ its peak as it is", 0.5);
      Carried carried{heads[h], above ? "mean_weight" : "weighted_share", {}};
      double unit = 0;  // the largest sum, up or down, of the model as it is: other heads' scores have other sizes
      for (std::size_t c = 0; c < conditions.size(); ++c) {
        const auto curve = slice_of(above ? weights : sums, c * heads.size() + h, offsets.size());
        carried.curves.emplace_back(curve.begin(), curve.end());
        for (const double value : curve)
          if (c == 0 && !above && std::isfinite(value)) unit = std::max(unit, std::abs(value));
        for (double& value : carried.curves.back()) value /= unit > 0 ? unit : 1;
      }
      add_carried(page, panel, carried, conditions, offsets);
    }
  return page.figure();
}

double whole_step(double range) {
  return std::max(1.0, std::round(tic_step(range)));
}

GnuplotFigure draw_re_aiming(const Result& result, const FigureOptions& options) {
  const auto& offsets = doubles_of(result, re_aimed_offset_name, {"re_aimed_head", "shift"});
  const auto& slopes = doubles_of(result, "re_aiming/slope", {"re_aimed_head"});
  const Field& field = result.at(re_aimed_offset_name);
  const auto shifts = whole_coordinates(field, "shift");
  const std::vector<std::string> heads = rewritten_heads(field, "re_aimed_head");
  const auto zero = static_cast<std::size_t>(std::ranges::find(shifts, Index{0}) - shifts.begin());
  if (zero == shifts.size())
    throw ShapeError(fmt::format("{}: expected a shift of 0 among the others", re_aimed_offset_name));

  double furthest = static_cast<double>(std::max(-shifts.front(), shifts.back()));
  std::vector<DataTable> tables;
  for (std::size_t h = 0; h < heads.size(); ++h) {
    tables.emplace_back(std::vector<std::string>{"head", "shift", "offset", "moved", "place"});
    // Heads that move alike would cover each other: each stands a little aside.
    const double aside = 0.05 * (static_cast<double>(h) - 0.5 * static_cast<double>(heads.size() - 1));
    for (std::size_t s = 0; s < shifts.size(); ++s) {
      const double offset = offsets[h * shifts.size() + s], moved = offset - offsets[h * shifts.size() + zero];
      if (std::isfinite(moved)) furthest = std::max(furthest, std::abs(moved));
      tables.back().add_row({heads[h], shifts[s], offset, moved, static_cast<double>(shifts[s]) + aside});
    }
  }

  PanelGrid grid{.panel = {3.2, std::max(2.6, 0.19 * static_cast<double>(heads.size()) + 0.5)},
                 .margin = {.right = 1.7, .top = 0.12}};
  grid = fitted(with_legend_beside(grid, heads.size() + 1, options.style), 1, 1.0, options.style);
  Page page(grid, options.style);
  Panel& panel = page.panel(0);
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

FigureKind carried_waves_figure() {
  return {"carried_waves",
          {carried_weight_name, carried_sum_name},
          {},
          "What carries the offsets of single heads. Above: mean attention weight at each offset t = key position "
          "minus query position. Below: scores before mask and softmax, without row means, summed along each diagonal "
          "and divided by the head's largest sum, up or down, of the model as it is. Lines are runs of the model as it "
          "is, with every word the same, with every position the same, and with the words in another order.",
          draw_carried_waves};
}

FigureKind re_aiming_figure() {
  return {"re_aiming",
          {re_aimed_offset_name, "re_aiming/slope"},
          {},
          "How far attention moves when a head's keys are re-aimed by u tokens in the running model: measured offset "
          "less that of the model as it is. A head that reads position alone moves by -u, the dashed line. Heads stand "
          "a little beside each other; a point is missing if no offset can be told from chance.",
          draw_re_aiming};
}

}  // namespace headwave
