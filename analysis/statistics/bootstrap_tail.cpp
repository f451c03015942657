#include "bootstrap_tail.h"

#include <cmath>
#include <numbers>

#include <fmt/format.h>

namespace headwave {

namespace {

/// P(T > t) of Student's t with whole degrees of freedom, t >= 0: a finite sum (Abramowitz and Stegun 26.7.3, 26.7.4).
double student_tail(double t, Index degrees) {
  const double root = std::sqrt(static_cast<double>(degrees));
  const double norm = std::hypot(t, root), sine = t / norm, cosine = root / norm;
  const bool odd = degrees % 2 != 0;
  double term = odd ? cosine : 1.0, sum = degrees > 1 ? term : 0.0;
  for (Index k = odd ? 3 : 2; k < degrees; k += 2) {
    term *= cosine * cosine * static_cast<double>(k - 1) / static_cast<double>(k);
    sum += term;
  }
  const double inside = odd ? (std::atan2(t, root) + sine * sum) * 2 / std::numbers::pi : sine * sum;
  return (1 - inside) / 2;
}

}  // namespace

double bootstrap_tail(double tail, Index n) {
  if (!(tail > 0 && tail < 0.5) || n < 2)
    throw NumericError(
        fmt::format("bootstrap_tail: a tail of {} over {} documents; expected (0, 1/2) and 2 or more", tail, n));
  double low = 0, high = 1;
  while (student_tail(high, n - 1) > tail) high *= 2;
  for (int step = 0; step < 100; ++step) {
    const double middle = (low + high) / 2;
    (student_tail(middle, n - 1) > tail ? low : high) = middle;
  }
  const auto documents = static_cast<double>(n);
  return 0.5 * std::erfc(low * std::sqrt(documents / (documents - 1)) / std::numbers::sqrt2);
}

}  // namespace headwave
