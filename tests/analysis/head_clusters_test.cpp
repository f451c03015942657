#include "../../analysis/attention/head_clusters.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>

#include "../../analysis/statistics/cluster_quality.h"
#include "../../core/numbers/random.h"
#include "../catch.h"
#include "../test_numbers.h"
#include "found_field.h"

using namespace headwave;

namespace {

// Offset trace over -10 .. 10 of a planted head: scores sum_m a cos(w_m (j - i - offset)) and some noise, T = 96
// tokens.
Eigen::RowVectorXd planted_trace(double offset, double sharpness, Random& random) {
  const Index length = 96;
  Eigen::RowVectorXd trace = Eigen::RowVectorXd::Zero(21);
  for (Index i = 0; i < length; ++i) {
    Vector weights(length);
    for (Index j = 0; j < length; ++j) {
      double score = 0.3 * random.normal();
      for (const double f : {7.3, 8.6, 10.2, 11.9, 13.1, 15.4})
        score += sharpness * std::cos(2.0 * std::numbers::pi * f * (static_cast<double>(j - i) - offset) / 96.0);
      weights(j) = std::exp(score);
    }
    weights /= weights.sum();
    for (Index t = -10; t <= 10; ++t)
      if (i + t >= 0 && i + t < length) trace(t + 10) += weights(i + t);
  }
  return trace;
}

struct Kind {
  double offset, sharpness;
};
// In canonical order: by offset. The flat kind has no maximum of its own; noise puts it anywhere.
const std::vector<Kind> kinds{{-4, 1.0}, {-1, 1.6}, {0, 1.3}, {1, 1.6}, {3, 0.9}};

struct PlantedVectors {
  Matrix values;
  std::vector<Index> planted;
  std::vector<Index> layers{0, 1, 2};
  Index heads = 5;
  Index documents = 0;
  [[nodiscard]] HeadVectors vectors() const { return {values, layers, heads}; }
};

// Head h of layer l is of kind (h + l) mod 5 in every document.
PlantedVectors planted_vectors(Index documents, std::uint64_t seed = 3) {
  Random random(seed);
  PlantedVectors bank;
  bank.documents = documents;
  bank.values.resize(documents * 15, 21);
  for (Index row = 0; row < bank.values.rows(); ++row) {
    const Index head = row % 5;
    const Index layer = row / 5 % 3;
    const Index kind = (head + layer) % 5;
    bank.values.row(row) = planted_trace(kinds[static_cast<std::size_t>(kind)].offset,
                                         kinds[static_cast<std::size_t>(kind)].sharpness, random);
    bank.planted.push_back(kind);
  }
  return bank;
}

HeadClusterOptions quick(Index clusters) {
  HeadClusterOptions options;
  options.clusters = clusters;
  options.sweep_last = 8;
  options.restarts = 10;
  options.bootstrap = 8;
  return options;
}

}  // namespace

TEST_CASE("head clusters are the planted kinds, in canonical order") {
  const PlantedVectors bank = planted_vectors(6);
  const HeadClusters found = head_clusters(bank.vectors(), quick(5));
  CHECK(found.labels == bank.planted);  // the canonical order is the order of the kinds
  CHECK(found.converged);
  CHECK(found.documents == 6);
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    Index peak = 0;
    found.centroids.row(static_cast<Index>(k)).maxCoeff(&peak);
    CHECK(static_cast<double>(peak - 10) == kinds[k].offset);
  }
  CHECK((found.mass.array() - 0.2).abs().maxCoeff() <= 8 * eps);
  for (Index row = 0; row < 15; ++row)
    for (Index k = 0; k < 5; ++k) CHECK(found.shares(row, k) == (k == (row % 5 + row / 5) % 5 ? 1.0 : 0.0));
  CHECK(found.chosen.clusters == 5);
  CHECK(found.chosen.stability == 1.0);
  CHECK(found.chosen.silhouette > 0.8);
}

TEST_CASE("the sweep of head clusters prefers the planted number of kinds") {
  const PlantedVectors bank = planted_vectors(6);
  const HeadClusters found = head_clusters(bank.vectors(), quick(3));
  REQUIRE(found.sweep.size() == 7);
  double best_silhouette = -1.0;
  Index best = 0;
  for (std::size_t i = 0; i < found.sweep.size(); ++i) {
    const ClusterCount& one = found.sweep[i];
    CHECK(one.clusters == static_cast<Index>(i) + 2);
    if (i > 0) CHECK(one.inertia < found.sweep[i - 1].inertia);
    CHECK(one.stability_lower <= one.stability_upper);
    if (one.silhouette > best_silhouette) {
      best_silhouette = one.silhouette;
      best = one.clusters;
    }
  }
  CHECK(best == 5);
  CHECK(found.sweep[3].stability == 1.0);
  CHECK(found.sweep[6].stability < 0.95);  // splitting a kind is a matter of which documents there are
  CHECK(found.chosen.clusters == 3);
  CHECK(found.chosen.inertia == found.sweep[1].inertia);
  // One k gives the same labels whatever else was swept.
  HeadClusterOptions alone = quick(3);
  alone.sweep_last = 0;
  const HeadClusters single = head_clusters(bank.vectors(), alone);
  CHECK(single.labels == found.labels);
  CHECK(single.chosen.stability == found.chosen.stability);
  CHECK(single.sweep.size() == 1);
}

TEST_CASE("clusters with maxima at one offset are ordered by mass") {
  Matrix values(6, 3);
  values << 0, 9, 0,  //
      0, 5, 0,        //
      0, 5, 0,        //
      0, 5, 1,        //
      1, 0, 0,        //
      0, 1, 3;
  HeadClusterOptions options = quick(4);
  options.sweep_last = 0;
  const HeadClusters found = head_clusters({values, {4}, 3}, options);
  CHECK(found.labels == std::vector<Index>{2, 1, 1, 1, 0, 3});
  CHECK(found.mass(1) == 0.5);
  // Documents are rows 0-2 and 3-5, so head 0 is once in cluster 2 and once in 1.
  CHECK(found.shares.row(0) == Eigen::RowVector4d(0, 0.5, 0.5, 0));
}

TEST_CASE("head clusters have the same digits on any number of threads") {
  const PlantedVectors bank = planted_vectors(3, 8);
  HeadClusterOptions options = quick(4);
  const HeadClusters one = head_clusters(bank.vectors(), options);
  options.threads = 3;
  const HeadClusters three = head_clusters(bank.vectors(), options);
  CHECK(one.labels == three.labels);
  CHECK(one.centroids == three.centroids);
  REQUIRE(one.sweep.size() == three.sweep.size());
  for (std::size_t i = 0; i < one.sweep.size(); ++i) {
    CHECK(one.sweep[i].inertia == three.sweep[i].inertia);
    CHECK(one.sweep[i].silhouette == three.sweep[i].silhouette);
    CHECK(one.sweep[i].stability == three.sweep[i].stability);
    CHECK(one.sweep[i].stability_lower == three.sweep[i].stability_lower);
  }
}

TEST_CASE("the stability of clusters that documents do not share is low") {
  // What a head does depends on the document alone: a resample without the document loses its cluster.
  Random random(2);
  Matrix values(8 * 4, 5);
  for (Index d = 0; d < 8; ++d)
    for (Index h = 0; h < 4; ++h)
      for (Index t = 0; t < 5; ++t)
        values(d * 4 + h, t) = std::cos(static_cast<double>(7 * d + 3 * t * d)) + 0.01 * random.normal();
  const HeadClusters found = head_clusters({values, {0, 1}, 2}, quick(8));
  CHECK(found.chosen.stability < 0.9);
  CHECK(found.chosen.silhouette > 0.9);
}

TEST_CASE("one document has clusters and no stability") {
  const PlantedVectors bank = planted_vectors(1);
  const HeadClusters found = head_clusters(bank.vectors(), quick(5));
  CHECK(found.labels == bank.planted);
  CHECK(std::isnan(found.chosen.stability));
  const std::vector<Field> fields = describe(found);
  for (const char* quantity : {"stability", "stability_lower_quartile", "sweep_stability"}) {
    CHECK(std::isnan(field_of(fields, std::string("head_cluster/") + quantity).doubles().front()));
    CHECK(std::get<std::string>(field_of(fields, std::string("head_cluster/") + quantity).attributes.at("undefined")) ==
          "one document cannot be resampled");
  }
  CHECK(field_of(fields, "head_cluster/inertia").attributes.count("undefined") == 0);
}

TEST_CASE("fewer different vectors than clusters give fewer clusters, and say so") {
  Matrix values(8, 3);
  values << 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1;
  const HeadClusters found = head_clusters({values, {0}, 2}, quick(6));
  CHECK(found.chosen.clusters == 3);
  CHECK(found.centroids.rows() == 3);
  CHECK(found.labels == std::vector<Index>{0, 2, 0, 2, 0, 1, 0, 2});
  REQUIRE(found.sweep.size() == 2);
  CHECK(found.sweep[0].clusters == 2);
  const std::vector<Field> fields = describe(found);
  CHECK(std::get<std::string>(field_of(fields, "head_cluster/share").attributes.at("reduced")) ==
        "6 clusters were asked for, there are only 3 different vectors");

  const HeadClusters same = head_clusters({Matrix(Matrix::Ones(4, 3)), {0}, 2}, quick(6));
  CHECK(same.chosen.clusters == 1);
  CHECK(same.shares == Matrix::Ones(2, 1));
  CHECK(std::isnan(same.chosen.silhouette));
  CHECK(same.chosen.stability == 1.0);
  CHECK(field_of(describe(same), "head_cluster/silhouette").attributes.count("undefined") == 1);
}

TEST_CASE("head clusters describe themselves") {
  PlantedVectors bank = planted_vectors(4);
  bank.layers = {2, 5, 11};
  const HeadClusters found = head_clusters(bank.vectors(), quick(5));
  const std::vector<Field> fields = describe(found);
  CHECK(fields.front().name == "head_cluster/share");
  std::set<std::string> names;
  for (const Field& one : fields) {
    CHECK(one.group() == "head_cluster");
    CHECK_FALSE(one.unit.empty());
    CHECK_FALSE(one.long_name.empty());
    CHECK(std::get<std::int64_t>(one.attributes.at("seed")) == 1);
    CHECK(std::get<std::int64_t>(one.attributes.at("restarts")) == 10);
    CHECK(one.attributes.count("cluster_order") == 1);
    names.insert(one.quantity());
  }
  CHECK(names == std::set<std::string>{"share", "label", "centroid", "mass", "inertia", "silhouette", "stability",
                                       "stability_lower_quartile", "stability_upper_quartile", "sweep_inertia",
                                       "sweep_silhouette", "sweep_stability"});
  const Field& share = field_of(fields, "head_cluster/share");
  CHECK(std::get<std::vector<std::int64_t>>(share.axis("layer").values) == std::vector<std::int64_t>{2, 5, 11});
  CHECK(share.axis("head").size() == 5);
  CHECK(share.axis("cluster").size() == 5);
  CHECK(share.doubles()[0 * 25 + 2 * 5 + 2] == 1.0);  // layer 2, head 2 is of kind 2
  const Field& label = field_of(fields, "head_cluster/label");
  CHECK(label.axes.front().name == "document");
  CHECK(std::get<std::vector<std::int64_t>>(label.values)[7] == bank.planted[7]);
  const auto offsets =
      std::get<std::vector<std::int64_t>>(field_of(fields, "head_cluster/centroid").axis("offset").values);
  CHECK(offsets.front() == -10);
  CHECK(offsets.back() == 10);
  CHECK(std::get<std::vector<std::int64_t>>(field_of(fields, "head_cluster/sweep_inertia").axis("clusters").values)
            .back() == 8);
  CHECK(field_of(fields, "head_cluster/mass").doubles().size() == 5);
  CHECK(field_of(fields, "head_cluster/inertia").axes.empty());
}

TEST_CASE("head clusters refuse what is not documents of heads") {
  const PlantedVectors bank = planted_vectors(2);
  CHECK_THROWS_AS(head_clusters({bank.values.topRows(29), bank.layers, 5}, quick(2)), ShapeError);
  CHECK_THROWS_AS(head_clusters({bank.values.topRows(0), bank.layers, 5}, quick(2)), ShapeError);
  CHECK_THROWS_AS(head_clusters({bank.values, {}, 5}, quick(2)), ShapeError);
  CHECK_THROWS_AS(head_clusters({bank.values, bank.layers, 0}, quick(2)), ShapeError);
  CHECK_THROWS_WITH(head_clusters({bank.values.leftCols(20), bank.layers, 5}, quick(2)), ContainsSubstring("got 20"));
  Matrix broken = bank.values;
  broken(3, 3) = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(head_clusters({broken, bank.layers, 5}, quick(2)), NumericError);
  CHECK_THROWS_AS(head_clusters(bank.vectors(), quick(0)), NumericError);
  HeadClusterOptions options = quick(2);
  options.bootstrap = -1;
  CHECK_THROWS_AS(head_clusters(bank.vectors(), options), NumericError);
  options = quick(2);
  options.silhouette_points = 1;
  CHECK_THROWS_AS(head_clusters(bank.vectors(), options), NumericError);
  options = quick(2);
  options.bootstrap = 0;
  CHECK(head_clusters(bank.vectors(), options).undefined_stability == "no resamples were asked for");
}
