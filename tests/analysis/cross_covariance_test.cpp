#include "../../analysis/waves/cross_covariance.h"

#include "../catch.h"
#include "planted_waves.h"

using namespace headwave;

TEST_CASE("the biased covariance of one slow wave points to -7 where the unbiased one points to -20") {
  WaveSpec spec;
  spec.frequencies = {1};
  spec.amplitudes = {1};
  const Followed head = followed(wave_matrices(delayed(spec, -20)));
  const CrossCovariance found = cross_covariance(head.waves);
  const Vector gain = head.head->svd.gain.head(2);
  const auto peak = [&](const Matrix& by_column) {
    Index at = 0;
    Vector(gain.transpose() * by_column.middleCols(511 - 64, 129)).maxCoeff(&at);
    return at - 64;
  };
  REQUIRE(head.head->rank == 2);
  CHECK(peak(found.covariance) == -7);
  CHECK(peak(found.unbiased) == -20);
  CHECK(head.delay.offset == Approx(-20).margin(1e-6));  // whole periods: the circle closes
}
