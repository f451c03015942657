#include "bootstrap.h"

#include "quantile.h"
#include "tails.h"

namespace headwave {

std::vector<double> drawn_times(Index documents, Random& random) {
  std::vector<double> times(static_cast<std::size_t>(documents), 0.0);
  for (Index draw = 0; draw < documents; ++draw) times[static_cast<std::size_t>(random.below(documents))] += 1;
  return times;
}

BootstrapInterval bootstrap_interval(const Matrix& drawn, const Vector& estimate, Index documents, double coverage) {
  const double tail = bootstrap_tail(0.5 * (1 - coverage), documents);
  BootstrapInterval ends{row_quantiles(drawn, tail), row_quantiles(drawn, 1 - tail)};
  for (Vector* end : {&ends.lower, &ends.upper}) *end = estimate.array().isNaN().select(not_defined, end->array());
  return ends;
}

}  // namespace headwave
