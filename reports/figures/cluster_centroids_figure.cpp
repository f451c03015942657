#include <algorithm>

#include <fmt/format.h>

#include "../drawing/field_values.h"
#include "../drawing/palette.h"
#include "../drawing/panels.h"
#include "cluster_figures.h"
#include "cluster_peaks.h"

namespace headwave {

GnuplotFigure cluster_centroids_figure(const Result& result, const FigureOptions& /*options*/) {
  constexpr const char* name = "head_cluster/centroid";
  const auto& centroids = doubles_of(result, name, {"cluster", "window_offset"});
  const auto& mass = doubles_of(result, "head_cluster/mass", {"cluster"});
  const auto offsets = coordinates(result.at(name), "window_offset");
  const auto clusters = whole_coordinates(result.at(name), "cluster");
  const auto peaks = cluster_peaks(result);
  if (clusters.empty() || offsets.empty()) throw ShapeError(fmt::format("{}: holds no centroid to draw", name));
  if (mass.size() != clusters.size())
    throw ShapeError(fmt::format("head_cluster/mass: expected {} clusters, found {}", clusters.size(), mass.size()));

  PanelGrid grid;
  grid.panel_width = 3.6;
  grid.panel_height = std::max(2.3, 0.19 * static_cast<double>(clusters.size()) + 0.3);
  grid.right = 1.7;
  grid.top = 0.12;
  GnuplotFigure figure(grid.width(), grid.height());
  figure.add(house_style());
  figure.add(grid.place(0, 0));
  figure.add(grid.title_below(0, 0, "offset t = key − query (tokens)"));
  figure.add(grid.title_left(0, 0, "summed attention weight at offset t"));
  const ValueRange range = range_with_zero(centroids);
  figure.add(fmt::format("set xrange [{}:{}]\nset yrange [{}:{}]", offsets.front() - 0.4, offsets.back() + 0.4,
                         range.low, range.high));
  figure.add("set arrow 1 from 0, graph 0 to 0, graph 1 nohead back lc rgb \"#b8b8b8\" lw 0.8");
  figure.add(
      fmt::format("set key at screen {:.6f}, graph 1 left top Left reverse samplen 3.2 spacing 1.25 title \"cluster: "
                  "peak offset, mass\" left font \"sans-serif,7.5\"",
                  (grid.left + grid.panel_width + 0.1) / grid.width()));
  std::string plot;
  for (std::size_t c = 0; c < clusters.size(); ++c) {
    DataTable table({"cluster", "mass", "offset", "centroid"});
    for (std::size_t t = 0; t < offsets.size(); ++t)
      table.add_row({clusters[c], mass[c], offsets[t], centroids[c * offsets.size() + t]});
    plot += fmt::format("{}\"{}\" using 3:4 with linespoints {} ps 0.4 title \"{}: {}, {:.1f} %\"",
                        c == 0 ? "plot " : ", ", figure.add_numbers(table), line_style(clusters[c]), clusters[c],
                        signed_offset(peaks[c]), 100 * mass[c]);
  }
  figure.add(plot);
  return figure;
}

}  // namespace headwave
