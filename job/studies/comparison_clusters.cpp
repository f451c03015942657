#include "comparison_clusters.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "../../analysis/statistics/cluster_quality.h"
#include "../../core/algebra/product.h"
#include "../../core/errors/error.h"
#include "comparison_readings.h"

namespace headwave {

namespace {

/// Share of a head's documents in each cluster.
/// @returns (rows, clusters)
Matrix cluster_shares(const Field& field, Index rows) {
  field.check_shape();
  if (field.axes.size() != 3 || field.axes[2].size() < 1 || field.size() != rows * field.axes[2].size())
    throw ShapeError(fmt::format("{}: expected shares of clusters for each of {} heads, found {} numbers on {} axes",
                                 field.name, rows, field.size(), field.axes.size()));
  return Eigen::Map<const Matrix>(field.doubles().data(), rows, field.axes[2].size());
}

std::vector<Index> dominant(const Matrix& shares) {
  std::vector<Index> labels(static_cast<std::size_t>(shares.rows()));
  for (Index row = 0; row < shares.rows(); ++row) shares.row(row).maxCoeff(&labels[static_cast<std::size_t>(row)]);
  return labels;
}

/// What clusters of the second are called by those of the first.
/// @param common  (clusters of the first, of the second)  how much they share
std::vector<std::string> labels_by(Matrix common) {
  std::vector<std::string> labels;
  for (Index b = 0; b < common.cols(); ++b) labels.push_back(fmt::format("new {}", b));
  for (Index matched = 0; matched < std::min(common.rows(), common.cols()); ++matched) {
    Index a = 0, b = 0;
    common.maxCoeff(&a, &b);
    labels[static_cast<std::size_t>(b)] = fmt::format("{}", a);
    common.row(a).setConstant(-1);
    common.col(b).setConstant(-1);
  }
  return labels;
}

void add_clusters_of(Comparison& compared, const std::string& name, const Field& first, const Field& second) {
  const Index rows = compared.grid.rows();
  const Matrix shares = cluster_shares(first, rows), others = cluster_shares(second, rows);
  if (!are_finite(shares) || !are_finite(others)) return;
  const std::vector<Index> one = dominant(shares), other = dominant(others);
  const std::vector<std::string> labels = labels_by(product(shares.transpose(), others));
  WordChange word{name, "cluster that most of the head's documents fall into, by the first result's labels", {}, {}};
  ClusterChange change{name, 0, adjusted_rand(one, other)};
  for (std::size_t row = 0; row < one.size(); ++row) {
    word.first.push_back(fmt::format("{}", one[row]));
    word.second.push_back(labels[static_cast<std::size_t>(other[row])]);
    change.same += word.first.back() == word.second.back() ? 1 : 0;
  }
  compared.words.push_back(std::move(word));
  compared.clusters.push_back(std::move(change));
}

}  // namespace

const std::vector<std::string>& cluster_fields() {
  static const std::vector<std::string> names{"head_cluster/share", "score_cluster/share"};
  return names;
}

void add_clusters(Comparison& compared, const Result& first, const Result& second) {
  for (const std::string& name : cluster_fields()) {
    const Field *one = kept_field(first, name.c_str()), *other = kept_field(second, name.c_str());
    if (one != nullptr && other != nullptr) add_clusters_of(compared, name.substr(0, name.find('/')), *one, *other);
  }
}

}  // namespace headwave
