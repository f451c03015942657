#include "../../analysis/waves/qk_svd.h"

#include <algorithm>

#include "../test_numbers.h"
#include "planted_waves.h"
#include "test_pass.h"

using namespace headwave;

TEST_CASE("a change of basis inside the head changes nothing in the chain") {
  const WaveMatrices made = wave_matrices(fixture_1());
  Random random(4);
  const Matrix turn = random_frame(32, 32, random);
  const Vector stretch = Vector::LinSpaced(32, 0.5, 2);  // G = turn diag(stretch), so G^-T = turn / diag(stretch)
  const Followed before = followed(made);
  const Followed after = followed(made.states, made.query * turn * stretch.asDiagonal(),
                                  made.key * turn * stretch.cwiseInverse().asDiagonal());
  REQUIRE(after.head->rank == 12);
  CHECK((after.head->svd.gain.head(12) - before.head->svd.gain.head(12)).cwiseAbs().maxCoeff() <
        1e-12 * before.head->svd.gain[0]);
  CHECK(apart(after.eigenvalues(), before.eigenvalues()) < 1e-11);
  CHECK((after.cross - before.cross).cwiseAbs().maxCoeff() < 1e-11 * before.cross.cwiseAbs().maxCoeff());
  CHECK(after.delay.offset == Approx(before.delay.offset).margin(1e-10));
}

TEST_CASE("singular values in pairs are found, whatever the planes: divide and conquer misses some") {
  double worst = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    WaveSpec spec = delayed(seed % 2 == 0 ? fixture_1() : fixture_2(), -0.01 * static_cast<double>(seed));
    spec.length = 8;
    spec.seed = seed;
    const WaveMatrices made = wave_matrices(spec);
    const QkSvd svd = qk_svd(made.query, made.key);
    const Matrix form = made.query * made.key.transpose();
    const Matrix found = svd.query * svd.gain.head(svd.rank()).asDiagonal() * svd.key.transpose();
    worst = std::max(worst, (found - form).norm() / form.norm());
  }
  CHECK(worst < 256 * eps);
}
