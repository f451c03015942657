// Clusters of heads by where their attention lands: centroids, members, and how far to trust their number.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/numbers/offset_peak.h"
#include "chosen_heads.h"

namespace headwave {

namespace {

constexpr const char *centroid_name = "head_cluster/centroid", *cluster_share_name = "head_cluster/share";

/// A cluster as figures show it.
struct ShownCluster {
  std::string peak;  // offset of its centroid's maximum: "−1"; "none" if it prefers no offset
  Ink ink;           // grey if it prefers no offset
};

/// Names clusters by the peaks of their centroids. A cluster prefers an offset if its centroid's largest
/// value is at least 2.5 times the median over the offsets with any weight.
std::vector<ShownCluster> clusters_of(const Result& result) {
  constexpr double preferred = 2.5;  // times the median
  const auto& centroids = doubles_of(result, centroid_name, {"cluster", "offset"});
  const auto numbers = whole_coordinates(result.at(centroid_name), "cluster");
  const auto offsets = static_cast<std::size_t>(result.at(centroid_name).axis("offset").size());
  if (offsets % 2 == 0)
    throw ShapeError(fmt::format("{}: found {} offsets, expected an odd number: one for each of -window to window",
                                 centroid_name, offsets));
  std::vector<ShownCluster> clusters;
  for (std::size_t c = 0; c < numbers.size(); ++c) {
    const auto centroid = slice_of(centroids, c, offsets);
    const auto peak = offset_peak(Eigen::Map<const Vector>(centroid.data(), std::ssize(centroid)));
    std::vector<double> weights;
    std::ranges::copy_if(centroid, std::back_inserter(weights), [](double w) { return std::isfinite(w) && w > 0; });
    std::ranges::sort(weights);
    const bool prefers = !weights.empty() && weights.back() >= preferred * weights[weights.size() / 2];
    const double offset = peak && !peak->at_edge ? static_cast<double>(peak->offset) : std::nan("");
    clusters.push_back({signed_offset(prefers ? offset : std::nan("")), prefers ? categorical(numbers[c]) : ink::rest});
  }
  return clusters;
}

Figure draw_cluster_centroids(const Result& result, const FigureOptions& options) {
  const auto& centroids = doubles_of(result, centroid_name, {"cluster", "offset"});
  const auto& mass = doubles_of(result, "head_cluster/mass", {"cluster"});
  const auto offsets = coordinates(result.at(centroid_name), "offset");
  const auto numbers = whole_coordinates(result.at(centroid_name), "cluster");
  const auto clusters = clusters_of(result);
  std::size_t shown = offsets.size();  // under a causal mask up to the last offset with any weight
  if (attribute_text(result.provenance, "attention") == name_of(AttentionKind::causal)) {
    shown = std::min<std::size_t>(2, offsets.size());
    for (std::size_t i = 0; i < centroids.size(); ++i)
      if (centroids[i] > 0) shown = std::max(shown, i % offsets.size() + 1);
  }
  FigurePanels panels{
      .grid = {.panel = {3.6, std::max(2.3, 0.19 * static_cast<double>(numbers.size()) + 0.3)},
               .margin = {.left = 0.78, .top = 0.3}},
      .x = {.range = {offsets.front() - 0.4, offsets[shown - 1] + 0.4}, .title = "offset t = key − query (tokens)"},
      .y = {.range = range_with_zero(centroids), .title = "summed attention weight at offset t", .away = 0.64},
      .notes = {"cluster: peak offset, mass"}};
  for (std::size_t c = 0; c < numbers.size(); ++c) {
    panels.legend.push_back({fmt::format("{}: {}, {:.1f} %", numbers[c], clusters[c].peak, 100 * mass[c]),
                             categorical_line(numbers[c], 1.8, 0.4)});
    panels.legend.back().line.ink = clusters[c].ink;
  }
  panels.fill = [&](Panel& panel, std::size_t) {
    panel.vertical(0, {ink::zero_line, 0.8});
    for (std::size_t c = 0; c < numbers.size(); ++c)
      panel.curve(std::span(offsets).first(shown), slice_of(centroids, c, offsets.size()), panels.legend[c].line);
  };
  return drawn_panels(panels, 1, options.width);
}

Figure draw_cluster_shares(const Result& result, const FigureOptions& options) {
  constexpr double pie_radius = 0.42;  // of the distance between two pies
  const auto& shares = doubles_of(result, cluster_share_name, {"layer", "head", "cluster"});
  const FieldHeads heads = field_heads(result.at(cluster_share_name));
  const auto numbers = whole_coordinates(result.at(cluster_share_name), "cluster");
  const bool known = result.find(centroid_name) != nullptr;
  std::vector<ShownCluster> clusters = known ? clusters_of(result) : std::vector<ShownCluster>{};
  const auto across = static_cast<double>(heads.heads.size()), down = static_cast<double>(heads.layers.size());
  FigurePanels panels{.grid = {.panel = {across * std::clamp(5.2 / std::max(across, down), 0.2, 0.5)},
                               .margin = {.left = 0.5, .top = 0.3, .bottom = 0.42}},
                      .flatness = down / across,
                      .grows = false,
                      .notes = {known ? "cluster: peak offset" : "cluster"}};
  for (std::size_t c = 0; c < numbers.size(); ++c) {
    if (!known) clusters.push_back({"", categorical(numbers[c])});
    panels.legend.push_back(
        {fmt::format("{}{}{}", numbers[c], known ? ": " : "", clusters[c].peak), {clusters[c].ink, 7.0}});
  }
  // One slice per cluster, and the number of the cluster to which most texts assign the head: not every
  // reader can tell colours apart.
  std::vector<Rows> slices(numbers.size()), texts(numbers.size());
  for (std::size_t row = 0; row < heads.size(); ++row) {
    const auto share = slice_of(shares, row, numbers.size());
    const auto size = [&](std::size_t c) { return std::isfinite(share[c]) && share[c] > 0 ? share[c] : 0.0; };
    double whole = 0, before = 0;
    std::size_t most = 0;
    for (std::size_t c = 0; c < share.size(); ++c) {
      whole += size(c);
      if (size(c) > size(most)) most = c;
    }
    for (std::size_t c = 0; c < share.size() && whole > 0; before += size(c++)) {
      // gnuplot counts angles anticlockwise from the right, and draws a whole circle only if it begins at 0.
      const double begin = before / whole, end = (before + size(c)) / whole;
      const bool circle = end - begin >= 1;
      if (end > begin)
        slices[c].push_back({heads.column(row), heads.line(row), pie_radius, circle ? 0.0 : 90 - 360 * end,
                             circle ? 360.0 : 90 - 360 * begin});
    }
    if (whole > 0) texts[most].push_back({heads.column(row), heads.line(row), numbers[most]});
  }
  panels.fill = [&](Panel& panel, std::size_t) {
    const double pie = 72 * 2 * pie_radius * panel.width() / across;  // points
    panel.frame = Frame::none;
    add_head_axes(panel, heads);
    for (std::size_t c = 0; c < numbers.size(); ++c) panel.pies(slices[c], clusters[c].ink);
    // Numbers come after all pies, so that no slice covers them.
    for (std::size_t c = 0; c < numbers.size() && pie > 1.5 * least_letters; ++c)
      panel.texts(
          texts[c],
          {.points = std::min(8.0, pie / 2), .bold = true, .ink = text_on(clusters[c].ink), .anchor = Anchor::center});
  };
  return drawn_panels(panels, 1, options.width);
}

struct SweepMeasure {
  const char *field, *label;
};
constexpr std::array sweep_measures{SweepMeasure{"head_cluster/sweep_inertia", "inertia"},
                                    SweepMeasure{"head_cluster/sweep_silhouette", "mean silhouette"},
                                    SweepMeasure{"head_cluster/sweep_stability", "stability (ARI)"}};

Figure draw_cluster_sweep(const Result& result, const FigureOptions& options) {
  const auto clusters = coordinates(result.at(sweep_measures[0].field), "clusters");
  const auto [few, many] = std::ranges::minmax(clusters);
  const double span = many - few + 1;
  FigurePanels panels{
      .grid = {.panel = {1.75, 1.45}, .gap = {0.68, 0.55}, .margin = {.left = 0.58, .right = 0.1, .top = 0.1}},
      .least = 1.45,
      .x = {.range = {few - 0.5, many + 0.5},
            .tics = {.step = span > 13  ? 4.0
                             : span > 7 ? 2.0
                                        : 1.0},
            .title = "number of clusters"}};
  panels.fill = [&](Panel& panel, std::size_t m) {
    std::vector<double> values = doubles_of(result, sweep_measures[m].field, {"clusters"});
    // Large numbers are divided by a power of 1000.
    constexpr std::array powers{"", " / 10³", " / 10⁶", " / 10⁹", " / 10¹²"};
    std::size_t power = 0;
    for (double high = range_with_zero(values).high; high >= 1000 && power + 1 < powers.size(); high /= 1000) ++power;
    for (double& number : values) number /= std::pow(1000.0, power);
    const ValueRange range = range_with_zero(values);
    panel.y = {.range = range,
               .tics = {.step = tic_step(range.high - range.low)},
               .title = std::string(sweep_measures[m].label) + powers[power],
               .away = 0.42};
    if (const Field* centroid = result.find(centroid_name))
      panel.vertical(static_cast<double>(centroid->axis("cluster").size()), {ink::chosen, 0.6, "-"});
    panel.curve(clusters, values, categorical_line(0, 1.8, 0.5));
  };
  return drawn_panels(panels, sweep_measures.size(), options.width);
}

std::string no_preference(const Result& result, const FigureOptions& /*options*/) {
  if (result.find(centroid_name) == nullptr) return "";
  const bool any =
      std::ranges::any_of(clusters_of(result), [](const ShownCluster& one) { return one.ink != ink::rest; });
  return any ? "" : "no cluster of heads prefers an offset";
}

}  // namespace

std::vector<FigureKind> cluster_figures() {
  return {
      {.name = "cluster_centroids",
       .fields = {centroid_name, "head_cluster/mass"},
       .caption =
           "Centroids of the clusters of offset traces: attention weight summed over a text's query-key pairs at "
           "each offset t = key position minus query position, under a causal mask only over allowed pairs. The legend "
           "gives each cluster's share of all traces and the offset where its centroid peaks, none if that is the "
           "end of the window. Grey clusters prefer none: their centroid is nowhere 2.5 times its median.",
       .drawing = draw_cluster_centroids,
       .silent = no_preference},
      {.name = "cluster_shares",
       .fields = {cluster_share_name},
       .extras = {centroid_name},
       .caption =
           "To which cluster the texts assign each head: one pie per head, one slice per cluster, as shares of all "
           "texts. Colours are those of the centroids, the number is that of the largest slice; it is omitted if "
           "pies are too small to read it. Grey clusters prefer no offset: their centroid is nowhere 2.5 times its "
           "median.",
       .drawing = draw_cluster_shares,
       .silent = no_preference},
      {.name = "cluster_sweep",
       .fields = {"head_cluster/sweep_inertia", "head_cluster/sweep_silhouette", "head_cluster/sweep_stability"},
       .extras = {centroid_name},
       .caption =
           "How much to believe the number of clusters: inertia (sum of squared distances to the centroids), mean "
           "silhouette, and stability (adjusted Rand index between bootstrap runs) against the number of clusters. "
           "The dotted line marks the number used.",
       .drawing = draw_cluster_sweep}};
}

}  // namespace headwave
