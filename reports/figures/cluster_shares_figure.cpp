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
DotLegend legend_of(const std::vector<Index>& clusters, const std::vector<double>& peaks,
                    const std::vector<bool>& preferences) {
  DotLegend legend{.title = peaks.empty() ? "cluster" : "cluster: peak offset", .entries = {}};
  for (std::size_t c = 0; c < clusters.size(); ++c) {
    const std::string peak = c < peaks.size() ? ": " + cluster_peak_text(c, peaks, preferences) : "";
    legend.entries.push_back({{cluster_ink(clusters[c], c, preferences), 0.8}, fmt::format("{}{}", clusters[c], peak)});
  }
  return legend;
}

/// The number of the cluster that most texts assign a head to, where it stands on that cluster's colour: colours alone
/// do not reach everyone.
DataTable numbers_on(const Shares& shares, std::size_t cluster) {
  DataTable table({"column", "row", "cluster"});
  const std::size_t heads = shares.heads.size(), clusters = shares.clusters.size();
  for (std::size_t pie = 0; pie < shares.layers.size() * heads; ++pie) {
    const auto first = shares.values->begin() + static_cast<std::ptrdiff_t>(pie * clusters);
    const auto most = std::max_element(first, first + static_cast<std::ptrdiff_t>(clusters));
    if (*most > 0 && static_cast<std::size_t>(most - first) == cluster)
      table.add_row({static_cast<Index>(pie % heads), static_cast<Index>(pie / heads), shares.clusters[cluster]});
  }
  return table;
}

PanelGrid grid_of(const Shares& shares, const FigureStyle& style) {
  const auto across = static_cast<double>(shares.heads.size());
  const auto down = static_cast<double>(shares.layers.size());
  PanelGrid grid;
  grid.left = 0.5;
  grid.bottom = 0.42;
  grid.top = 0.1;
  grid.right = 1.35;
  const double cell = std::clamp(5.2 / std::max(across, down), 0.2, 0.5);
  return with_cells(grid, shares.heads.size(), shares.layers.size(), cell, cell, shares.clusters.size(), style);
}

GnuplotFigure draw_shares(const Result& result, const FigureOptions& options, const std::string& group) {
  const std::string cluster_share_name = group + "/share";
  const Field& field = result.at(cluster_share_name);
  const Shares shares{&doubles_of(result, cluster_share_name, {"layer", "head", "cluster"}),
                      whole_coordinates(field, "layer"), whole_coordinates(field, "head"),
                      whole_coordinates(field, "cluster")};
  if (shares.values->empty()) throw ShapeError(fmt::format("{}: holds no share to draw", cluster_share_name));
  const bool known = result.find(group + "/centroid") != nullptr;
  const auto peaks = known ? cluster_peaks(result, group) : std::vector<double>{};
  const auto preferences = known ? cluster_preferences(result, group) : std::vector<bool>{};

  const PanelGrid grid = grid_of(shares, options.style);
  const double pie = 2 * radius * grid.panel_width / static_cast<double>(shares.heads.size());  // inches
  Page page(grid, options.style);
  Panel& panel = page.panel(0, 0);
  panel.frame(Frame::none);
  panel.x_axis({-0.5, static_cast<double>(shares.heads.size()) - 0.5},
               {.named = every_nth(shares.heads, every(shares.heads.size())), .away = -0.4});
  panel.y_axis({static_cast<double>(shares.layers.size()) - 0.5, -0.5},
               {.named = every_nth(shares.layers, every(shares.layers.size())), .away = -0.5});
  panel.title_below("head", 0.3);
  panel.title_left("layer", 0.32);
  panel.legend_beside(legend_of(shares.clusters, peaks, preferences));
  for (std::size_t c = 0; c < shares.clusters.size(); ++c)
    // gnuplot counts angles anticlockwise from the right, takes an empty slice for a whole circle and draws nothing
    // where a whole one does not begin at 0.
    panel.pies(page.numbers(slices_of(shares, c)),
               fmt::format("5:6:($8>$7?{}:NaN):($8-$7<1?90-360*$8:0):($8-$7<1?90-360*$7:360)", radius),
               cluster_ink(shares.clusters[c], c, preferences));
  // All pies first: a number must not lie below the slice of another cluster.
  for (std::size_t c = 0; c < shares.clusters.size() && pie * 72 > 1.5 * legible(0, options.style); ++c)
    if (const DataTable numbers = numbers_on(shares, c); !numbers.rows().empty())
      panel.texts(page.data(numbers), "1:2:3",
                  {.points = std::min(8.0, pie * 72 / 2),
                   .bold = true,
                   .ink = text_on(cluster_ink(shares.clusters[c], c, preferences)),
                   .anchor = Anchor::center});
  return page.figure();
}

GnuplotFigure draw_cluster_shares(const Result& result, const FigureOptions& options) {
  return draw_shares(result, options, "head_cluster");
}

GnuplotFigure draw_score_shares(const Result& result, const FigureOptions& options) {
  return draw_shares(result, options, "score_cluster");
}

}  // namespace

FigureKind cluster_shares_figure() {
  return {
      "cluster_shares",
      {"head_cluster/share"},
      {"head_cluster/centroid"},
      "To which cluster the texts assign each head: one pie per head, one slice per cluster, as shares of all "
      "texts. Colours are those of the centroids, the number is that of the largest slice; it is left out where pies "
      "are too small to read it. Grey clusters prefer no offset: their centroid is nowhere 2.5 times its median.",
      draw_cluster_shares};
}

FigureKind score_shares_figure() {
  return {
      "score_shares",
      {"score_cluster/share"},
      {"score_cluster/centroid"},
      "To which cluster of scores, before mask and softmax, the texts assign each head: one pie per head, one slice "
      "per cluster, as shares of all texts. Colours are those of the centroids, the number is that of the largest "
      "slice; it is left out where pies are too small to read it. Grey clusters prefer no offset: their centroid is "
      "nowhere 2.5 times the median of what is above 0 in it.",
      draw_score_shares};
}

}  // namespace headwave
