#include "moderated_test.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "quantile.h"

namespace headwave {

namespace {

/// Steps of the recurrence that bring x to 8 or more.
int steps_to_eight(double x) {
  return x < 8 ? static_cast<int>(std::ceil(8 - x)) : 0;
}

/// Derivative of log gamma: recurrence up to 8, then Stirling's series.
double digamma(double x) {
  const int steps = steps_to_eight(x);
  double sum = 0;
  for (int k = 0; k < steps; ++k) sum -= 1 / (x + k);
  x += steps;
  const double y = 1 / (x * x);
  return sum + std::log(x) - 0.5 / x - y * (1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252 - y / 240)));
}

double trigamma(double x) {
  const int steps = steps_to_eight(x);
  double sum = 0;
  for (int k = 0; k < steps; ++k) sum += 1 / ((x + k) * (x + k));
  x += steps;
  const double y = 1 / (x * x);
  return sum + 1 / x + y / 2 + y / x * (1.0 / 6 - y * (1.0 / 30 - y * (1.0 / 42 - y / 30)));
}

/// The x with trigamma(x) = value, by bisection of log x: trigamma falls everywhere.
double inverse_trigamma(double value) {
  double low = -20, high = 20;
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    (trigamma(std::exp(middle)) > value ? low : high) = middle;
  }
  return std::exp((low + high) / 2);
}

/// Distribution of the variances over items: degrees of freedom d_0 and variance s_0^2.
struct Prior {
  double degrees = 0, variance = 0;
};

/// @param degrees, variances  of the tested items
Prior prior_of(const std::vector<double>& degrees, const std::vector<double>& variances) {
  std::vector<double> positive;
  for (const double one : variances)
    if (one > 0) positive.push_back(one);
  if (positive.size() < 5) return {};
  // A variance of 0, from items that rounding makes equal, has no logarithm.
  const double floor = 1e-5 * quantile(positive, 0.5);
  const auto n = static_cast<double>(variances.size());
  std::vector<double> e(variances.size());
  double mean = 0, spread = 0;
  for (std::size_t i = 0; i < e.size(); ++i) {
    e[i] = std::log(std::max(variances[i], floor)) - digamma(degrees[i] / 2) + std::log(degrees[i] / 2);
    mean += e[i] / n;
  }
  for (std::size_t i = 0; i < e.size(); ++i)
    spread += ((e[i] - mean) * (e[i] - mean) * n / (n - 1) - trigamma(degrees[i] / 2)) / n;
  constexpr double many = 1e4;  // degrees of freedom that mean one variance for all items
  const double of_prior = spread > 0 ? std::min(many, 2 * inverse_trigamma(spread)) : many;
  return {of_prior, std::exp(mean + digamma(of_prior / 2) - std::log(of_prior / 2))};
}

}  // namespace

Vector moderated_p_values(const ItemSums& sums, const ModeratedTestOptions& options) {
  const auto least = static_cast<double>(std::max<Index>(2, options.least_documents));
  std::vector<Index> items;
  std::vector<double> degrees, variances;
  for (Index i = 0; i < sums.documents.size(); ++i) {
    const double n = sums.documents[i];
    if (n < least) continue;
    items.push_back(i);
    degrees.push_back(n - 1);
    variances.push_back(std::max(0.0, (sums.squares[i] - sums.sum[i] * sums.sum[i] / n) / (n - 1)));
  }
  const Prior prior = prior_of(degrees, variances);
  Vector p = Vector::Constant(sums.documents.size(), not_defined);
  for (std::size_t k = 0; k < items.size(); ++k) {
    const Index i = items[k];
    const double freedom = prior.degrees + degrees[k];
    const double variance = (prior.degrees * prior.variance + degrees[k] * variances[k]) / freedom;
    const double mean = options.two_sided ? std::abs(sums.mean(i)) : sums.mean(i);
    const double error = std::sqrt(variance / sums.documents[i]);
    // The tail at t = 1.28 is 0.1 or more for any degrees of freedom.
    const double tail = mean <= 1.28 * error ? 1
                        : error > 0          ? student_tail(mean / error, freedom)
                                             : std::numeric_limits<double>::min();
    p[i] = std::min(1.0, options.two_sided ? 2 * tail : tail);
  }
  return p;
}

}  // namespace headwave
