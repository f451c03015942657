#include "weighted_profile_figure.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "../../core/fields/head_name.h"
#include "../drawing/panels.h"
#include "chosen_heads.h"
#include "cluster_peaks.h"
#include "weighted_sums.h"

namespace headwave {

namespace {

constexpr std::size_t most_panels = 128 * 128;

/// One head: name, curve, and the maximum's lag.
void add_panel(GnuplotFigure& figure, const WeightedSums& sums, const ChosenHead& chosen, double points) {
  const auto& [layer, head] = chosen.name;
  const std::size_t row = chosen.row;
  const std::size_t peak = sums.peak(row);
  const double at = peak < sums.lags.size() ? sums.lags[peak] : std::numeric_limits<double>::quiet_NaN();
  DataTable table({"layer", "head", "lag", "weighted_centred", "largest_at", "measured_offset"});
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (std::size_t t = 0; t < sums.lags.size(); ++t) {
    if (!sums.shown(t)) continue;
    table.add_row({layer, head, sums.lags[t], sums.value(row, t), at, chosen.measured});
    if (!std::isfinite(sums.value(row, t))) continue;
    low = std::min(low, sums.value(row, t));
    high = std::max(high, sums.value(row, t));
  }
  const double room = high > low ? 0.08 * (high - low) : 1;
  figure.add(low <= high ? fmt::format("set yrange [{}:{}]", low - room, high + room) : "set yrange [0:1]");
  figure.add(low < 0 && high > 0 ? "set arrow 2 from graph 0, first 0 to graph 1, first 0 nohead back lc rgb "
                                   "\"#d8d8d8\" lw 0.6"
                                 : "unset arrow 2");
  figure.add(fmt::format("set label 1 \"{}\" at graph 0, graph 1 left offset 0,0.35 font \"sans-serif:Bold,{:.2f}\"",
                         head_name(layer, head), points));
  const bool measured = std::isfinite(chosen.measured);
  figure.add("unset label 2\nunset label 3");
  if (peak < sums.lags.size())
    figure.add(
        fmt::format("set label 2 \"{0}\" at graph 1, graph 1 right offset 0,0.35 font \"sans-serif:Bold,{1:.2f}\" tc "
                    "rgb \"{4}\"\nset label 3 \"\" at {2}, {3} front point pt 7 ps 0.3 lc rgb \"{4}\"",
                    signed_offset(at), points, at, sums.value(row, peak), measured ? "#D55E00" : "#606060"));
  figure.add(fmt::format("plot \"{}\" using 3:4 with lines lc rgb \"{}\" lw 1.3", figure.add_numbers(table),
                         measured ? "#0072B2" : "#909090"));
}

}  // namespace

GnuplotFigure weighted_profile_figure(const Result& result, const FigureOptions& options) {
  const WeightedSums sums = weighted_sums(result);
  if (sums.rows() > most_panels)
    throw ShapeError(fmt::format("cross_covariance/weighted_centred: {} heads are too many to draw, {} at most",
                                 sums.rows(), most_panels));
  FigureOptions all = options;
  all.heads.clear();
  const auto heads = chosen_heads(result, "cross_covariance/weighted_centred", all, sums.rows());
  const PanelGrid grid = head_panels(static_cast<Index>(sums.layers.size()), static_cast<Index>(sums.heads.size()));
  const double points = std::clamp(grid.panel_width * 7.5, 4.2, 7.0);
  const double reach = sums.reach();
  GnuplotFigure figure(grid.width(), grid.height());
  figure.add(house_style());
  figure.add(
      fmt::format("set xtics {0} font \"sans-serif,{1:.2f}\" offset 0,0.5\nset border 1 lw 0.6 lc rgb "
                  "\"#808080\"\nunset ytics\nset xrange [-{2}:{2}]",
                  tic_step(2 * reach), points, reach));
  figure.add("set arrow 1 from 0, graph 0 to 0, graph 1 nohead back lc rgb \"#b8b8b8\" lw 0.7");
  figure.add(fmt::format("set multiplot\nset label 91 \"lag t = key − query (tokens)\" at {} center",
                         grid.page((grid.left + grid.width() - grid.right) / 2, 0.1)));
  figure.add(fmt::format("set label 92 \"{}\" at {} center rotate by 90",
                         grid.height() > 3 ? "weighted sum of cross-covariances (own scale)" : "weighted sum",
                         grid.page(0.12, (grid.bottom + grid.height() - grid.top) / 2)));
  for (std::size_t row = 0; row < sums.rows(); ++row) {
    const auto layer = static_cast<Index>(row / sums.heads.size()), head = static_cast<Index>(row % sums.heads.size());
    figure.add(grid.place(layer, head));
    figure.add(layer + 1 == grid.rows ? "set format x \"%g\"" : "set format x \"\"");
    add_panel(figure, sums, heads[row], points);
    figure.add("unset label 91\nunset label 92");  // the page's own titles, drawn with the first panel
  }
  figure.add("unset multiplot");
  return figure;
}

}  // namespace headwave
