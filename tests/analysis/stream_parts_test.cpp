#include "../../analysis/why/stream_parts.h"

#include <cmath>

#include "../catch.h"

using namespace headwave;

TEST_CASE("parts that a norm is held for add up to what it makes of the sum") {
  Matrix32 parts(6, 4);  // three parts of two rows
  parts << 1, 2, 3, 4, -1, 0, 2, 1, 0, 1, 0, -3, 2, 2, -1, 0, 5, -2, 1, 1, 0, 3, 0, 2;
  const Vector32 scale = (Vector32(4) << 1, 2, 0.5, -1).finished(), shift = (Vector32(4) << 0, 1, 0, 3).finished();
  for (const NormKind kind : {NormKind::layer, NormKind::rms}) {
    const Norm norm{scale, kind == NormKind::layer ? VectorView32(shift) : VectorView32(), 1e-5F, kind};
    Matrix32 held = parts;
    hold_norm(norm, 2, 1, held);
    Matrix32 sum = parts.topRows(2) + parts.middleRows(2, 2) + parts.bottomRows(2);
    for (Index i = 0; i < 2; ++i) {
      const double mean = kind == NormKind::layer ? sum.row(i).cast<double>().mean() : 0;
      const double variance = (sum.row(i).cast<double>().array() - mean).square().mean() + 1e-5;
      for (Index j = 0; j < 4; ++j) {
        const double expected = (sum(i, j) - mean) / std::sqrt(variance) * static_cast<double>(scale[j]) +
                                (kind == NormKind::layer ? static_cast<double>(shift[j]) : 0);
        CHECK(held(i, j) + held(2 + i, j) + held(4 + i, j) == Approx(expected).margin(1e-6));
      }
    }
  }
}
