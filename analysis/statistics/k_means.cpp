#include "k_means.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "../../core/algebra/product.h"
#include "../../core/numbers/random.h"
#include "../../core/process/threads.h"

namespace headwave {

namespace {

constexpr Index points_in_cache = 512;  // points whose distances are computed together

/// The nearest centroid of each point, the first of equals: the one with the largest x . c - |c|^2 / 2.
std::vector<Index> nearest_of(const Matrix& points, const Matrix& centroids) {
  const Vector half_norms = 0.5 * centroids.rowwise().squaredNorm();
  std::vector<Index> labels(static_cast<std::size_t>(points.rows()), 0);
  Matrix scores(centroids.rows(), points_in_cache);
  std::array<double, points_in_cache> best;
  for (Index first = 0; first < points.rows(); first += points_in_cache) {
    const Index width = std::min(points_in_cache, points.rows() - first);
    multiply(scores.leftCols(width), centroids, points.middleRows(first, width).transpose());
    scores.leftCols(width).colwise() -= half_norms;
    std::copy_n(scores.data(), width, best.begin());
    Index* const label = labels.data() + first;
    for (Index k = 1; k < scores.rows(); ++k) {
      const double* const score = scores.data() + k * scores.cols();
      for (Index i = 0; i < width; ++i) {
        const auto at = static_cast<std::size_t>(i);
        label[i] = score[i] > best[at] ? k : label[i];
        best[at] = std::max(score[i], best[at]);
      }
    }
  }
  return labels;
}

// A random point, with probability proportional to its multiplicity.
Index any_point(Index count, std::span<const Index> times, Random& random) {
  if (times.empty()) return random.below(count);
  Index left = random.below(std::accumulate(times.begin(), times.end(), Index{0}));
  Index point = 0;
  while (left >= times[static_cast<std::size_t>(point)]) left -= times[static_cast<std::size_t>(point++)];
  return point;
}

// A point drawn with probability proportional to its weight; any point if all weights are zero.
Index drawn(const std::vector<double>& cumulative, Random& random) {
  const auto count = static_cast<Index>(cumulative.size());
  if (!(cumulative.back() > 0.0)) return random.below(count);
  const auto place = std::upper_bound(cumulative.begin(), cumulative.end(), random.uniform() * cumulative.back());
  return std::min<Index>(place - cumulative.begin(), count - 1);
}

// Draws starting centroids that are far from one another, by greedy k-means++.
Matrix k_means_start(const Matrix& points, Index clusters, Random& random, std::span<const Index> times) {
  const auto candidates = 2 + static_cast<std::size_t>(std::log(static_cast<double>(clusters)));
  const auto distances_to = [&](Index centre) {
    Vector distance(points.rows());
    for (Index i = 0; i < points.rows(); ++i) distance[i] = (points.row(i) - points.row(centre)).squaredNorm();
    return distance;
  };
  Vector often = Vector::Ones(points.rows());
  for (std::size_t i = 0; i < times.size(); ++i) often[static_cast<Index>(i)] = static_cast<double>(times[i]);
  std::vector<Index> centres{any_point(points.rows(), times, random)};
  Vector nearest = distances_to(centres.front());
  std::vector<double> cumulative(static_cast<std::size_t>(points.rows()));
  while (static_cast<Index>(centres.size()) < clusters) {
    const Vector weight = nearest.cwiseProduct(often);
    std::partial_sum(weight.begin(), weight.end(), cumulative.begin());
    std::vector<Index> drawn_points(candidates);
    for (Index& point : drawn_points) point = drawn(cumulative, random);
    Index chosen = 0;
    Vector best;
    double least = std::numeric_limits<double>::infinity();
    for (const Index point : drawn_points) {
      Vector distance = nearest.cwiseMin(distances_to(point));
      const double sum = distance.dot(often);
      if (best.size() > 0 && !(sum < least)) continue;
      least = sum;
      chosen = point;
      best.swap(distance);
    }
    nearest.swap(best);
    centres.push_back(chosen);
  }
  return points(centres, Eigen::seqN(0, points.cols()));
}

constexpr double to_rest = -1.0;  // a tolerance that is never met: the run ends only if no label changes

// Points minus their common mean, where squared distances lose the fewest digits.
struct Points {
  Points(MatrixView points, std::span<const Index> how_often)
      : times(how_often.begin(), how_often.end()), mean(Eigen::RowVectorXd::Zero(points.cols())) {
    if (times.empty()) times.assign(static_cast<std::size_t>(points.rows()), 1);
    all = static_cast<double>(std::accumulate(times.begin(), times.end(), Index{0}));
    for (Index i = 0; i < points.rows(); ++i) mean += often(i) * points.row(i);
    mean /= all;
    rows = points.rowwise() - mean;
  }

  std::vector<Index> times;  // (n)  multiplicities
  double all = 0;            // their sum
  Eigen::RowVectorXd mean;   // (d)
  Matrix rows;               // (n, d)

  [[nodiscard]] Index count() const { return rows.rows(); }
  [[nodiscard]] double often(Index i) const { return static_cast<double>(times[static_cast<std::size_t>(i)]); }
  // Mean square of the points' entries.
  [[nodiscard]] double variance() const {
    double sum = 0;
    for (Index i = 0; i < count(); ++i) sum += often(i) * rows.row(i).squaredNorm();
    return sum / (all * static_cast<double>(rows.cols()));
  }
};

struct Run {
  Matrix centroids;  // (k, d)  minus the points' mean
  std::vector<Index> labels;
  double inertia = std::numeric_limits<double>::infinity();
  Index iterations = 0;
  bool converged = false;
};

// Gives every empty group the point farthest from its own centroid. Points alone in their group stay there.
// @returns (k)  number of points in each group
std::vector<Index> fill_empty(const Points& points, const Matrix& centroids, std::vector<Index>& labels) {
  std::vector<Index> counts(static_cast<std::size_t>(centroids.rows()), 0);
  const auto label = [&](Index i) { return labels[static_cast<std::size_t>(i)]; };
  const auto count = [&](Index k) -> Index& { return counts[static_cast<std::size_t>(k)]; };
  const auto times = [&](Index i) { return points.times[static_cast<std::size_t>(i)]; };
  for (Index i = 0; i < points.count(); ++i) count(label(i)) += times(i);
  for (Index empty = 0; empty < centroids.rows(); ++empty) {
    if (count(empty) > 0) continue;
    Index farthest = -1;
    double distance = -1.0;
    for (Index i = 0; i < points.count(); ++i) {
      if (count(label(i)) == times(i)) continue;
      const double candidate = (points.rows.row(i) - centroids.row(label(i))).squaredNorm();
      if (candidate <= distance) continue;
      distance = candidate;
      farthest = i;
    }
    if (farthest < 0) continue;
    count(label(farthest)) -= times(farthest);
    count(empty) = times(farthest);
    labels[static_cast<std::size_t>(farthest)] = empty;
  }
  return counts;
}

// Means of the groups after fill_empty(). A group that stays empty keeps its centroid.
Matrix means_of(const Points& points, const Matrix& centroids, std::vector<Index>& labels) {
  const std::vector<Index> counts = fill_empty(points, centroids, labels);
  Matrix sums = Matrix::Zero(centroids.rows(), centroids.cols());
  for (Index i = 0; i < points.count(); ++i)
    sums.row(labels[static_cast<std::size_t>(i)]) += points.often(i) * points.rows.row(i);
  for (Index k = 0; k < sums.rows(); ++k) {
    const Index count = counts[static_cast<std::size_t>(k)];
    if (count > 0)
      sums.row(k) /= static_cast<double>(count);
    else
      sums.row(k) = centroids.row(k);
  }
  return sums;
}

double inertia_of(const Points& points, const Matrix& centroids, const std::vector<Index>& labels) {
  double sum = 0.0;
  for (Index i = 0; i < points.count(); ++i)
    sum += points.often(i) * (points.rows.row(i) - centroids.row(labels[static_cast<std::size_t>(i)])).squaredNorm();
  return sum;
}

// Lloyd's algorithm, until no label changes or the centroids' squared movement is at most `tolerance`.
Run lloyd(const Points& points, Matrix centroids, double tolerance, Index max_iterations) {
  Run run;
  run.labels = nearest_of(points.rows, centroids);
  while (run.iterations < max_iterations && !run.converged) {
    ++run.iterations;
    Matrix moved = means_of(points, centroids, run.labels);
    const double shift = (moved - centroids).squaredNorm();
    centroids.swap(moved);
    std::vector<Index> labels = nearest_of(points.rows, centroids);
    run.converged = labels == run.labels || shift <= tolerance;
    run.labels.swap(labels);
  }
  run.inertia = inertia_of(points, centroids, run.labels);
  run.centroids = std::move(centroids);
  return run;
}

constexpr Index at_once = 64;  // points whose distances are computed together
constexpr Index piece = 256;   // points to which they are computed at a time

// Sums C(m, 2) over the numbers m of equal items.
template <class Item>
double pairs_in_runs(std::vector<Item> items) {
  std::sort(items.begin(), items.end());
  double pairs = 0.0;
  for (auto first = items.begin(); first != items.end();) {
    const auto last = std::upper_bound(first, items.end(), *first);
    const auto length = static_cast<double>(last - first);
    pairs += 0.5 * length * (length - 1.0);
    first = last;
  }
  return pairs;
}

// The points that are used, in their original order.
std::vector<Index> looked_at(Index count, const SilhouetteOptions& options) {
  std::vector<Index> chosen(static_cast<std::size_t>(count));
  std::iota(chosen.begin(), chosen.end(), Index{0});
  if (count <= options.max_points) return chosen;
  Random random(options.seed);
  random.shuffle(chosen);
  chosen.resize(static_cast<std::size_t>(options.max_points));
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

// (rows, groups): distances of some points, summed over each group. They are computed from differences, so
// that equal points have distance zero, and piece by piece, so that they stay in the cache.
Matrix summed_distances(const Matrix& columns, const Matrix& members, Index first, Index rows) {
  Matrix summed = Matrix::Zero(rows, members.cols());
  Matrix distances(rows, piece);
  for (Index start = 0; start < columns.cols(); start += piece) {
    const Index width = std::min(piece, columns.cols() - start);
    auto near = distances.leftCols(width);
    near.setZero();
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < columns.rows(); ++j)
        near.row(i).array() += (columns.row(j).segment(start, width).array() - columns(j, first + i)).square();
    near = near.cwiseSqrt();
    multiply_add(summed, near, members.middleRows(start, width));
  }
  return summed;
}

}  // namespace

KMeans k_means(MatrixView points, const KMeansOptions& options, std::span<const Index> times) {
  const Points centred(points, times);
  const double tolerance = options.tolerance * centred.variance();

  std::vector<Run> runs(static_cast<std::size_t>(options.restarts));
  const Random root(options.seed);
  parallel_for(options.restarts, options.threads, [&](Index restart) {
    Random random = root.stream(static_cast<std::uint64_t>(restart));
    Run run =
        lloyd(centred, k_means_start(centred.rows, options.clusters, random, times), tolerance, options.max_iterations);
    run.labels = {};  // n numbers per restart, which the last run computes again
    runs[static_cast<std::size_t>(restart)] = std::move(run);
  });

  const auto best =
      std::min_element(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.inertia < b.inertia; });
  Run run = lloyd(centred, best->centroids, to_rest, options.max_iterations);
  return {run.centroids.rowwise() + centred.mean, std::move(run.labels), run.inertia, best->iterations + run.iterations,
          run.converged};
}

std::vector<Index> nearest_centroids(MatrixView points, MatrixView centroids) {
  // Relative to the centroids' mean, to lose fewer digits.
  const Eigen::RowVectorXd mean = centroids.colwise().mean();
  return nearest_of(points.rowwise() - mean, centroids.rowwise() - mean);
}

Index distinct_rows(MatrixView points, Index at_most) {
  std::vector<Index> found;
  for (Index i = 0; i < points.rows() && static_cast<Index>(found.size()) < at_most; ++i) {
    const bool seen = std::any_of(found.begin(), found.end(), [&](Index j) { return points.row(i) == points.row(j); });
    if (!seen) found.push_back(i);
  }
  return static_cast<Index>(found.size());
}

double adjusted_rand(std::span<const Index> a, std::span<const Index> b) {
  std::vector<std::pair<Index, Index>> both(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) both[i] = {a[i], b[i]};
  const auto count = static_cast<double>(a.size());
  const double together = pairs_in_runs(std::move(both));
  const double in_a = pairs_in_runs(std::vector<Index>(a.begin(), a.end()));
  const double in_b = pairs_in_runs(std::vector<Index>(b.begin(), b.end()));
  if (together == in_a && together == in_b) return 1.0;  // the same groups; also where (1) is 0 / 0
  const double expected = in_a * in_b / (0.5 * count * (count - 1.0));
  return (together - expected) / (0.5 * (in_a + in_b) - expected);
}

double silhouette(MatrixView points, const std::vector<Index>& labels, const SilhouetteOptions& options) {
  const std::vector<Index> chosen = looked_at(points.rows(), options);
  const auto count = static_cast<Index>(chosen.size());
  const Matrix columns = points(chosen, Eigen::seqN(0, points.cols())).transpose();
  // Numbers the groups of the chosen points by first appearance.
  std::vector<Index> number(labels.size(), -1), group;
  std::vector<double> sizes;
  for (const Index i : chosen) {
    Index& mine = number[static_cast<std::size_t>(labels[static_cast<std::size_t>(i)])];
    if (mine < 0) {
      mine = std::ssize(sizes);
      sizes.push_back(0);
    }
    group.push_back(mine);
    sizes[static_cast<std::size_t>(mine)] += 1;
  }
  if (sizes.size() < 2) return not_defined;
  Matrix members = Matrix::Zero(count, std::ssize(sizes));  // 1 where a point is in a group
  for (Index i = 0; i < count; ++i) members(i, group[static_cast<std::size_t>(i)]) = 1;

  Eigen::RowVectorXd values = Eigen::RowVectorXd::Zero(count);
  parallel_for((count + at_once - 1) / at_once, options.threads, [&](Index part) {
    const Index first = part * at_once, rows = std::min(at_once, count - first);
    const Matrix summed = summed_distances(columns, members, first, rows);
    for (Index i = 0; i < rows; ++i) {
      const Index own = group[static_cast<std::size_t>(first + i)];
      const double others = sizes[static_cast<std::size_t>(own)] - 1;
      if (others < 1) continue;
      const double within = summed(i, own) / others;
      double nearest = std::numeric_limits<double>::infinity();
      for (Index g = 0; g < summed.cols(); ++g)
        if (g != own) nearest = std::min(nearest, summed(i, g) / sizes[static_cast<std::size_t>(g)]);
      const double larger = std::max(within, nearest);
      if (larger > 0) values[first + i] = (nearest - within) / larger;
    }
  });
  return values.mean();
}

}  // namespace headwave
