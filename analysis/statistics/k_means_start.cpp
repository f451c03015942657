#include "k_means_start.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <fmt/format.h>

namespace headwave {

namespace {

// Squared distances of points to the nearest of some centres, and which that is.
struct Nearest {
  Vector distance;            // (n)
  std::vector<Index> centre;  // (n)
};

double squared_distance(const MatrixView& points, Index i, Index j) {
  return (points.row(i) - points.row(j)).squaredNorm();  // by differences: equal points are at distance zero
}

// What the distances would be if one point became a centre too.
Vector lowered(const MatrixView& points, const Nearest& nearest, const std::vector<Index>& centres, Index candidate) {
  std::vector<double> near;  // by centre: points no farther from it than this cannot be nearer to the candidate
  for (const Index centre : centres) near.push_back(0.25 * squared_distance(points, candidate, centre));
  Vector distance = nearest.distance;
  for (Index i = 0; i < distance.size(); ++i)
    if (distance[i] > near[static_cast<std::size_t>(nearest.centre[static_cast<std::size_t>(i)])])
      distance[i] = std::min(distance[i], squared_distance(points, i, candidate));
  return distance;
}

// Any point, each as likely as it is often there.
Index any_point(Index count, std::span<const Index> times, Random& random) {
  if (times.empty()) return random.below(count);
  Index left = random.below(std::accumulate(times.begin(), times.end(), Index{0}));
  Index point = 0;
  while (left >= times[static_cast<std::size_t>(point)]) left -= times[static_cast<std::size_t>(point++)];
  return point;
}

// A point drawn with probability proportional to its share of the cumulative weight; any point where all weights are
// zero.
Index drawn(const std::vector<double>& cumulative, Random& random) {
  const auto count = static_cast<Index>(cumulative.size());
  if (!(cumulative.back() > 0.0)) return random.below(count);
  const auto place = std::upper_bound(cumulative.begin(), cumulative.end(), random.uniform() * cumulative.back());
  return std::min<Index>(place - cumulative.begin(), count - 1);
}

}  // namespace

Matrix k_means_start(MatrixView points, Index clusters, Random& random, std::span<const Index> times) {
  if (clusters < 1 || points.empty() || (!times.empty() && std::ssize(times) != points.rows()))
    throw ShapeError(
        fmt::format("k_means_start: expected points and clusters, got {} x {} and {}, and how often each of "
                    "{} is there",
                    points.rows(), points.cols(), clusters, times.size()));
  const auto count = static_cast<std::size_t>(points.rows());
  const auto candidates = 2 + static_cast<std::size_t>(std::log(static_cast<double>(clusters)));
  Vector often = Vector::Ones(points.rows());
  for (std::size_t i = 0; i < times.size(); ++i) often[static_cast<Index>(i)] = static_cast<double>(times[i]);
  std::vector<Index> centres{any_point(points.rows(), times, random)};
  Nearest nearest{(points.rowwise() - points.row(centres.front())).rowwise().squaredNorm(),
                  std::vector<Index>(count, 0)};
  std::vector<double> cumulative(count);
  while (static_cast<Index>(centres.size()) < clusters) {
    const Vector weight = nearest.distance.cwiseProduct(often);
    std::partial_sum(weight.begin(), weight.end(), cumulative.begin());
    std::vector<Index> drawn_points(candidates);
    for (Index& point : drawn_points) point = drawn(cumulative, random);
    Index chosen = 0;
    Vector best;
    double least = std::numeric_limits<double>::infinity();
    for (const Index point : drawn_points) {
      Vector distance = lowered(points, nearest, centres, point);
      const double sum = distance.dot(often);
      if (best.size() > 0 && !(sum < least)) continue;
      least = sum;
      chosen = point;
      best.swap(distance);
    }
    for (std::size_t i = 0; i < count; ++i)
      if (best[static_cast<Index>(i)] < nearest.distance[static_cast<Index>(i)])
        nearest.centre[i] = static_cast<Index>(centres.size());
    nearest.distance.swap(best);
    centres.push_back(chosen);
  }
  return points(centres, Eigen::all);
}

}  // namespace headwave
