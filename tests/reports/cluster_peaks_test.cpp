#include <cmath>

#include "../../core/errors/error.h"
#include "../../reports/figures/clusters.h"
#include "../catch.h"

using namespace headwave;

namespace {

Result centroids(const char* second_axis, Index offsets, std::vector<double> values) {
  const Axis cluster = counting_axis("cluster", "1", "", 1, static_cast<Index>(values.size()) / offsets);
  const Axis window = counting_axis(second_axis, "token", "", -(offsets / 2), offsets - offsets / 2 - 1);
  return {"", {make_field("head_cluster/centroid", {cluster, window}, "1", "", std::move(values))}, {}};
}

}  // namespace

TEST_CASE("cluster peaks: where each centroid is largest, by hand") {
  const auto peaks = cluster_peaks(centroids("offset", 5, {0, 3, 1, 0, 0, 9, 1, 0, 0, 0}));
  REQUIRE(peaks.size() == 2);
  CHECK(peaks[0] == -1);
  CHECK(std::isnan(peaks[1]));  // at the end of the window
}

TEST_CASE("cluster peaks: centroids that are not there, have other axes or no middle are refused") {
  CHECK_THROWS_AS(cluster_peaks(Result{}), ShapeError);
  CHECK_THROWS_WITH(cluster_peaks(Result{}), ContainsSubstring("head_cluster/centroid"));
  CHECK_THROWS_WITH(cluster_peaks(centroids("distance", 3, {0, 1, 0})), ContainsSubstring("(cluster, offset)"));
  CHECK_THROWS_AS(cluster_peaks(centroids("offset", 4, {0, 1, 0, 0})), ShapeError);
}
