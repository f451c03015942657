#include "cluster_shares_figure.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "../drawing/field_values.h"
#include "../drawing/page.h"
#include "cluster_peaks.h"

namespace headwave {

namespace {

constexpr const char* cluster_share_name = "head_cluster/share";
constexpr double radius = 0.42;  // of the distance between two pies

struct Shares {
  const std::vector<double>* values = nullptr;  // (layers, heads, clusters)
  std::vector<Index> layers, heads, clusters;
};

/// Slices of one cluster over all heads: `column` and `row` are the pie's place, `begin` and `end` turns clockwise from
/// the top.
DataTable slices_of(const Shares& shares, std::size_t cluster) {
  DataTable table({"layer", "head", "cluster", "share", "column", "row", "begin", "end"});
  const std::size_t heads = shares.heads.size();
  const auto size = [](double share) { return std::isfinite(share) && share > 0 ? share : 0.0; };
  for (std::size_t pie = 0; pie < shares.layers.size() * heads; ++pie) {
    const double* share = shares.values->data() + pie * shares.clusters.size();
    double before = 0.0;
    double whole = 0.0;
    for (std::size_t c = 0; c < shares.clusters.size(); ++c) {
      whole += size(share[c]);
      if (c < cluster) before += size(share[c]);
    }
    const double begin = whole > 0 ? before / whole : 0.0;
    const double end = whole > 0 ? (before + size(share[cluster])) / whole : 0.0;
    table.add_row({shares.layers[pie / heads], shares.heads[pie % heads], shares.clusters[cluster], share[cluster],
                   static_cast<Index>(pie % heads), static_cast<Index>(pie / heads), begin, end});
  }
  return table;
}

std::size_t every(std::size_t count) {
  return count > 40 ? 4 : count > 20 ? 2 : 1;
}

/// Dots with the cluster's number and the offset of its peak.
DotLegend legend_of(const std::vector<Index>& clusters, const std::vector<double>& peaks) {
  DotLegend legend{.title = peaks.empty() ? "cluster" : "cluster: peak offset", .entries = {}};
  for (std::size_t c = 0; c < clusters.size(); ++c)
    legend.entries.push_back(
        {{categorical(clusters[c]), 0.8},
         fmt::format("{}{}", clusters[c], c < peaks.size() ? ": " + signed_offset(peaks[c]) : "")});
  return legend;
}

PanelGrid grid_of(const Shares& shares, const FigureStyle& style) {
  const auto across = static_cast<double>(shares.heads.size());
  const auto down = static_cast<double>(shares.layers.size());
  PanelGrid grid;
  grid.left = 0.5;
  grid.bottom = 0.42;
  grid.top = 0.1;
  grid.right = 1.3;
  const double cell = std::clamp(5.2 / std::max(across, down), 0.2, 0.5);
  return with_cells(grid, shares.heads.size(), shares.layers.size(), cell, cell, shares.clusters.size(), style);
}

GnuplotFigure draw_cluster_shares(const Result& result, const FigureOptions& options) {
  const Field& field = result.at(cluster_share_name);
  const Shares shares{&doubles_of(result, cluster_share_name, {"layer", "head", "cluster"}),
                      whole_coordinates(field, "layer"), whole_coordinates(field, "head"),
                      whole_coordinates(field, "cluster")};
  if (shares.values->empty()) throw ShapeError(fmt::format("{}: holds no share to draw", cluster_share_name));
  const auto peaks = result.find("head_cluster/centroid") != nullptr ? cluster_peaks(result) : std::vector<double>{};

  Page page(grid_of(shares, options.style), options.style);
  Panel& panel = page.panel(0, 0);
  panel.frame(Frame::none);
  panel.x_axis({-0.5, static_cast<double>(shares.heads.size()) - 0.5},
               {.named = every_nth(shares.heads, every(shares.heads.size())), .away = -0.4});
  panel.y_axis({static_cast<double>(shares.layers.size()) - 0.5, -0.5},
               {.named = every_nth(shares.layers, every(shares.layers.size())), .away = -0.5});
  panel.title_below("head", 0.3);
  panel.title_left("layer", 0.32);
  panel.legend_beside(legend_of(shares.clusters, peaks));
  for (std::size_t c = 0; c < shares.clusters.size(); ++c)
    // gnuplot counts angles anticlockwise from the right, takes an empty slice for a whole circle and draws nothing
    // where a whole one does not begin at 0.
    panel.pies(page.numbers(slices_of(shares, c)),
               fmt::format("5:6:($8>$7?{}:NaN):($8-$7<1?90-360*$8:0):($8-$7<1?90-360*$7:360)", radius),
               categorical(shares.clusters[c]));
  return page.figure();
}

}  // namespace

FigureKind cluster_shares_figure() {
  return {"cluster_shares",
          {"head_cluster/share"},
          {"head_cluster/centroid"},
          "To which cluster the texts assign each head: one pie per head, one slice per cluster, as shares of all "
          "texts. Colours are those of the centroids.",
          draw_cluster_shares};
}

}  // namespace headwave
