#include <ranges>

#include <fmt/format.h>

#include "../../core/fields/fields.h"
#include "head_clusters.h"

namespace headwave {

namespace {

/// Of how many points a silhouette is, and why there may be none.
void note_points(Fields& fields, const HeadClusterOptions& options) {
  fields.undefined_if_any("fewer than two clusters among the vectors looked at")
      .note("points", options.silhouette_points);
}

/// Of how many resamples a stability is, and why there may be none.
void note_resamples(Fields& fields, const HeadClusters& clusters) {
  fields.undefined_if_any(clusters.undefined_stability)
      .note("bootstrap", clusters.options.bootstrap)
      .note("bootstrap_restarts", clusters.options.bootstrap_restarts);
}

/// What every number rests on.
void note_choices(Fields& fields, const HeadClusters& clusters) {
  const HeadClusterOptions& options = clusters.options;
  if (!clusters.normalisation.empty()) fields.note_all("normalisation", clusters.normalisation);
  fields.note_all("seed", options.seed)
      .note_all("restarts", options.restarts)
      .note_all("cluster_order", "offset of the centroid's maximum ascending, then mass descending");
  if (clusters.chosen.clusters < options.clusters)
    fields.note_all("reduced", fmt::format("{} clusters were asked for, there are only {} different vectors",
                                           options.clusters, clusters.chosen.clusters));
}

void add_chosen(Fields& fields, const HeadClusters& clusters) {
  const ClusterCount& chosen = clusters.chosen;
  fields.add("inertia", {}, "1", "sum of squared distances to the centroids", chosen.inertia)
      .note("iterations", clusters.iterations)
      .note("converged", clusters.converged ? "yes" : "no");
  fields.add("silhouette", {}, "1", "mean silhouette", chosen.silhouette);
  note_points(fields, clusters.options);
  fields.add("stability", {}, "1", "mean adjusted Rand index over resampled documents", chosen.stability);
  note_resamples(fields, clusters);
  fields.add("stability_lower_quartile", {}, "1", "lower quartile of that index", chosen.stability_lower);
  note_resamples(fields, clusters);
  fields.add("stability_upper_quartile", {}, "1", "upper quartile of that index", chosen.stability_upper);
  note_resamples(fields, clusters);
}

void add_sweep(Fields& fields, const HeadClusters& clusters) {
  const auto& sweep = clusters.sweep;
  std::vector<std::int64_t> counts;
  for (const ClusterCount& one : sweep) counts.push_back(one.clusters);
  const Axis tried{"clusters", "1", "number of clusters k", counts};
  fields.add("sweep_inertia", {tried}, "1", "inertia with k clusters",
             sweep | std::views::transform(&ClusterCount::inertia));
  fields.add("sweep_silhouette", {tried}, "1", "mean silhouette with k clusters",
             sweep | std::views::transform(&ClusterCount::silhouette));
  note_points(fields, clusters.options);
  fields.add("sweep_stability", {tried}, "1", "mean adjusted Rand index over resampled documents with k clusters",
             sweep | std::views::transform(&ClusterCount::stability));
  note_resamples(fields, clusters);
}

}  // namespace

std::vector<Field> describe(const HeadClusters& clusters, const std::string& group) {
  const Axis layer = layer_axis(clusters.layers), head = head_axis(clusters.heads);
  const Index k = clusters.centroids.rows(), w = clusters.centroids.cols() / 2;
  const Axis cluster = counting_axis("cluster", "1", "cluster, 0-based, in canonical order", 0, k - 1);
  Fields fields(group);
  fields.add("share", {layer, head, cluster}, "1", "share of a head's documents in a cluster", clusters.shares);
  fields.add("label", {document_axis(clusters.documents), layer, head}, "1", "cluster of a head in a document",
             clusters.labels);
  fields.add("centroid", {cluster, offset_axis("window_offset", -w, w)}, "1", "mean vector of a cluster",
             clusters.centroids);
  fields.add("mass", {cluster}, "1", "share of all vectors in a cluster", clusters.mass);
  add_chosen(fields, clusters);
  add_sweep(fields, clusters);
  note_choices(fields, clusters);
  return fields.taken();
}

}  // namespace headwave
