#include "quantile.h"

#include <algorithm>
#include <cmath>

#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/process/threads.h"

namespace headwave {

double quantile(std::vector<double> values, double q) {
  if (values.empty()) throw ShapeError("quantile: expected at least one value, found none");
  if (!(q >= 0.0 && q <= 1.0)) throw NumericError(fmt::format("quantile: expected q between 0 and 1, found {}", q));
  if (std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); }))
    throw NumericError("quantile: a value is NaN; omit undefined values first");
  const double place = static_cast<double>(values.size() - 1) * q;
  const double whole = std::floor(place);
  const auto lower = values.begin() + static_cast<std::ptrdiff_t>(whole);
  std::nth_element(values.begin(), lower, values.end());
  const double below = *lower;
  // Exactly on a value: interpolating towards an infinite neighbour would give NaN.
  if (place == whole) return below;
  const double above = *std::min_element(lower + 1, values.end());
  return below + (place - whole) * (above - below);
}

Vector row_quantiles(const Matrix& draws, double q) {
  Vector found = Vector::Constant(draws.rows(), not_defined);
  for (Index row = 0; row < draws.rows() && draws.cols() > 0; ++row)
    if (are_finite(draws.row(row))) found[row] = quantile({draws.row(row).begin(), draws.row(row).end()}, q);
  return found;
}

double normal_quantile(double tail) {
  if (!(tail > 0 && tail < 1))
    throw NumericError(
        fmt::format("normal_quantile: expected a tail probability between 0 and 1, both excluded, found {}", tail));
  return quantile(complement(boost::math::normal(), tail));
}

double student_tail(double t, double degrees) {
  if (std::isnan(t) || !(degrees > 0))
    throw NumericError(fmt::format(
        "student_tail: t = {} with {} degrees of freedom; expected a t that is not NaN and more than 0 degrees", t,
        degrees));
  // In double: long double takes several times as long, and no test needs its digits.
  using InDouble = boost::math::policies::policy<boost::math::policies::promote_double<false>>;
  return cdf(complement(boost::math::students_t_distribution<double, InDouble>(degrees), t));
}

namespace {

/// The t that Student's t exceeds with this probability.
double student_quantile(double tail, double degrees) {
  if (!(tail > 0 && tail < 0.5) || !(degrees > 0))
    throw NumericError(
        fmt::format("an interval of coverage {:g} from {:g} values; expected a coverage between 0 and 1, both "
                    "excluded, and at least 2 values",
                    1 - 2 * tail, degrees + 1));
  return quantile(complement(boost::math::students_t(degrees), tail));
}

/// Equation (1) of bootstrap_interval().
double bootstrap_tail(double tail, Index n) {
  const auto documents = static_cast<double>(n);
  const double t = student_quantile(tail, documents - 1);
  return cdf(complement(boost::math::normal(), std::sqrt(documents / (documents - 1)) * t));
}

/// How often each of n documents is drawn in a sample of n with replacement.
std::vector<double> drawn_times(Index documents, Random& random) {
  std::vector<double> times(static_cast<std::size_t>(documents), 0.0);
  for (Index draw = 0; draw < documents; ++draw) times[static_cast<std::size_t>(random.below(documents))] += 1;
  return times;
}

}  // namespace

double jackknife_error(const Vector& left, double coverage) {
  const auto n = static_cast<double>(left.size());
  const double variance = (n - 1) / n * (left.array() - left.mean()).square().sum();
  return student_quantile((1 - coverage) / 2, n - 1) * std::sqrt(variance);
}

BootstrapInterval bootstrap_interval(const Vector& estimate, Index documents, const ResampleOptions& options,
                                     const Random& random,
                                     const std::function<Vector(const std::vector<double>& times)>& numbers) {
  const Vector undefined = Vector::Constant(estimate.size(), not_defined);
  if (documents < std::max<Index>(2, options.least_documents) || options.resamples < 2) return {undefined, undefined};
  Matrix drawn(estimate.size(), options.resamples);
  parallel_for(options.resamples, options.threads, [&](Index resample) {
    Random own = random.stream(static_cast<std::uint64_t>(resample));
    drawn.col(resample) = numbers(drawn_times(documents, own));
  });
  const double tail = bootstrap_tail(0.5 * (1 - options.coverage), documents);
  BootstrapInterval ends{row_quantiles(drawn, tail), row_quantiles(drawn, 1 - tail)};
  for (Vector* end : {&ends.lower, &ends.upper}) *end = estimate.array().isNaN().select(not_defined, end->array());
  return ends;
}

}  // namespace headwave
