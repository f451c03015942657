#include "head_clusters.h"

#include <algorithm>
#include <numeric>
#include <ranges>

#include <fmt/format.h>

#include "../../core/fields/fields.h"
#include "../../core/numbers/offset_peak.h"
#include "../../core/numbers/random.h"
#include "../../core/process/threads.h"
#include "../statistics/cluster_quality.h"
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

void check(const HeadVectors& vectors, const HeadClusterOptions& options) {
  const MatrixView& values = vectors.values;
  const Index heads = heads_of_a_document(vectors);
  if (heads < 1 || values.rows() < 1 || values.rows() % heads != 0)
    throw ShapeError(
        fmt::format("head_clusters: expected one row for each of {} layers x {} heads of every document, got {} rows",
                    vectors.layers.size(), vectors.heads, values.rows()));
  if (values.cols() % 2 == 0)
    throw ShapeError(
        fmt::format("head_clusters: expected columns for offsets -w to w, an odd number, got {}", values.cols()));
  if (!are_finite(values))
    throw NumericError(
        "head_clusters: a vector has an entry that is not finite; documents must be longer than the window");
  if (options.clusters < 1 || options.restarts < 1 || options.bootstrap < 0 || options.bootstrap_restarts < 1)
    throw NumericError(
        fmt::format("head_clusters: expected clusters and restarts >= 1 and bootstrap >= 0, got {}, {} and {}, {}",
                    options.clusters, options.restarts, options.bootstrap_restarts, options.bootstrap));
}

// The seed belongs to the number of clusters, so that a sweep and a single run agree.
KMeansOptions k_means_options(const HeadClusterOptions& options, Index clusters) {
  KMeansOptions chosen;
  chosen.clusters = clusters;
  chosen.restarts = options.restarts;
  chosen.seed = Random(options.seed).stream(clustering_stream).stream(static_cast<std::uint64_t>(clusters)).bits();
  chosen.threads = options.threads;
  return chosen;
}

// The numbers of clusters that are tried: k = 2 .. last while there are more different vectors, and the
// chosen one.
std::vector<Index> cluster_counts(Index chosen, Index last, Index distinct) {
  std::vector<Index> counts{chosen};
  for (Index k = 2; k <= std::min(last, distinct - 1); ++k)
    if (k != chosen) counts.push_back(k);
  std::sort(counts.begin(), counts.end());
  return counts;
}

// A resample of the documents, drawn with replacement: the vectors of the drawn documents, and how often each
// was drawn.
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

// (tried, resamples): agreement of the labels with those that a resample of the documents leads to.
Matrix bootstrap_agreement(const HeadVectors& vectors, const std::vector<KMeans>& tried,
                           const HeadClusterOptions& options) {
  const auto counts = static_cast<Index>(tried.size());
  Matrix agreement(counts, options.bootstrap);
  const Random root = Random(options.seed).stream(resampling_stream);
  parallel_for(agreement.size(), options.threads, [&](Index task) {
    const Index sample = task / counts;
    const KMeans& original = tried[static_cast<std::size_t>(task % counts)];
    // The same resamples for every k: differences along the sweep are then not differences of luck.
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

std::vector<ClusterCount> sweep_of(const HeadVectors& vectors, const std::vector<KMeans>& tried, bool resampled,
                                   const HeadClusterOptions& options) {
  std::vector<std::vector<Index>> labelings;
  for (const KMeans& one : tried) labelings.push_back(one.labels);
  const Vector silhouette =
      silhouettes(vectors.values, labelings, {options.silhouette_points, options.seed, options.threads});
  const Matrix agreement = resampled ? bootstrap_agreement(vectors, tried, options) : Matrix();
  std::vector<ClusterCount> sweep;
  for (Index i = 0; i < silhouette.size(); ++i) {
    const KMeans& one = tried[static_cast<std::size_t>(i)];
    ClusterCount count{one.centroids.rows(), one.inertia, silhouette(i), not_defined, not_defined, not_defined};
    if (resampled) {
      const std::vector<double> values(agreement.row(i).begin(), agreement.row(i).end());
      count.stability = agreement.row(i).mean();
      count.stability_lower = quantile(values, 0.25);
      count.stability_upper = quantile(values, 0.75);
    }
    sweep.push_back(count);
  }
  return sweep;
}

Vector mass_of(const std::vector<Index>& labels, Index clusters) {
  Vector mass = Vector::Zero(clusters);
  for (const Index label : labels) mass(label) += 1.0;
  return mass / static_cast<double>(labels.size());
}

// Where each cluster comes in the canonical order: place[i] is the old number of the cluster that becomes
// number i.
std::vector<Index> canonical_order(const Matrix& centroids, const Vector& mass) {
  std::vector<Index> peak;
  for (Index k = 0; k < centroids.rows(); ++k)
    peak.push_back(offset_peak(centroids.row(k).transpose()).value_or(OffsetPeak{}).offset);
  std::vector<Index> order(peak.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index a, Index b) {
    const Index peak_a = peak[static_cast<std::size_t>(a)];
    const Index peak_b = peak[static_cast<std::size_t>(b)];
    if (peak_a != peak_b) return peak_a < peak_b;
    if (mass(a) != mass(b)) return mass(a) > mass(b);
    // Equal in both: any rule that does not ask for the old number will do.
    return std::lexicographical_compare(centroids.row(a).begin(), centroids.row(a).end(), centroids.row(b).begin(),
                                        centroids.row(b).end());
  });
  return order;
}

// Labels, centroids, mass and shares in canonical order.
void set_clusters(HeadClusters& result, const KMeans& found) {
  const Index k = found.centroids.rows();
  const Vector mass = mass_of(found.labels, k);
  const std::vector<Index> order = canonical_order(found.centroids, mass);
  std::vector<Index> new_number(order.size());
  result.centroids.resize(k, found.centroids.cols());
  result.mass.resize(k);
  for (Index i = 0; i < k; ++i) {
    const Index old = order[static_cast<std::size_t>(i)];
    new_number[static_cast<std::size_t>(old)] = i;
    result.centroids.row(i) = found.centroids.row(old);
    result.mass(i) = mass(old);
  }
  const Index heads = static_cast<Index>(found.labels.size()) / result.documents;
  result.shares = Matrix::Zero(heads, k);
  result.labels.reserve(found.labels.size());
  for (const Index old : found.labels) {
    const Index head = static_cast<Index>(result.labels.size()) % heads;
    result.labels.push_back(new_number[static_cast<std::size_t>(old)]);
    result.shares(head, result.labels.back()) += 1.0;
  }
  result.shares /= static_cast<double>(result.documents);
  result.iterations = found.iterations;
  result.converged = found.converged;
}

class HeadClusterAnalysis : public Analysis {
 public:
  using Analysis::Analysis;
  [[nodiscard]] std::vector<Field> finish(Finished& finished) override {
    const auto& traces = finished.get<OffsetTraces>();
    const ComparableTraces vectors = comparable_traces(traces, std::min(options()[window_option], traces.reach));
    return describe(head_clusters({vectors.values, traces.grid.layers, traces.grid.heads, vectors.normalisation},
                                  job_cluster_options(input(), options()[clusters_option])));
  }
};

}  // namespace

HeadClusters head_clusters(const HeadVectors& vectors, const HeadClusterOptions& options) {
  check(vectors, options);
  HeadClusters result;
  result.documents = vectors.values.rows() / heads_of_a_document(vectors);
  result.layers = vectors.layers;
  result.heads = vectors.heads;
  result.normalisation = vectors.normalisation;
  result.options = options;

  const Index sweep_last = std::min(options.sweep_last, vectors.values.rows());
  const Index distinct = distinct_rows(vectors.values, std::max(options.clusters, sweep_last + 1));
  const std::vector<Index> counts = cluster_counts(std::min(options.clusters, distinct), sweep_last, distinct);
  std::vector<KMeans> tried;
  for (const Index k : counts) tried.push_back(k_means(vectors.values, k_means_options(options, k)));

  if (result.documents < 2) result.undefined_stability = "one document cannot be resampled";
  if (options.bootstrap < 1) result.undefined_stability = "no resamples were asked for";
  result.sweep = sweep_of(vectors, tried, result.undefined_stability.empty(), options);
  const auto chosen = std::find(counts.begin(), counts.end(), std::min(options.clusters, distinct)) - counts.begin();
  result.chosen = result.sweep[static_cast<std::size_t>(chosen)];
  set_clusters(result, tried[static_cast<std::size_t>(chosen)]);
  return result;
}

HeadClusterOptions job_cluster_options(const AnalysisInput& input, Index clusters) {
  HeadClusterOptions options;
  options.clusters = clusters;
  options.sweep_last = input.options[sweep_option];
  options.seed = input.options.seed;
  options.threads = input.threads;
  return options;
}

const AnalysisKind& head_cluster_analysis() {
  static const AnalysisKind kind{.name = "head_cluster",
                                 .asks = "Which heads have profiles alike?",
                                 .needs = {Need::attention},
                                 .reads = {measured_offset_analysis},
                                 .options = {&window_option, &clusters_option, &sweep_option},
                                 .of_sums = true,
                                 .by_default = true,
                                 .make = make_of<HeadClusterAnalysis>};
  return kind;
}

namespace {

/// Notes how many points a silhouette is of, and why it may be undefined.
void note_points(Fields& fields, const HeadClusterOptions& options) {
  fields.undefined_if_any("fewer than two clusters among the vectors looked at")
      .note("points", options.silhouette_points);
}

/// Notes how many resamples a stability is of, and why it may be undefined.
void note_resamples(Fields& fields, const HeadClusters& clusters) {
  fields.undefined_if_any(clusters.undefined_stability)
      .note("bootstrap", clusters.options.bootstrap)
      .note("bootstrap_restarts", clusters.options.bootstrap_restarts);
}

/// Notes the options of the clustering.
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

/// Quality for every number of clusters that was tried, where there are several.
void add_sweep(Fields& fields, const HeadClusters& clusters) {
  const auto& sweep = clusters.sweep;
  if (sweep.size() < 2) return;
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
  fields.add("centroid", {cluster, offset_axis("offset", -w, w)}, "1", "mean vector of a cluster", clusters.centroids);
  fields.add("mass", {cluster}, "1", "share of all vectors in a cluster", clusters.mass);
  add_chosen(fields, clusters);
  add_sweep(fields, clusters);
  note_choices(fields, clusters);
  return fields.taken();
}

}  // namespace headwave
