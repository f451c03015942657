#include "../../analysis/statistics/k_means.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>
#include <set>

#include <nlohmann/json.hpp>

#include "../../core/numbers/random.h"
#include "../catch.h"
#include "../reference/direct_clusters.h"
#include "../test_numbers.h"
#include "golden_json.h"

using namespace headwave;

namespace {

Matrix golden_points(const nlohmann::json& dump) {
  const auto rows = dump.at("points").get<std::vector<std::vector<double>>>();
  Matrix points(static_cast<Index>(rows.size()), static_cast<Index>(rows.front().size()));
  for (Index i = 0; i < points.rows(); ++i)
    for (Index j = 0; j < points.cols(); ++j)
      points(i, j) = rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
  return points;
}

// Groups of points around corners far apart.
Matrix blobs(Index groups, Index each, Index width, double spread, std::uint64_t seed) {
  Random random(seed);
  const Matrix corners = Matrix::NullaryExpr(groups, width, [&] { return 10.0 * random.normal(); });
  Matrix points(groups * each, width);
  for (Index i = 0; i < points.rows(); ++i)
    for (Index j = 0; j < width; ++j) points(i, j) = corners(i % groups, j) + spread * random.normal();
  return points;
}

KMeansOptions with_clusters(Index clusters) {
  KMeansOptions options;
  options.clusters = clusters;
  return options;
}

}  // namespace

TEST_CASE("k-means of four points on a line is the one on the page") {
  Matrix points(4, 1);
  points << 0, 1, 10, 14;
  const KMeans found = k_means(points, with_clusters(2));
  CHECK(found.labels[0] == found.labels[1]);
  CHECK(found.labels[2] == found.labels[3]);
  CHECK(found.labels[0] != found.labels[2]);
  CHECK(found.centroids(found.labels[0], 0) == Approx(0.5).epsilon(8 * eps));
  CHECK(found.centroids(found.labels[3], 0) == Approx(12.0).epsilon(8 * eps));
  CHECK(found.inertia == Approx(0.25 + 0.25 + 4.0 + 4.0).epsilon(8 * eps));
  CHECK(found.converged);
}

TEST_CASE("k-means finds the least inertia of all labelings of a few points") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Random random(seed);
    const Matrix points = Matrix::NullaryExpr(9, 2, [&] { return random.normal(); });
    for (const Index k : {1, 2, 3}) {
      const double least = least_inertia(points, k);
      CHECK(std::abs(k_means(points, with_clusters(k)).inertia - least) <= 64 * eps * points.squaredNorm());
    }
  }
}

TEST_CASE("k-means reaches scikit-learn's inertia, labels and quality") {
  const nlohmann::json dump = golden_json("clusters.json");
  const Matrix points = golden_points(dump);
  for (const auto& run : dump.at("runs")) {
    const KMeans found = k_means(points, with_clusters(run.at("clusters").get<Index>()));
    INFO("k = " << run.at("clusters"));
    CHECK(found.converged);
    CHECK(found.inertia <= run.at("inertia").get<double>() * (1.0 + 1e-9));
    CHECK(std::abs(silhouette(points, found.labels) - run.at("silhouette").get<double>()) < 1e-12);
    CHECK(adjusted_rand(found.labels, run.at("labels").get<std::vector<Index>>()) == 1.0);
  }
}

TEST_CASE("what k-means returns belongs together") {
  const Matrix points = blobs(5, 40, 7, 3.0, 21);
  const KMeans found = k_means(points, with_clusters(5));
  CHECK(found.labels == nearest_centroids(points, found.centroids));
  Matrix sums = Matrix::Zero(5, 7);
  Vector counts = Vector::Zero(5);
  double inertia = 0.0;
  for (Index i = 0; i < points.rows(); ++i) {
    const Index label = found.labels[static_cast<std::size_t>(i)];
    sums.row(label) += points.row(i);
    counts(label) += 1.0;
    inertia += (points.row(i) - found.centroids.row(label)).squaredNorm();
  }
  for (Index k = 0; k < 5; ++k)
    CHECK((sums.row(k) / counts(k) - found.centroids.row(k)).norm() <= 64 * eps * points.rowwise().norm().maxCoeff());
  CHECK(std::abs(found.inertia - inertia) <= 64 * eps * inertia);
}

TEST_CASE("k-means recovers planted groups wherever they lie") {
  const Matrix points = blobs(6, 50, 21, 0.5, 5);
  std::vector<Index> planted;
  for (Index i = 0; i < points.rows(); ++i) planted.push_back(i % 6);
  const KMeans found = k_means(points);
  CHECK(adjusted_rand(found.labels, planted) == 1.0);
  // Far from the origin squares lose their digits unless the points are centred first.
  const Matrix far = points.array() + 1e7;
  CHECK(adjusted_rand(k_means(far).labels, planted) == 1.0);
}

TEST_CASE("k-means gives the same digits on any number of threads, and others for another seed") {
  const Matrix points = blobs(4, 300, 5, 12.0, 9);
  KMeansOptions options = with_clusters(7);
  options.restarts = 9;
  const KMeans one = k_means(points, options);
  options.threads = 3;
  const KMeans three = k_means(points, options);
  CHECK(one.centroids == three.centroids);
  CHECK(one.labels == three.labels);
  CHECK(one.inertia == three.inertia);
  CHECK(one.iterations == three.iterations);
  options.seed = 2;
  CHECK(k_means(points, options).labels != one.labels);
}

TEST_CASE("k-means with as many clusters as different points leaves nothing over") {
  Matrix points(6, 2);
  points << 1, 1, 2, 2, 1, 1, 5, 5, 2, 2, 1, 1;
  const KMeans found = k_means(points, with_clusters(3));
  CHECK(found.inertia <= 64 * eps * eps * points.squaredNorm());
  CHECK(std::set<Index>(found.labels.begin(), found.labels.end()).size() == 3);
  CHECK(distinct_rows(points, 10) == 3);
  CHECK(distinct_rows(points, 2) == 2);
}

TEST_CASE("k-means of points that differ less than their rounding ends with a group for each") {
  // Five points, four of them an ulp apart: distances among these vanish beside the fifth.
  Matrix points(5, 1);
  points << 1.0, 1.0 + eps, 1.0 + 2 * eps, 1.0 + 3 * eps, 1e8;
  const KMeans found = k_means(points, with_clusters(4));
  CHECK(found.centroids.allFinite());
  CHECK(found.inertia <= 1.0);
}

TEST_CASE("k-means ends where it is told to and says so") {
  const Matrix points = blobs(3, 400, 2, 20.0, 2);
  KMeansOptions options = with_clusters(8);
  options.restarts = 1;
  options.max_iterations = 1;
  const KMeans found = k_means(points, options);
  CHECK_FALSE(found.converged);
  CHECK(found.iterations == 2);  // one of the start, one of its last run
}

TEST_CASE("points that are there several times count as points that are written down as often") {
  const Matrix points = blobs(5, 12, 4, 1.0, 8);
  std::vector<Index> times;
  for (Index i = 0; i < points.rows(); ++i) times.push_back(1 + i * i % 4);
  Matrix written(std::accumulate(times.begin(), times.end(), Index{0}), points.cols());
  for (Index i = 0, row = 0; i < points.rows(); ++i)
    for (Index once = 0; once < times[static_cast<std::size_t>(i)]; ++once) written.row(row++) = points.row(i);
  for (const Index clusters : {2, 5, 9}) {
    CAPTURE(clusters);
    KMeansOptions options = with_clusters(clusters);
    options.restarts = 200;  // both find the least there is
    const KMeans counted = k_means(points, options, times), repeated = k_means(written, options);
    CHECK(counted.inertia == Approx(repeated.inertia).epsilon(1e-12));
    std::vector<Index> labels;
    for (Index i = 0; i < points.rows(); ++i)
      labels.insert(labels.end(), static_cast<std::size_t>(times[static_cast<std::size_t>(i)]),
                    counted.labels[static_cast<std::size_t>(i)]);
    CHECK(adjusted_rand(labels, repeated.labels) == 1);
    for (Index i = 0, row = 0; i < points.rows(); row += times[static_cast<std::size_t>(i++)])
      CHECK((counted.centroids.row(counted.labels[static_cast<std::size_t>(i)]) -
             repeated.centroids.row(repeated.labels[static_cast<std::size_t>(row)]))
                .norm() < 1e-12);
  }
  const std::vector<Index> once(static_cast<std::size_t>(points.rows()), 1);
  CHECK(k_means(points, with_clusters(5), once).centroids.isApprox(k_means(points, with_clusters(5)).centroids, 1e-14));
}

TEST_CASE("k-means starts in every group of a crowd and a few far points") {
  // 1000 points near 0, one at 100, one at 200: a start drawn evenly would miss the two nearly always.
  Random random(5);
  Matrix points = Matrix::NullaryExpr(1002, 1, [&] { return random.normal(); });
  points(500, 0) = 100.0;
  points(501, 0) = 200.0;
  KMeansOptions options = with_clusters(3);
  options.restarts = 1;
  for (options.seed = 0; options.seed < 20; ++options.seed) {
    Matrix found = k_means(points, options).centroids;
    std::sort(found.data(), found.data() + 3);
    CHECK(std::abs(found(0, 0)) < 1);
    CHECK(found(1, 0) == Approx(100));
    CHECK(found(2, 0) == Approx(200));
  }
}
