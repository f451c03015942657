#include "cluster_quality.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "../../core/algebra/product.h"
#include "../../core/numbers/random.h"
#include "../../core/process/threads.h"

namespace headwave {

namespace {

constexpr Index at_once = 64;  // points at one end of the distances held at once
constexpr Index piece = 256;   // and at the other

// sum C(m, 2) over the lengths m of runs of equal items.
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

// The points that are looked at, in their own order.
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

// (rows, groups): distances of some points, summed over each group. By differences, so that equal points are at
// distance zero; piece by piece, so that distances never leave the cache.
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
  // Groups of the chosen points, in the order in which they come.
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
