#include "cluster_quality.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "../../core/algebra/product.h"
#include "../../core/numbers/random.h"
#include "../../core/process/threads.h"

namespace headwave {

namespace {

constexpr Index at_once = 64;          // points at one end of the distances held at once
constexpr Index groups_at_once = 256;  // of the labelings whose distances are summed together
constexpr Index piece = 256;           // and at the other

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

// One labeling of the points looked at, its labels renumbered 0 .. groups - 1.
struct Labeling {
  Labeling(const std::vector<Index>& all, const std::vector<Index>& chosen, Index first) : first_column(first) {
    std::vector<Index> number(all.size(), -1);
    for (const Index i : chosen) {
      Index& mine = number[static_cast<std::size_t>(all[static_cast<std::size_t>(i)])];
      if (mine < 0) {
        mine = static_cast<Index>(sizes.size());
        sizes.push_back(0.0);
      }
      labels.push_back(mine);
      sizes[static_cast<std::size_t>(mine)] += 1.0;
    }
  }

  [[nodiscard]] Index groups() const { return static_cast<Index>(sizes.size()); }

  // Equation (2) for point i, from its summed distances to every group.
  [[nodiscard]] double silhouette(Index i, const double* summed) const {
    const auto own = static_cast<std::size_t>(labels[static_cast<std::size_t>(i)]);
    if (sizes[own] < 2.0) return 0.0;
    const double within = summed[own] / (sizes[own] - 1.0);
    double nearest = std::numeric_limits<double>::infinity();
    for (std::size_t group = 0; group < sizes.size(); ++group)
      if (group != own) nearest = std::min(nearest, summed[group] / sizes[group]);
    const double larger = std::max(within, nearest);
    return larger > 0.0 ? (nearest - within) / larger : 0.0;
  }

  Index first_column;         // of this labeling's groups in the membership matrix
  std::vector<Index> labels;  // (points looked at)
  std::vector<double> sizes;  // (groups)
};

std::vector<Labeling> labelings_of(std::span<const std::vector<Index>> all, const std::vector<Index>& chosen) {
  std::vector<Labeling> labelings;
  Index first = 0;
  for (const std::vector<Index>& labels : all) {
    labelings.emplace_back(labels, chosen, first);
    first += labelings.back().groups();
  }
  return labelings;
}

// (points, groups of all labelings): 1 where the point is in the group. Distances times this are the summed
// distances.
Matrix membership(std::span<const Labeling> labelings, Index count) {
  const Index first = labelings.front().first_column;
  Matrix members = Matrix::Zero(count, labelings.back().first_column + labelings.back().groups() - first);
  for (const Labeling& labeling : labelings)
    for (Index i = 0; i < count; ++i)
      members(i, labeling.first_column - first + labeling.labels[static_cast<std::size_t>(i)]) = 1.0;
  return members;
}

// (rows, groups of all labelings): distances of some points, summed over each group. By differences, so that
// equal points are at distance zero; piece by piece, so that distances never leave the cache.
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

void check(MatrixView points, std::span<const std::vector<Index>> labelings, const SilhouetteOptions& options) {
  if (points.rows() < 1) throw ShapeError("silhouettes: expected points as rows, got none");
  if (!are_finite(points)) throw NumericError("silhouettes: an entry is not finite; leave undefined points out");
  if (!std::isfinite(4.0 * points.squaredNorm()))
    throw NumericError("silhouettes: entries are too large for their squares; scale the points down");
  if (options.max_points < 2)
    throw NumericError(fmt::format("silhouettes: expected max_points >= 2, got {}", options.max_points));
  for (const std::vector<Index>& labels : labelings) {
    if (static_cast<Index>(labels.size()) != points.rows())
      throw ShapeError(fmt::format("silhouettes: {} points came with {} labels", points.rows(), labels.size()));
    const auto [least, most] = std::minmax_element(labels.begin(), labels.end());
    if (*least < 0 || *most >= points.rows())
      throw NumericError(
          fmt::format("silhouettes: expected labels 0 to {}, got {} to {}", points.rows() - 1, *least, *most));
  }
}

}  // namespace

double adjusted_rand(std::span<const Index> a, std::span<const Index> b) {
  if (a.size() != b.size() || a.empty())
    throw ShapeError(fmt::format("adjusted_rand: expected two labelings of the same items, got {} and {} labels",
                                 a.size(), b.size()));
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

Vector silhouettes(MatrixView points, std::span<const std::vector<Index>> labelings, const SilhouetteOptions& options) {
  check(points, labelings, options);
  const std::vector<Index> chosen = looked_at(points.rows(), options);
  const auto count = static_cast<Index>(chosen.size());
  Matrix columns(points.cols(), count);
  for (Index i = 0; i < count; ++i) columns.col(i) = points.row(chosen[static_cast<std::size_t>(i)]).transpose();
  const std::vector<Labeling> mine = labelings_of(labelings, chosen);

  Matrix values(static_cast<Index>(mine.size()), count);
  for (std::size_t begin = 0, end = 0; begin < mine.size(); begin = end) {
    // As many labelings at a time as have few groups together: who is in which group takes memory.
    for (Index groups = 0; end < mine.size() && (end == begin || groups + mine[end].groups() <= groups_at_once); ++end)
      groups += mine[end].groups();
    const std::span<const Labeling> some(mine.data() + begin, end - begin);
    const Matrix members = membership(some, count);
    parallel_for((count + at_once - 1) / at_once, options.threads, [&](Index part) {
      const Index first = part * at_once;
      const Index rows = std::min(at_once, count - first);
      const Matrix summed = summed_distances(columns, members, first, rows);
      for (std::size_t l = 0; l < some.size(); ++l)
        for (Index i = 0; i < rows; ++i)
          values(static_cast<Index>(begin + l), first + i) =
              some[l].silhouette(first + i, &summed(i, some[l].first_column - some[0].first_column));
    });
  }

  Vector means = values.rowwise().mean();
  for (std::size_t l = 0; l < mine.size(); ++l)
    if (mine[l].groups() < 2) means(static_cast<Index>(l)) = not_defined;
  return means;
}

}  // namespace headwave
