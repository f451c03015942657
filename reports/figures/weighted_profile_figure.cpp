#include "weighted_profile_figure.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "../drawing/page.h"
#include "chosen_heads.h"
#include "cluster_peaks.h"
#include "profile_panels.h"
#include "weighted_sums.h"

namespace headwave {

namespace {

/// One head: name, curve, and the maximum's lag.
void add_panel(Page& page, const HeadPanels& grid, const WeightedSums& sums, const ChosenHead& chosen) {
  const auto& [layer, head] = chosen.name;
  const std::size_t row = chosen.row, peak = sums.peak(row);
  const double at = peak < sums.lags.size() ? sums.lags[peak] : std::numeric_limits<double>::quiet_NaN();
  DataTable table({"layer", "head", "lag", "weighted_centred", "largest_at", "measured_offset"});
  std::vector<double> shown;
  for (std::size_t t = 0; t < sums.lags.size(); ++t) {
    if (!sums.shown(t)) continue;
    shown.push_back(sums.value(row, t));
    table.add_row({layer, head, sums.lags[t], shown.back(), at, chosen.measured});
  }
  const bool measured = std::isfinite(chosen.measured);
  const auto l = static_cast<Index>(row / sums.heads.size()), h = static_cast<Index>(row % sums.heads.size());
  const ValueRange range = range_around(shown, 0.08);
  Panel& panel = page.panel(grid.row(l, h), grid.column(h));
  panel.frame(Frame::base_line);
  panel.x_axis({-sums.reach(), sums.reach()}, {.step = tic_step(2 * sums.reach()),
                                               .numbers = grid.is_lowest(l, h) ? Numbers::plain : Numbers::none,
                                               .points = grid.points,
                                               .away = -0.5});
  panel.y_axis(range);
  panel.without_y_tics();
  panel.vertical(0, {ink::zero_line, 0.7});
  const auto [low, high] = std::minmax_element(shown.begin(), shown.end());
  if (low != shown.end() && *low < 0 && *high > 0) panel.level(0, {ink::pale_zero_line, 0.6});
  add_head_name(panel, grid, grid.column(h), {layer, head});
  if (peak < sums.lags.size()) {
    const Ink ink = measured ? ink::mark : ink::number;
    panel.above(signed_offset(at), Anchor::right, {.points = grid.points, .bold = true, .ink = ink, .up = 0.35});
    panel.mark({value(at), value(sums.value(row, peak))}, {ink, 0.3}, "", {.front = true});
  } else if (const std::string arrow = end_arrow(shown); !arrow.empty()) {
    panel.above(arrow, Anchor::right, {.points = grid.points, .bold = true, .ink = ink::number, .up = 0.35});
  }
  panel.curve(page.numbers(table), "3:4", {measured ? ink::measured : ink::reference, 1.3});
}

GnuplotFigure draw_weighted_profile(const Result& result, const FigureOptions& options) {
  const WeightedSums sums = weighted_sums(result);
  if (sums.rows() > most_head_panels)
    throw ShapeError(fmt::format("cross_covariance/weighted_centred: {} heads are too many to draw, {} at most",
                                 sums.rows(), most_head_panels));
  FigureOptions all = options;
  all.heads.clear();
  const auto heads = chosen_heads(result, "cross_covariance/weighted_centred", all, sums.rows());
  HeadPanels grid =
      head_panels(static_cast<Index>(sums.layers.size()), static_cast<Index>(sums.heads.size()), options.style);
  const auto notes = note_lines({"dot and number: lag of the largest sum (tokens)", "grey: no measured offset",
                                 "arrow: largest at the end of what is shown"},
                                grid.width());
  const double below = note_line * static_cast<double>(notes.size());
  grid.bottom += below;
  Page page(grid, options.style);
  for (const ChosenHead& head : heads) add_panel(page, grid, sums, head);
  page.title_below("lag t = key − query (tokens)", 0.1 + below);
  page.note_below(notes);
  page.title_left(grid.height() > 3 ? "weighted sum of cross-covariances (own scale)" : "weighted sum");
  return page.figure();
}

}  // namespace

FigureKind weighted_profile_figure() {
  return {"weighted_profile",
          {"cross_covariance/weighted_centred"},
          {"measured_offset/offset"},
          "Where the scores of every head point: gain-weighted sum of the cross-covariances of redefined queries and "
          "keys at each lag t = key position minus query position, which is the sum of the unscaled scores along a "
          "diagonal; row means of the scores taken away, each panel on its own scale. The dot and its number mark the "
          "maximum in tokens, of lags up to 30, which are shown; an arrow stands where it is at their end. Panels in "
          "grey have no measured offset.",
          draw_weighted_profile};
}

}  // namespace headwave
