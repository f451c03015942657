#include "cluster_centroids_figure.h"

#include <algorithm>

#include <fmt/format.h>

#include "../drawing/field_values.h"
#include "../drawing/page.h"
#include "cluster_peaks.h"

namespace headwave {

namespace {

GnuplotFigure draw_centroids(const Result& result, const FigureOptions& options, const std::string& group,
                             const std::string& title) {
  const std::string centroid_name = group + "/centroid", mass_name = group + "/mass";
  const auto& centroids = doubles_of(result, centroid_name, {"cluster", "window_offset"});
  const auto& mass = doubles_of(result, mass_name, {"cluster"});
  const auto offsets = coordinates(result.at(centroid_name), "window_offset");
  const auto clusters = whole_coordinates(result.at(centroid_name), "cluster");
  const auto peaks = cluster_peaks(result, group);
  const auto preferences = cluster_preferences(result, group);
  if (clusters.empty() || offsets.empty())
    throw ShapeError(fmt::format("{}: holds no centroid to draw", centroid_name));
  if (mass.size() != clusters.size())
    throw ShapeError(fmt::format("{}: expected {} clusters, found {}", mass_name, clusters.size(), mass.size()));

  PanelGrid grid;
  grid.panel_width = 3.6;
  grid.panel_height = std::max(2.3, 0.19 * static_cast<double>(clusters.size()) + 0.3);
  grid.left = 0.78;
  grid.right = 1.7;
  grid.top = 0.12;
  grid = fitted(with_legend_beside(grid, clusters.size(), options.style), 1, 1.0, options.style);
  Page page(grid, options.style);
  Panel& panel = page.panel(0, 0);
  panel.title_below("offset t = key − query (tokens)");
  panel.title_left(title, 0.64);
  panel.x_axis({offsets.front() - 0.4, offsets.back() + 0.4});
  panel.y_axis(range_with_zero(centroids));
  panel.vertical(0, {ink::zero_line, 0.8});
  panel.legend_beside("cluster: peak offset, mass");
  for (std::size_t c = 0; c < clusters.size(); ++c) {
    DataTable table({"cluster", "mass", "offset", "centroid"});
    for (std::size_t t = 0; t < offsets.size(); ++t)
      table.add_row({clusters[c], mass[c], offsets[t], centroids[c * offsets.size() + t]});
    Line line = categorical_line(clusters[c], 1.8, 0.4);
    line.ink = cluster_ink(clusters[c], c, preferences);
    panel.curve(page.numbers(table), "3:4", line,
                fmt::format("{}: {}, {:.1f} %", clusters[c], cluster_peak_text(c, peaks, preferences), 100 * mass[c]));
  }
  return page.figure();
}

GnuplotFigure draw_cluster_centroids(const Result& result, const FigureOptions& options) {
  return draw_centroids(result, options, "head_cluster", "summed attention weight at offset t");
}

GnuplotFigure draw_score_centroids(const Result& result, const FigureOptions& options) {
  return draw_centroids(result, options, "score_cluster", "summed score at offset t");
}

}  // namespace

FigureKind cluster_centroids_figure() {
  return {"cluster_centroids",
          {"head_cluster/centroid", "head_cluster/mass"},
          {},
          "Centroids of the clusters of offset traces: attention weight summed over a text's query-key pairs at each "
          "offset t = key position minus query position. The legend gives each cluster's share of all traces and the "
          "offset where its centroid peaks, none where that is the end of the window. Grey clusters prefer none: their "
          "centroid is "
          "nowhere 2.5 times its median.",
          draw_cluster_centroids};
}

FigureKind score_centroids_figure() {
  return {"score_centroids",
          {"score_cluster/centroid", "score_cluster/mass"},
          {},
          "Centroids of the clusters of scores: scores as scaled, before mask and softmax and without their row means, "
          "summed over a text's query-key pairs at each offset t = key position minus query position. The legend gives "
          "each cluster's share of all vectors and the offset where its centroid peaks, none where that is the end of "
          "the window. Grey clusters prefer none: their centroid is nowhere 2.5 times the median of what is above 0 in "
          "it.",
          draw_score_centroids};
}

}  // namespace headwave
