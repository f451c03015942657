#include "../../analysis/attention/head_cluster.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

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

double cluster_number(const std::vector<Field>& fields, const std::string& quantity) {
  return field_of(fields, "head_cluster/" + quantity).doubles().front();
}

const std::vector<double>& cluster_numbers(const std::vector<Field>& fields, const std::string& quantity) {
  return field_of(fields, "head_cluster/" + quantity).doubles();
}

std::vector<Index> labels(const std::vector<Field>& fields) {
  const auto& values = std::get<std::vector<std::int64_t>>(field_of(fields, "head_cluster/label").values);
  return {values.begin(), values.end()};
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
  const std::vector<Field> found = head_clusters(bank.vectors(), quick(5));
  CHECK(labels(found) == bank.planted);  // the canonical order is the order of the kinds
  CHECK(std::get<std::string>(field_of(found, "head_cluster/inertia").attributes.at("converged")) == "yes");
  CHECK(field_of(found, "head_cluster/label").axis("document").size() == 6);
  const std::vector<double>& centroids = cluster_numbers(found, "centroid");
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const auto first = centroids.begin() + static_cast<std::ptrdiff_t>(21 * k);
    CHECK(static_cast<double>(std::max_element(first, first + 21) - first - 10) == kinds[k].offset);
    CHECK(std::abs(cluster_numbers(found, "mass")[k] - 0.2) <= 8 * eps);
  }
  for (std::size_t row = 0; row < 15; ++row)
    for (std::size_t k = 0; k < 5; ++k)
      CHECK(cluster_numbers(found, "share")[5 * row + k] == (k == (row % 5 + row / 5) % 5 ? 1.0 : 0.0));
  CHECK(cluster_number(found, "stability") == 1.0);
  CHECK(cluster_number(found, "silhouette") > 0.8);
}

TEST_CASE("the sweep of head clusters prefers the planted number of kinds") {
  const PlantedVectors bank = planted_vectors(6);
  const std::vector<Field> found = head_clusters(bank.vectors(), quick(3));
  const std::vector<double>&inertia = cluster_numbers(found, "sweep_inertia"),
        &silhouette = cluster_numbers(found, "sweep_silhouette"),
        &stability = cluster_numbers(found, "sweep_stability");
  REQUIRE(inertia.size() == 7);  // of 2 to 8 clusters
  CHECK(std::ranges::is_sorted(inertia, std::greater()));
  CHECK(std::ranges::max_element(silhouette) - silhouette.begin() == 3);
  CHECK(stability[3] == 1.0);
  CHECK(stability[6] < 0.95);  // splitting a kind is a matter of which documents there are
  CHECK(cluster_number(found, "stability_lower_quartile") <= cluster_number(found, "stability_upper_quartile"));
  CHECK(field_of(found, "head_cluster/mass").size() == 3);
  CHECK(cluster_number(found, "inertia") == inertia[1]);
  // One k gives the same labels whatever else was swept.
  HeadClusterOptions alone = quick(3);
  alone.sweep_last = 0;
  const std::vector<Field> single = head_clusters(bank.vectors(), alone);
  CHECK(labels(single) == labels(found));
  CHECK(cluster_number(single, "stability") == cluster_number(found, "stability"));
  CHECK_THROWS_WITH(field_of(single, "head_cluster/sweep_inertia"),
                    ContainsSubstring("no field head_cluster/sweep_inertia"));
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
  const std::vector<Field> found = head_clusters({values, {4}, 3}, options);
  CHECK(labels(found) == std::vector<Index>{2, 1, 1, 1, 0, 3});
  CHECK(cluster_numbers(found, "mass")[1] == 0.5);
  // Documents are rows 0-2 and 3-5, so head 0 is once in cluster 2 and once in 1.
  const std::vector<double>& share = cluster_numbers(found, "share");
  CHECK(std::vector(share.begin(), share.begin() + 4) == std::vector<double>{0, 0.5, 0.5, 0});
}

TEST_CASE("head clusters have the same digits on any number of threads") {
  const PlantedVectors bank = planted_vectors(3, 8);
  HeadClusterOptions options = quick(4);
  const std::vector<Field> one = head_clusters(bank.vectors(), options);
  options.threads = 3;
  const std::vector<Field> three = head_clusters(bank.vectors(), options);
  REQUIRE(one.size() == three.size());
  for (std::size_t i = 0; i < one.size(); ++i) CHECK(one[i].values == three[i].values);
}

TEST_CASE("the stability of clusters that documents do not share is low") {
  // What a head does depends on the document alone: a resample without the document loses its cluster.
  Random random(2);
  Matrix values(8 * 4, 5);
  for (Index d = 0; d < 8; ++d)
    for (Index h = 0; h < 4; ++h)
      for (Index t = 0; t < 5; ++t)
        values(d * 4 + h, t) = std::cos(static_cast<double>(7 * d + 3 * t * d)) + 0.01 * random.normal();
  const std::vector<Field> found = head_clusters({values, {0, 1}, 2}, quick(8));
  CHECK(cluster_number(found, "stability") < 0.9);
  CHECK(cluster_number(found, "silhouette") > 0.9);
}

TEST_CASE("one document has clusters and no stability") {
  const PlantedVectors bank = planted_vectors(1);
  const std::vector<Field> found = head_clusters(bank.vectors(), quick(5));
  CHECK(labels(found) == bank.planted);
  for (const char* quantity : {"stability", "stability_lower_quartile", "sweep_stability"}) {
    CHECK(std::isnan(cluster_number(found, quantity)));
    CHECK(std::get<std::string>(field_of(found, std::string("head_cluster/") + quantity).attributes.at("undefined")) ==
          "one document cannot be resampled");
  }
  CHECK(field_of(found, "head_cluster/inertia").attributes.count("undefined") == 0);
}

TEST_CASE("fewer different vectors than clusters give fewer clusters, and say so") {
  Matrix values(8, 3);
  values << 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1;
  const std::vector<Field> found = head_clusters({values, {0}, 2}, quick(6));
  CHECK(field_of(found, "head_cluster/mass").size() == 3);
  CHECK(labels(found) == std::vector<Index>{0, 2, 0, 2, 0, 1, 0, 2});
  CHECK(field_of(found, "head_cluster/sweep_inertia").size() == 2);
  CHECK(std::get<std::string>(field_of(found, "head_cluster/share").attributes.at("reduced")) ==
        "6 clusters were requested, but there are only 3 different vectors");

  const std::vector<Field> same = head_clusters({Matrix(Matrix::Ones(4, 3)), {0}, 2}, quick(6));
  CHECK(cluster_numbers(same, "share") == std::vector<double>{1, 1});
  CHECK(std::isnan(cluster_number(same, "silhouette")));
  CHECK(cluster_number(same, "stability") == 1.0);
  CHECK(field_of(same, "head_cluster/silhouette").attributes.count("undefined") == 1);
}

TEST_CASE("head clusters say whose heads they are, and how they were found") {
  PlantedVectors bank = planted_vectors(4);
  bank.layers = {2, 5, 11};
  const std::vector<Field> found = head_clusters(bank.vectors(), quick(5));
  CHECK(found.front().name == "head_cluster/share");
  for (const Field& one : found) {
    CHECK(std::get<std::int64_t>(one.attributes.at("seed")) == 1);
    CHECK(std::get<std::int64_t>(one.attributes.at("restarts")) == 10);
  }
  const Field& share = field_of(found, "head_cluster/share");
  CHECK(std::get<std::vector<std::int64_t>>(share.axis("layer").values) == std::vector<std::int64_t>{2, 5, 11});
  CHECK(share.doubles()[0 * 25 + 2 * 5 + 2] == 1.0);  // layer 2, head 2 is of kind 2
  const auto offsets =
      std::get<std::vector<std::int64_t>>(field_of(found, "head_cluster/centroid").axis("offset").values);
  CHECK(offsets.front() == -10);
  CHECK(offsets.back() == 10);
  CHECK(std::get<std::vector<std::int64_t>>(field_of(found, "head_cluster/sweep_inertia").axis("clusters").values)
            .back() == 8);
}

TEST_CASE("head clusters say why there is no stability") {
  const PlantedVectors bank = planted_vectors(2);
  HeadClusterOptions options = quick(2);
  options.bootstrap = 0;
  CHECK(std::get<std::string>(
            field_of(head_clusters(bank.vectors(), options), "head_cluster/stability").attributes.at("undefined")) ==
        "no resamples were requested");
}
