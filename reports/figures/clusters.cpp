// Kinds of heads by where their attention lands: centroids, which heads belong to which, how much to believe
// their number.
#include "clusters.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"
#include "../../core/numbers/offset_peak.h"
#include "../drawing/page.h"
#include "chosen_heads.h"
#include "kinds.h"

namespace headwave {

namespace {

constexpr const char *centroid_name = "head_cluster/centroid", *cluster_share_name = "head_cluster/share";
constexpr double pie_radius = 0.42;  // of the distance between two pies

const std::vector<double>& centroids_of(const Result& result) {
  return doubles_of(result, centroid_name, {"cluster", "offset"});
}

/// What stands beside a cluster's number: the offset of its peak, "none" if it prefers no offset.
std::string peak_text(std::size_t place, const std::vector<double>& peaks, const std::vector<bool>& preferences) {
  return preferences[place] ? signed_offset(peaks[place]) : "none";
}

/// Number of offsets shown: all, or under a causal mask those up to the last that gets any weight.
std::size_t shown_offsets(const Result& result, const std::vector<double>& centroids, std::size_t offsets) {
  if (attribute_text(result.provenance, "attention") != "causal") return offsets;
  std::size_t shown = 2;
  for (std::size_t i = 0; i < centroids.size(); ++i)
    if (centroids[i] > 0) shown = std::max(shown, i % offsets + 1);
  return std::min(shown, offsets);
}

GnuplotFigure draw_cluster_centroids(const Result& result, const FigureOptions& options) {
  const auto& centroids = centroids_of(result);
  const auto& mass = doubles_of(result, "head_cluster/mass", {"cluster"});
  const auto offsets = coordinates(result.at(centroid_name), "offset");
  const auto clusters = whole_coordinates(result.at(centroid_name), "cluster");
  const auto peaks = cluster_peaks(result);
  const auto preferences = cluster_preferences(result);
  const std::size_t shown = shown_offsets(result, centroids, offsets.size());

  PanelGrid grid{.panel = {3.6, std::max(2.3, 0.19 * static_cast<double>(clusters.size()) + 0.3)},
                 .margin = {.left = 0.78, .right = 1.7, .top = 0.12}};
  grid = fitted(with_legend_beside(grid, clusters.size(), options.style), 1, 1.0, options.style);
  Page page(grid, options.style);
  Panel& panel = page.panel(0);
  panel.title_below("offset t = key − query (tokens)");
  panel.title_left("summed attention weight at offset t", 0.64);
  panel.x_axis({offsets.front() - 0.4, offsets[shown - 1] + 0.4});
  panel.y_axis(range_with_zero(centroids));
  panel.vertical(0, {ink::zero_line, 0.8});
  panel.legend_beside("cluster: peak offset, mass");
  for (std::size_t c = 0; c < clusters.size(); ++c) {
    DataTable table({"cluster", "mass", "offset", "centroid"});
    for (std::size_t t = 0; t < shown; ++t)
      table.add_row({clusters[c], mass[c], offsets[t], centroids[c * offsets.size() + t]});
    Line line = categorical_line(clusters[c], 1.8, 0.4);
    line.ink = cluster_ink(clusters[c], c, preferences);
    panel.curve(page.numbers(table), "3:4", line,
                fmt::format("{}: {}, {:.1f} %", clusters[c], peak_text(c, peaks, preferences), 100 * mass[c]));
  }
  return page.figure();
}

struct Shares {
  const std::vector<double>& values;  // (heads, clusters)
  FieldHeads heads;
  std::vector<Index> clusters;
};

/// Slices of one cluster over all heads: `column` and `row` are the pie's place, `begin` and `end` turns
/// clockwise from the top.
DataTable slices_of(const Shares& shares, std::size_t cluster) {
  DataTable table({"layer", "head", "cluster", "share", "column", "row", "begin", "end"});
  const auto size = [](double share) { return std::isfinite(share) && share > 0 ? share : 0.0; };
  for (std::size_t row = 0; row < shares.heads.size(); ++row) {
    const auto share = slice_of(shares.values, row, shares.clusters.size());
    double before = 0.0, whole = 0.0;
    for (std::size_t c = 0; c < share.size(); ++c) {
      whole += size(share[c]);
      if (c < cluster) before += size(share[c]);
    }
    table.add_row({shares.heads[row].layer, shares.heads[row].head, shares.clusters[cluster], share[cluster],
                   shares.heads.column(row), shares.heads.line(row), whole > 0 ? before / whole : 0.0,
                   whole > 0 ? (before + size(share[cluster])) / whole : 0.0});
  }
  return table;
}

/// The number of the cluster that most texts assign a head to, where it stands on that cluster's colour:
/// colours alone do not reach everyone.
DataTable numbers_on(const Shares& shares, std::size_t cluster) {
  DataTable table({"column", "row", "cluster"});
  for (std::size_t row = 0; row < shares.heads.size(); ++row) {
    const auto share = slice_of(shares.values, row, shares.clusters.size());
    const auto most = std::ranges::max_element(share);
    if (*most > 0 && static_cast<std::size_t>(most - share.begin()) == cluster)
      table.add_row({shares.heads.column(row), shares.heads.line(row), shares.clusters[cluster]});
  }
  return table;
}

GnuplotFigure draw_cluster_shares(const Result& result, const FigureOptions& options) {
  const Field& field = result.at(cluster_share_name);
  const Shares shares{doubles_of(result, cluster_share_name, {"layer", "head", "cluster"}), field_heads(field),
                      whole_coordinates(field, "cluster")};
  const bool known = result.find(centroid_name) != nullptr;
  const auto peaks = known ? cluster_peaks(result) : std::vector<double>{};
  const auto preferences = known ? cluster_preferences(result) : std::vector<bool>{};
  const std::size_t across = shares.heads.heads.size(), down = shares.heads.layers.size();
  DotLegend legend{.title = known ? "cluster: peak offset" : "cluster", .entries = {}};
  for (std::size_t c = 0; c < shares.clusters.size(); ++c)
    legend.entries.push_back(
        {{cluster_ink(shares.clusters[c], c, preferences), 0.8},
         fmt::format("{}{}", shares.clusters[c], known ? ": " + peak_text(c, peaks, preferences) : "")});

  const double cell = std::clamp(5.2 / static_cast<double>(std::max(across, down)), 0.2, 0.5);
  const PanelGrid grid = with_cells({.margin = {.left = 0.5, .right = 1.35, .top = 0.1, .bottom = 0.42}}, across, down,
                                    cell, cell, shares.clusters.size(), options.style);
  const double pie = 2 * pie_radius * grid.panel.width / static_cast<double>(across);  // inches
  Page page(grid, options.style);
  Panel& panel = page.panel(0);
  panel.frame(Frame::none);
  add_head_axes(panel, shares.heads);
  panel.legend_beside(legend);
  for (std::size_t c = 0; c < shares.clusters.size(); ++c)
    // gnuplot counts angles anticlockwise from the right, takes an empty slice for a whole circle and draws
    // nothing where a whole one does not begin at 0.
    panel.pies(page.numbers(slices_of(shares, c)),
               fmt::format("5:6:($8>$7?{}:NaN):($8-$7<1?90-360*$8:0):($8-$7<1?90-360*$7:360)", pie_radius),
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

struct Measure {
  const char* field;
  const char* label;
};

constexpr std::array sweep_measures{Measure{"head_cluster/sweep_inertia", "inertia"},
                                    Measure{"head_cluster/sweep_silhouette", "mean silhouette"},
                                    Measure{"head_cluster/sweep_stability", "stability (ARI)"}};

/// A power of 1000 that brings large numbers below 1000, and how it is written after a label.
std::pair<double, std::string> scale_of(double largest) {
  constexpr std::array powers{"", "10³", "10⁶", "10⁹", "10¹²"};
  std::pair<double, std::string> scale{1.0, ""};
  for (std::size_t p = 1; p < powers.size() && largest >= 1000 * scale.first; ++p)
    scale = {scale.first * 1000, fmt::format(" / {}", powers[p])};
  return scale;
}

GnuplotFigure draw_cluster_sweep(const Result& result, const FigureOptions& options) {
  const auto clusters = whole_coordinates(result.at(sweep_measures[0].field), "clusters");
  std::array<const std::vector<double>*, sweep_measures.size()> values{};
  for (std::size_t m = 0; m < sweep_measures.size(); ++m)
    values[m] = &doubles_of(result, sweep_measures[m].field, {"clusters"});
  DataTable table({"clusters", "inertia", "silhouette", "stability"});
  for (std::size_t k = 0; k < clusters.size(); ++k)
    table.add_row({clusters[k], (*values[0])[k], (*values[1])[k], (*values[2])[k]});

  const PanelFlow flow{.grid = {.panel = {1.75, 1.45}, .gap = {0.68, 0.55}, .margin = {.left = 0.58, .top = 0.1}},
                       .least = 1.45};
  const auto [few, many] = std::ranges::minmax(clusters);
  const double first = static_cast<double>(few) - 0.5, last = static_cast<double>(many) + 0.5;
  return drawn_panels(flow, values.size(), options.style, [&](Page& page, Panel& panel, std::size_t m) {
    if (m == 0) page.keep(table);
    const std::string data = page.data(table);
    const ValueRange range = range_with_zero(*values[m]);
    const auto [factor, power] = scale_of(range.high);
    panel.x_axis({first, last}, {.step = last - first > 13 ? 4.0 : last - first > 7 ? 2.0 : 1.0});
    panel.y_axis({range.low / factor, range.high / factor}, {.step = tic_step((range.high - range.low) / factor)});
    panel.title_below("number of clusters");
    panel.title_left(sweep_measures[m].label + power, 0.42);
    if (const Field* centroid = result.find(centroid_name))
      panel.vertical(static_cast<double>(centroid->axis("cluster").size()), {ink::chosen, 0.6, "-"});
    panel.curve(data, fmt::format("1:(${}/{})", m + 2, factor), categorical_line(0, 1.8, 0.5));
  });
}

std::string no_preference(const Result& result, const FigureOptions& /*options*/) {
  if (result.find(centroid_name) == nullptr) return "";
  const std::vector<bool> preferences = cluster_preferences(result);
  return std::ranges::find(preferences, true) == preferences.end() ? "no cluster of heads prefers an offset" : "";
}

}  // namespace

std::vector<double> cluster_peaks(const Result& result) {
  const auto& centroids = centroids_of(result);
  const auto offsets = static_cast<std::size_t>(result.at(centroid_name).axis("offset").size());
  if (offsets % 2 == 0)
    throw ShapeError(fmt::format("{}: {} offsets; expected one for each of -window .. window", centroid_name, offsets));
  std::vector<double> peaks;
  for (std::size_t c = 0; c < centroids.size() / offsets; ++c) {
    const auto centroid = slice_of(centroids, c, offsets);
    const auto peak = offset_peak(Eigen::Map<const Vector>(centroid.data(), std::ssize(centroid)));
    peaks.push_back(peak && !peak->at_edge ? static_cast<double>(peak->offset) : std::nan(""));
  }
  return peaks;
}

std::vector<bool> cluster_preferences(const Result& result) {
  constexpr double preferred = 2.5;  // times the median
  const std::size_t clusters = cluster_peaks(result).size();
  const auto& centroids = centroids_of(result);
  std::vector<bool> preferences;
  for (std::size_t c = 0; c < clusters; ++c) {
    std::vector<double> weights;
    for (const double weight : slice_of(centroids, c, centroids.size() / clusters))
      if (std::isfinite(weight) && weight > 0) weights.push_back(weight);
    std::sort(weights.begin(), weights.end());
    preferences.push_back(!weights.empty() && weights.back() >= preferred * weights[weights.size() / 2]);
  }
  return preferences;
}

Ink cluster_ink(Index cluster, std::size_t place, const std::vector<bool>& preferences) {
  return place < preferences.size() && !preferences[place] ? ink::rest : categorical(cluster);
}

FigureKind cluster_centroids_figure() {
  return {
      .name = "cluster_centroids",
      .fields = {centroid_name, "head_cluster/mass"},
      .caption =
          "Centroids of the clusters of offset traces: attention weight summed over a text's query-key pairs at each "
          "offset t = key position minus query position, under a causal mask only those it allows. The legend gives "
          "each cluster's share of all traces and the offset where its centroid peaks, none if that is the end of the "
          "window. Grey clusters prefer none: their centroid is nowhere 2.5 times its median.",
      .drawing = draw_cluster_centroids,
      .silent = no_preference};
}

FigureKind cluster_shares_figure() {
  return {
      .name = "cluster_shares",
      .fields = {cluster_share_name},
      .extras = {centroid_name},
      .caption =
          "To which cluster the texts assign each head: one pie per head, one slice per cluster, as shares of all "
          "texts. Colours are those of the centroids, the number is that of the largest slice; it is omitted if pies "
          "are too small to read it. Grey clusters prefer no offset: their centroid is nowhere 2.5 times its median.",
      .drawing = draw_cluster_shares,
      .silent = no_preference};
}

FigureKind cluster_sweep_figure() {
  return {
      .name = "cluster_sweep",
      .fields = {"head_cluster/sweep_inertia", "head_cluster/sweep_silhouette", "head_cluster/sweep_stability"},
      .extras = {centroid_name},
      .caption =
          "How much to believe the number of clusters: inertia (sum of squared distances to the centroids), mean "
          "silhouette, and stability (adjusted Rand index between bootstrap runs) against the number of clusters. The "
          "dotted line marks the number used.",
      .drawing = draw_cluster_sweep};
}

}  // namespace headwave
