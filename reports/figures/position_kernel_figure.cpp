#include "position_kernel_figure.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "../../core/fields/head_name.h"
#include "../drawing/field_values.h"
#include "../drawing/panels.h"
#include "cluster_peaks.h"

namespace headwave {

namespace {

constexpr const char* kernel_name = "position_atlas/kernel";
constexpr double window = 32.0;  // tokens on either side
constexpr std::size_t most_panels = 128 * 128;

/// One head: name, weight, curve, and a line where positions alone would land.
void add_panel(GnuplotFigure& figure, const std::string& name, const DataTable& table, double predicted, double weight,
               double points) {
  const auto label = [&](int number, const char* text, const std::string& what, const char* side, const char* colour) {
    figure.add(
        fmt::format("set label {} \"{}\" at graph {}, graph 1 {} offset 0,0.35 font \"sans-serif{},{:.2f}\" tc rgb "
                    "\"{}\"",
                    number, what, side, std::string(side) == "0" ? "left" : "right", text, points, colour));
  };
  label(1, ":Bold", name, "0", "#000000");
  label(2, "", !std::isfinite(weight) ? "" : fmt::format("{:.2f}", weight), "1", "#606060");
  figure.add("unset label 3\nunset arrow 2");
  if (std::isfinite(predicted)) {
    if (std::abs(predicted) <= window)
      figure.add(
          fmt::format("set arrow 2 from {0}, graph 0 to {0}, graph 1 nohead back lc rgb \"#D55E00\" lw 1", predicted));
    figure.add(
        fmt::format("set label 3 \"{}\" at graph 0.6, graph 1 center offset 0,0.35 font "
                    "\"sans-serif:Bold,{:.2f}\" tc rgb \"#D55E00\"",
                    signed_offset(predicted), points));
  }
  figure.add(fmt::format("plot \"{}\" using 3:4 with lines lc rgb \"{}\" lw 1.3", figure.add_numbers(table),
                         !std::isfinite(predicted) ? "#808080" : "#0072B2"));
}

}  // namespace

GnuplotFigure position_kernel_figure(const Result& result, const FigureOptions& /*options*/) {
  const auto& kernel = doubles_of(result, kernel_name, {"layer", "head", "kernel_offset"});
  const Field& field = result.at(kernel_name);
  const auto layers = whole_coordinates(field, "layer");
  const auto heads = whole_coordinates(field, "head");
  const auto offsets = coordinates(field, "kernel_offset");
  const auto& predicted = doubles_of(result, "position_atlas/offset", {"layer", "head"});
  constexpr const char* weight_name = "position_atlas/weight";
  const auto weight = result.find(weight_name) == nullptr ? std::vector<double>(predicted.size(), std::nan(""))
                                                          : doubles_of(result, weight_name, {"layer", "head"});
  if (layers.empty() || heads.empty() || offsets.empty() || layers.size() * heads.size() > most_panels ||
      predicted.size() != layers.size() * heads.size() || weight.size() != predicted.size())
    throw ShapeError(fmt::format("{}: {} layers of {} heads over {} offsets cannot be drawn", kernel_name,
                                 layers.size(), heads.size(), offsets.size()));
  const PanelGrid grid = head_panels(static_cast<Index>(layers.size()), static_cast<Index>(heads.size()));
  const double points = std::clamp(grid.panel_width * 7.5, 4.2, 7.0);
  const double reach = std::min(window, std::max(1.0, offsets.back()));

  GnuplotFigure figure(grid.width(), grid.height());
  figure.add(house_style());
  figure.add(
      fmt::format("set xtics {0} font \"sans-serif,{1:.2f}\" offset 0,0.5\nset border 1 lw 0.6 lc rgb "
                  "\"#808080\"\nunset ytics\nset xrange [-{2}:{2}]",
                  tic_step(2 * reach), points, reach));
  figure.add("set arrow 1 from 0, graph 0 to 0, graph 1 nohead back lc rgb \"#b8b8b8\" lw 0.7\nset multiplot");
  figure.add(fmt::format("set label 91 \"offset t = key − query (tokens)\" at {} center",
                         grid.page((grid.left + grid.width() - grid.right) / 2, 0.1)));
  figure.add(fmt::format("set label 92 \"mean score by position (own scale)\" at {} center rotate by 90",
                         grid.page(0.12, (grid.bottom + grid.height() - grid.top) / 2)));
  for (std::size_t row = 0; row < predicted.size(); ++row) {
    const std::size_t layer = row / heads.size(), head = row % heads.size();
    DataTable table({"layer", "head", "offset", "mean_score", "predicted_offset", "predicted_weight"});
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (std::size_t t = 0; t < offsets.size(); ++t) {
      const double score = kernel[row * offsets.size() + t];
      if (std::abs(offsets[t]) > reach) continue;
      if (std::isfinite(score)) {
        low = std::min(low, score);
        high = std::max(high, score);
      }
      table.add_row({layers[layer], heads[head], offsets[t], score, predicted[row], weight[row]});
    }
    const double room = high > low ? 0.06 * (high - low) : 1.0;
    figure.add(low <= high ? fmt::format("set yrange [{}:{}]", low - room, high + room) : "set yrange [0:1]");
    figure.add(grid.place(static_cast<Index>(layer), static_cast<Index>(head)));
    figure.add(layer + 1 == layers.size() ? "set format x \"%g\"" : "set format x \"\"");
    add_panel(figure, head_name(layers[layer], heads[head]), table, predicted[row], weight[row], points);
    figure.add("unset label 91\nunset label 92");  // the page's own titles, drawn with the first panel
  }
  figure.add("unset multiplot");
  return figure;
}

}  // namespace headwave
