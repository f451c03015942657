#include <algorithm>
#include <cmath>
#include <numbers>

#include "../catch.h"
#include "planted_waves.h"
#include "test_pass.h"

using namespace headwave;

TEST_CASE("the amplitude of states is the maximum expected among as many columns as heads read, worked by hand") {
  constexpr Index length = 16;
  Matrix states(length, 3);  // waves of 1, 2 and 4 at three cycles
  for (Index n = 0; n < length; ++n)
    states.row(n) = std::cos(2 * std::numbers::pi * 3 * static_cast<double>(n) / length) * Eigen::RowVector3d(1, 2, 4);
  for (const auto& [read, expected] : {std::pair<Index, double>{3, 4}, {2, (2 + 4 + 4) / 3.0}, {1, 7.0 / 3}}) {
    const Matrix identity = Matrix::Identity(3, read);
    const WaveStack head({identity}, {identity});
    const std::vector<Field> fields =
        TestPass{.grid = head.grid(), .stack = head.stack}.fields("wave_spectra", {shown_states(states.cast<float>())});
    CAPTURE(read);
    CHECK(field_of(fields, "wave_spectra/state").doubles()[3] == Approx(expected * length / 2));
    CHECK(field_of(fields, "wave_spectra/query").doubles()[3] ==
          Approx(std::min<double>(4, 1 << (read - 1)) * length / 2));
    CHECK(field_of(fields, "wave_spectra/query").doubles()[4] == Approx(0).margin(1e-5));
    CHECK(field_of(fields, "wave_spectra/query_shuffled").doubles()[3] < expected * length / 2);
  }
}
