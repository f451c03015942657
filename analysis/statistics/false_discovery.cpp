#include "false_discovery.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace headwave {

Fields& add_status(Fields& fields, std::vector<Axis> axes, const std::vector<PredictedStatus>& statuses) {
  return fields.flags("status", std::move(axes), "whether an offset is predicted, or why not", statuses,
                      {"offset", "edge", "chance", "weak", "nothing"});
}

namespace {

/// atanh is infinite at 1, which a head of a single frequency reaches: a number just below 1 takes its place.
double scaled(double number, NullScale scale) {
  constexpr double end = 1 - std::numeric_limits<double>::epsilon();
  if (scale == NullScale::coherence) return std::atanh(std::clamp(number, -end, end));
  return std::asin(std::sqrt(std::clamp(number, 0.0, 1.0)));
}

/// Standardises a draw by the mean and deviation of the other draws, since an observation is no draw either.
/// @param away  distance from the mean of all n draws
double left_out(double away, double deviation, Index draws) {
  const auto n = static_cast<double>(draws);
  const double rest = (n - 1) * deviation * deviation - away * away * n / (n - 1);
  return away * n / (n - 1) / std::sqrt(std::max(rest, 1e-18 * deviation * deviation) / (n - 2));
}

}  // namespace

Vector pooled_p_values(const Vector& observed, const Matrix& null, NullScale scale) {
  const Index heads = observed.size();
  Vector z = Vector::Constant(heads, not_defined);
  Vector p = Vector::Constant(heads, not_defined);
  std::vector<double> pool;
  for (Index h = 0; h < heads; ++h) {
    if (std::isnan(observed[h]) || !are_finite(null.row(h)) || null.cols() < 3) continue;
    const Vector draws = null.row(h).transpose().unaryExpr([scale](double draw) { return scaled(draw, scale); });
    const double mean = draws.mean();
    const double deviation = std::sqrt((draws.array() - mean).square().sum() / static_cast<double>(draws.size() - 1));
    const double value = scaled(observed[h], scale);
    if (deviation <= 1e-9 * (1 + std::abs(mean))) {
      p[h] = value > mean + 1e-9 * (1 + std::abs(mean)) ? 1.0 / static_cast<double>(1 + draws.size()) : 1.0;
      continue;
    }
    z[h] = (value - mean) / deviation;
    for (const double draw : draws) pool.push_back(left_out(draw - mean, deviation, draws.size()));
  }
  std::sort(pool.begin(), pool.end());
  for (Index h = 0; h < heads; ++h) {
    if (std::isnan(z[h])) continue;
    const auto above = pool.end() - std::lower_bound(pool.begin(), pool.end(), z[h]);
    p[h] = static_cast<double>(1 + above) / static_cast<double>(1 + pool.size());
  }
  return p;
}

Vector q_values(const Vector& p_values) {
  std::vector<Index> order;
  for (Index h = 0; h < p_values.size(); ++h)
    if (!std::isnan(p_values[h])) order.push_back(h);
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return p_values[a] < p_values[b]; });
  Vector q = Vector::Constant(p_values.size(), not_defined);
  double smallest = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    smallest = std::min(smallest, p_values[order[i]] * static_cast<double>(order.size()) / static_cast<double>(i + 1));
    q[order[i]] = smallest;
  }
  return q;
}

void describe_p_values(Fields& fields, const std::vector<Axis>& axes, const Vector& p_value, const Vector& q_value,
                       const NullText& text) {
  fields.add("p_value", axes, "1", "chance of so large a " + text.quantity + " " + text.under, p_value, text.undefined);
  fields.add("q_value", axes, "1", "p_value adjusted for the number of heads", q_value, text.undefined);
}

}  // namespace headwave
