#include "head_cluster.h"

#include <algorithm>
#include <ranges>

#include <fmt/format.h>

#include "../../core/fields/fields.h"
#include "../../core/numbers/offset_peak.h"
#include "../../core/numbers/random.h"
#include "../../core/process/threads.h"
#include "../statistics/k_means.h"
#include "../statistics/quantile.h"
#include "measured_offset.h"

namespace headwave {

namespace {

constexpr std::uint64_t clustering_stream = 0;
constexpr std::uint64_t resampling_stream = 1;

Index heads_of_a_document(const HeadVectors& vectors) {
  return static_cast<Index>(vectors.layers.size()) * vectors.heads;
}

/// Rows of a matrix of qualities.
struct Quality {
  enum Of : Index { inertia, silhouette, stability, lower_quartile, upper_quartile, count };
};

// The seed depends on the number of clusters, so that a sweep and a single run agree.
KMeansOptions k_means_options(const HeadClusterOptions& options, Index clusters) {
  const auto number = static_cast<std::uint64_t>(clusters);
  return {.clusters = clusters,
          .restarts = options.restarts,
          .seed = Random(options.seed).stream(clustering_stream).stream(number).bits(),
          .threads = options.threads};
}

// Numbers of clusters to try: the chosen one, and k = 2 .. last as long as there are more different vectors.
std::vector<Index> cluster_counts(Index chosen, Index last, Index distinct) {
  std::vector<Index> counts{chosen};
  for (Index k = 2; k <= std::min(last, distinct - 1); ++k)
    if (k != chosen) counts.push_back(k);
  std::sort(counts.begin(), counts.end());
  return counts;
}

// Documents drawn with replacement: the vectors of each drawn document once, and how often it was drawn.
struct Resample {
  Matrix values;
  std::vector<Index> times;
};

Resample resample(MatrixView values, Index heads, Random random) {
  const Index documents = values.rows() / heads;
  std::vector<Index> times(static_cast<std::size_t>(documents), 0);
  for (Index d = 0; d < documents; ++d) ++times[static_cast<std::size_t>(random.below(documents))];
  Resample drawn;
  drawn.values.resize(heads * (documents - std::ranges::count(times, 0)), values.cols());
  for (Index d = 0; d < documents; ++d) {
    const Index often = times[static_cast<std::size_t>(d)];
    if (often == 0) continue;
    drawn.values.middleRows(std::ssize(drawn.times), heads) = values.middleRows(d * heads, heads);
    drawn.times.insert(drawn.times.end(), static_cast<std::size_t>(heads), often);
  }
  return drawn;
}

// (tried, resamples): agreement of the labels with those from a resample of the documents.
Matrix bootstrap_agreement(const HeadVectors& vectors, const std::vector<KMeans>& tried,
                           const HeadClusterOptions& options) {
  const auto counts = static_cast<Index>(tried.size());
  Matrix agreement(counts, options.bootstrap);
  const Random root = Random(options.seed).stream(resampling_stream);
  parallel_for(agreement.size(), options.threads, [&](Index task) {
    const Index sample = task / counts;
    const KMeans& original = tried[static_cast<std::size_t>(task % counts)];
    // Every k sees the same resamples, so that differences along the sweep are not due to chance.
    const Random random = root.stream(static_cast<std::uint64_t>(sample));
    const Resample drawn = resample(vectors.values, heads_of_a_document(vectors), random);
    KMeansOptions again;
    again.clusters = distinct_rows(drawn.values, original.centroids.rows());
    again.restarts = options.bootstrap_restarts;
    again.seed = random.stream(static_cast<std::uint64_t>(original.centroids.rows())).bits();
    const Matrix centroids = k_means(drawn.values, again, drawn.times).centroids;
    agreement(task % counts, sample) = adjusted_rand(original.labels, nearest_centroids(vectors.values, centroids));
  });
  return agreement;
}

// (qualities, tried): NaN: undefined
Matrix quality_of(const HeadVectors& vectors, const std::vector<KMeans>& tried, bool resampled,
                  const HeadClusterOptions& options) {
  const Matrix agreement = resampled ? bootstrap_agreement(vectors, tried, options) : Matrix();
  Matrix quality = Matrix::Constant(Quality::count, std::ssize(tried), not_defined);
  for (Index i = 0; i < quality.cols(); ++i) {
    const KMeans& one = tried[static_cast<std::size_t>(i)];
    quality(Quality::inertia, i) = one.inertia;
    quality(Quality::silhouette, i) =
        silhouette(vectors.values, one.labels, {options.silhouette_points, options.seed, options.threads});
    if (!resampled) continue;
    const std::vector<double> values(agreement.row(i).begin(), agreement.row(i).end());
    quality(Quality::stability, i) = agreement.row(i).mean();
    quality(Quality::lower_quartile, i) = quantile(values, 0.25);
    quality(Quality::upper_quartile, i) = quantile(values, 0.75);
  }
  return quality;
}

// Renumbers the clusters in canonical order.
void put_in_order(KMeans& found) {
  struct Cluster {
    Index number, peak, count;
    Eigen::RowVectorXd centroid;
  };
  std::vector<Cluster> clusters;
  for (Index i = 0; i < found.centroids.rows(); ++i)
    clusters.push_back({i, offset_peak(found.centroids.row(i).transpose()).value_or(OffsetPeak{}).offset,
                        std::ranges::count(found.labels, i), found.centroids.row(i)});
  std::ranges::sort(clusters, [](const Cluster& a, const Cluster& b) {
    if (a.peak != b.peak) return a.peak < b.peak;
    if (a.count != b.count) return a.count > b.count;
    // Equal in both: any rule works that does not depend on the old number.
    return std::ranges::lexicographical_compare(a.centroid, b.centroid);
  });
  std::vector<Index> number(clusters.size());
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    found.centroids.row(static_cast<Index>(i)) = clusters[i].centroid;
    number[static_cast<std::size_t>(clusters[i].number)] = static_cast<Index>(i);
  }
  for (Index& label : found.labels) label = number[static_cast<std::size_t>(label)];
}

// Adds the quality at the chosen k, and if several numbers of clusters were tried, at each of them.
// @param quality  (qualities, counts)
void add_quality(Fields& fields, const Matrix& quality, const std::vector<Index>& counts, Index chosen,
                 const KMeans& found, const std::string& undefined_stability, const HeadClusterOptions& options) {
  const auto add = [&](const char* name, Quality::Of of, const char* long_name, const std::vector<Axis>& axes = {}) {
    fields.add(name, axes, "1", long_name,
               axes.empty() ? quality.row(of).segment(chosen, 1) : quality.row(of).segment(0, quality.cols()));
    if (of == Quality::silhouette)
      fields.undefined_if_any("fewer than two clusters among the vectors looked at")
          .note("points", options.silhouette_points);
    else if (of != Quality::inertia)
      fields.undefined_if_any(undefined_stability)
          .note("bootstrap", options.bootstrap)
          .note("bootstrap_restarts", options.bootstrap_restarts);
  };
  add("inertia", Quality::inertia, "sum of squared distances to the centroids");
  fields.note("iterations", found.iterations).note("converged", found.converged ? "yes" : "no");
  add("silhouette", Quality::silhouette, "mean silhouette");
  add("stability", Quality::stability, "mean adjusted Rand index over resampled documents");
  add("stability_lower_quartile", Quality::lower_quartile, "lower quartile of the adjusted Rand index");
  add("stability_upper_quartile", Quality::upper_quartile, "upper quartile of the adjusted Rand index");
  if (counts.size() < 2) return;
  const Axis tried{"clusters", "1", "number of clusters k", counts};
  add("sweep_inertia", Quality::inertia, "inertia with k clusters", {tried});
  add("sweep_silhouette", Quality::silhouette, "mean silhouette with k clusters", {tried});
  add("sweep_stability", Quality::stability, "mean adjusted Rand index over resampled documents with k clusters",
      {tried});
}

struct HeadClusterAnalysis : Analysis {
  using Analysis::Analysis;
  [[nodiscard]] std::vector<Field> finish(Finished& finished) override {
    const auto& traces = finished.get<OffsetTraces>();
    const ComparableTraces vectors = comparable_traces(traces, std::min(options()[window_option], traces.reach));
    HeadClusterOptions how;
    how.clusters = options()[clusters_option];
    how.sweep_last = options()[sweep_option];
    how.seed = options().seed;
    how.threads = input().threads;
    return head_clusters({vectors.values, traces.grid.layers, traces.grid.heads, vectors.normalisation}, how);
  }
};

}  // namespace

std::vector<Field> head_clusters(const HeadVectors& vectors, const HeadClusterOptions& options) {
  const Index heads = heads_of_a_document(vectors), documents = vectors.values.rows() / heads;
  const Index sweep_last = std::min(options.sweep_last, vectors.values.rows());
  const Index distinct = distinct_rows(vectors.values, std::max(options.clusters, sweep_last + 1));
  const Index k = std::min(options.clusters, distinct);
  const std::vector<Index> counts = cluster_counts(k, sweep_last, distinct);
  std::vector<KMeans> tried;
  for (const Index count : counts) tried.push_back(k_means(vectors.values, k_means_options(options, count)));
  const std::string undefined_stability = options.bootstrap < 1 ? "no resamples were requested"
                                          : documents < 2       ? "one document cannot be resampled"
                                                                : "";
  const Matrix quality = quality_of(vectors, tried, undefined_stability.empty(), options);
  const Index chosen = std::ranges::find(counts, k) - counts.begin();
  KMeans& found = tried[static_cast<std::size_t>(chosen)];
  put_in_order(found);

  Vector mass = Vector::Zero(k);
  Matrix shares = Matrix::Zero(heads, k);
  for (Index i = 0; i < std::ssize(found.labels); ++i) {
    const Index label = found.labels[static_cast<std::size_t>(i)];
    mass[label] += 1;
    shares(i % heads, label) += 1;
  }
  const Axis layer = layer_axis(vectors.layers), head = head_axis(vectors.heads);
  const Axis cluster = counting_axis("cluster", "1", "cluster, 0-based, in canonical order", 0, k - 1);
  const Index w = vectors.values.cols() / 2;
  Fields fields("head_cluster");
  fields.add("share", {layer, head, cluster}, "1", "share of a head's documents in a cluster",
             shares / static_cast<double>(documents));
  fields.add("label", {document_axis(documents), layer, head}, "1", "cluster of a head in a document", found.labels);
  fields.add("centroid", {cluster, offset_axis("offset", -w, w)}, "1", "mean vector of a cluster", found.centroids);
  fields.add("mass", {cluster}, "1", "share of all vectors in a cluster",
             mass / static_cast<double>(found.labels.size()));
  add_quality(fields, quality, counts, chosen, found, undefined_stability, options);
  if (!vectors.normalisation.empty()) fields.note_all("normalisation", vectors.normalisation);
  fields.note_all("seed", options.seed)
      .note_all("restarts", options.restarts)
      .note_all("cluster_order", "offset of the centroid's maximum ascending, then mass descending");
  if (k < options.clusters)
    fields.note_all("reduced", fmt::format("{} clusters were requested, but there are only {} different vectors",
                                           options.clusters, k));
  return fields.taken();
}

extern const AnalysisKind head_cluster_analysis{.name = "head_cluster",
                                                .asks = "Which heads have profiles alike?",
                                                .reads = {&measured_offset_analysis},
                                                .options = {&window_option, &clusters_option, &sweep_option},
                                                .of_sums = true,
                                                .by_default = true,
                                                .make = make_of<HeadClusterAnalysis>};

}  // namespace headwave
