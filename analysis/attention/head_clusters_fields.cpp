#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "head_clusters.h"

namespace headwave {

namespace {

Axis cluster_axis(Index clusters) {
  return counting_axis("cluster", "1", "cluster, 0-based, in canonical order", 0, clusters - 1);
}

Axis sweep_axis(const std::vector<ClusterCount>& sweep) {
  std::vector<std::int64_t> counts;
  for (const ClusterCount& one : sweep) counts.push_back(one.clusters);
  return {"clusters", "1", "number of clusters k", std::move(counts)};
}

std::vector<double> numbers(const Matrix& matrix) {
  return {matrix.data(), matrix.data() + matrix.size()};
}

Field scalar(std::string quantity, std::string unit, std::string long_name, double value) {
  return make_field("head_cluster/" + std::move(quantity), {}, std::move(unit), std::move(long_name), {value});
}

Field along_sweep(const HeadClusters& clusters, std::string quantity, std::string unit, std::string long_name,
                  double ClusterCount::*member) {
  std::vector<double> values;
  for (const ClusterCount& one : clusters.sweep) values.push_back(one.*member);
  return make_field("head_cluster/" + std::move(quantity), {sweep_axis(clusters.sweep)}, std::move(unit),
                    std::move(long_name), std::move(values));
}

Field label_field(const HeadClusters& clusters) {
  return {"head_cluster/label",
          {document_axis(clusters.documents), layer_axis(clusters.layers), head_axis(clusters.heads)},
          "1",
          "cluster of a head in a document",
          std::vector<std::int64_t>(clusters.labels.begin(), clusters.labels.end()),
          {},
          {}};
}

bool has_undefined(const Field& field) {
  const auto* values = std::get_if<std::vector<double>>(&field.values);
  return values != nullptr &&
         std::any_of(values->begin(), values->end(), [](double value) { return std::isnan(value); });
}

// The choices behind every number, and why some number is not there.
void add_attributes(Field& field, const HeadClusters& clusters) {
  const HeadClusterOptions& options = clusters.options;
  Attributes& attributes = field.attributes;
  if (!clusters.normalisation.empty()) attributes["normalisation"] = clusters.normalisation;
  attributes["seed"] = static_cast<std::int64_t>(options.seed);
  attributes["restarts"] = static_cast<std::int64_t>(options.restarts);
  attributes["cluster_order"] = std::string("offset of the centroid's maximum ascending, then mass descending");
  if (clusters.chosen.clusters < options.clusters)
    attributes["reduced"] = fmt::format("{} clusters were asked for, there are only {} different vectors",
                                        options.clusters, clusters.chosen.clusters);
  const std::string quantity = field.quantity();
  if (quantity == "inertia") {
    attributes["iterations"] = static_cast<std::int64_t>(clusters.iterations);
    attributes["converged"] = std::string(clusters.converged ? "yes" : "no");
  }
  if (quantity.find("silhouette") != std::string::npos) {
    attributes["points"] = static_cast<std::int64_t>(options.silhouette_points);
    if (has_undefined(field))
      attributes["undefined"] = std::string("fewer than two clusters among the vectors looked at");
  }
  if (quantity.find("stability") != std::string::npos) {
    attributes["bootstrap"] = static_cast<std::int64_t>(options.bootstrap);
    attributes["bootstrap_restarts"] = static_cast<std::int64_t>(options.bootstrap_restarts);
    if (has_undefined(field)) attributes["undefined"] = clusters.undefined_stability;
  }
}

}  // namespace

std::vector<Field> describe(const HeadClusters& clusters, const std::string& group) {
  const Axis layer = layer_axis(clusters.layers);
  const Axis head = head_axis(clusters.heads);
  const Axis cluster = cluster_axis(clusters.centroids.rows());
  const Index w = clusters.centroids.cols() / 2;
  const ClusterCount& chosen = clusters.chosen;
  std::vector<Field> fields{
      make_field("head_cluster/share", {layer, head, cluster}, "1", "share of a head's documents in a cluster",
                 numbers(clusters.shares)),
      label_field(clusters),
      make_field("head_cluster/centroid", {cluster, offset_axis("window_offset", -w, w)}, "1",
                 "mean vector of a cluster", numbers(clusters.centroids)),
      make_field("head_cluster/mass", {cluster}, "1", "share of all vectors in a cluster", numbers(clusters.mass)),
      scalar("inertia", "1", "sum of squared distances to the centroids", chosen.inertia),
      scalar("silhouette", "1", "mean silhouette", chosen.silhouette),
      scalar("stability", "1", "mean adjusted Rand index over resampled documents", chosen.stability),
      scalar("stability_lower_quartile", "1", "lower quartile of that index", chosen.stability_lower),
      scalar("stability_upper_quartile", "1", "upper quartile of that index", chosen.stability_upper),
      along_sweep(clusters, "sweep_inertia", "1", "inertia with k clusters", &ClusterCount::inertia),
      along_sweep(clusters, "sweep_silhouette", "1", "mean silhouette with k clusters", &ClusterCount::silhouette),
      along_sweep(clusters, "sweep_stability", "1", "mean adjusted Rand index over resampled documents with k clusters",
                  &ClusterCount::stability)};
  for (Field& field : fields) {
    add_attributes(field, clusters);
    field.name = group + "/" + field.quantity();
  }
  return fields;
}

}  // namespace headwave
