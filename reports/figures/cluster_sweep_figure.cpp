#include "cluster_sweep_figure.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "../drawing/field_values.h"
#include "../drawing/page.h"

namespace headwave {

namespace {

struct Measure {
  const char* field;
  const char* label;
};

constexpr std::array measures{
    Measure{"head_cluster/sweep_inertia", "inertia"},
    Measure{"head_cluster/sweep_silhouette", "mean silhouette"},
    Measure{"head_cluster/sweep_stability", "stability (ARI)"},
};

/// A power of 1000 that brings large numbers below 1000, and how it is written behind a label.
struct Scale {
  double factor = 1.0;
  std::string text;
};

Scale scale_of(double largest) {
  constexpr std::array powers{"", "10³", "10⁶", "10⁹", "10¹²"};
  Scale scale;
  for (std::size_t p = 1; p < powers.size() && largest >= 1000 * scale.factor; ++p)
    scale = {scale.factor * 1000, fmt::format(" / {}", powers[p])};
  return scale;
}

GnuplotFigure draw_cluster_sweep(const Result& result, const FigureOptions& options) {
  const auto clusters = whole_coordinates(result.at(measures[0].field), "clusters");
  std::array<const std::vector<double>*, measures.size()> values{};
  for (std::size_t m = 0; m < measures.size(); ++m) {
    values[m] = &doubles_of(result, measures[m].field, {"clusters"});
    if (values[m]->size() != clusters.size() || clusters.empty())
      throw ShapeError(fmt::format("{}: expected {} numbers of clusters, found {}; at least one is needed",
                                   measures[m].field, clusters.size(), values[m]->size()));
  }
  DataTable table({"clusters", "inertia", "silhouette", "stability"});
  for (std::size_t k = 0; k < clusters.size(); ++k)
    table.add_row({clusters[k], (*values[0])[k], (*values[1])[k], (*values[2])[k]});

  PanelGrid grid;
  grid.panel_width = 1.75;
  grid.panel_height = 1.45;
  grid.gap_x = 0.68;
  grid.gap_y = 0.55;
  grid.left = 0.58;
  grid.top = 0.1;
  grid = fitted(flowing(grid, measures.size(), measures.size()), measures.size(), 1.45, options.style);
  Page page(grid, options.style);
  const std::string file = page.numbers(table);
  const auto [few, many] = std::minmax_element(clusters.begin(), clusters.end());
  const Index span = *many - *few;
  for (std::size_t m = 0; m < measures.size(); ++m) {
    const ValueRange range = range_with_zero(*values[m]);
    const Scale scale = scale_of(range.high);
    Panel& panel = page.panel(m);
    panel.x_axis({static_cast<double>(*few) - 0.5, static_cast<double>(*many) + 0.5}, {.step = span > 12  ? 4.0
                                                                                               : span > 6 ? 2.0
                                                                                                          : 1.0});
    panel.y_axis({range.low / scale.factor, range.high / scale.factor},
                 {.step = tic_step((range.high - range.low) / scale.factor)});
    panel.title_below("number of clusters");
    panel.title_left(measures[m].label + scale.text, 0.42);
    if (const Field* centroid = result.find("head_cluster/centroid"))
      panel.vertical(static_cast<double>(centroid->axis("cluster").size()), {ink::chosen, 0.6, "-"});
    panel.curve(file, fmt::format("1:(${}/{})", m + 2, scale.factor), categorical_line(0, 1.8, 0.5));
  }
  return page.figure();
}

}  // namespace

FigureKind cluster_sweep_figure() {
  return {"cluster_sweep",
          {"head_cluster/sweep_inertia", "head_cluster/sweep_silhouette", "head_cluster/sweep_stability"},
          {"head_cluster/centroid"},
          "How much to believe the number of clusters: inertia (sum of squared distances to the centroids), mean "
          "silhouette, and stability (adjusted Rand index between bootstrap runs) against the number of clusters. The "
          "dotted line marks the number used.",
          draw_cluster_sweep};
}

}  // namespace headwave
