#include "tails.h"

#include <cmath>

#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <fmt/format.h>

namespace headwave {

double normal_quantile(double tail) {
  if (!(tail > 0 && tail < 1)) throw NumericError(fmt::format("normal_quantile: a tail of {}; expected (0, 1)", tail));
  return quantile(complement(boost::math::normal(), tail));
}

double student_quantile(double tail, double degrees) {
  if (!(tail > 0 && tail < 1) || !(degrees > 0))
    throw NumericError(fmt::format(
        "student_quantile: a tail of {} with {} degrees of freedom; expected (0, 1) and above 0", tail, degrees));
  return quantile(complement(boost::math::students_t(degrees), tail));
}

double bootstrap_tail(double tail, Index n) {
  if (!(tail > 0 && tail < 0.5) || n < 2)
    throw NumericError(
        fmt::format("bootstrap_tail: a tail of {} over {} documents; expected (0, 1/2) and 2 or more", tail, n));
  const auto documents = static_cast<double>(n);
  const double t = student_quantile(tail, documents - 1);
  return cdf(complement(boost::math::normal(), std::sqrt(documents / (documents - 1)) * t));
}

double largest_excess(double tail, double variance, double largest) {
  if (!(tail > 0 && tail < 1) || !(variance >= 0) || !(largest >= 0))
    throw NumericError(fmt::format(
        "largest_excess: a tail of {}, variance {}, largest number {}; expected (0, 1), 0 or more, 0 or more", tail,
        variance, largest));
  const double odds = -std::log(tail), half = odds * largest / 3;
  return half + std::sqrt(half * half + 2 * odds * variance);
}

}  // namespace headwave
