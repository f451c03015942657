#include "../../core/numbers/lagged_sums.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../../core/algebra/decompositions.h"
#include "../../core/numbers/random.h"
#include "../catch.h"
#include "../test_numbers.h"

using namespace headwave;

TEST_CASE("sums over lags are those of direct loops, whole and column by column, at any length") {
  for (const Index length : {1, 2, 3, 7, 16, 31})
    for (const Index columns : {1, 2, 5}) {
      CAPTURE(length, columns);
      const Matrix a = random_matrix(length, columns, 1), b = random_matrix(length, columns, 2);
      const MatrixC fa = padded_spectrum(a), fb = padded_spectrum(b);
      const Vector whole = lagged_sums(fa, fb);
      const Matrix by_column = lagged_sums_by_column(fa, fb);
      REQUIRE(whole.size() == 2 * length - 1);
      REQUIRE(by_column.rows() == columns);
      const double margin = 64 * std::numeric_limits<double>::epsilon() * a.norm() * b.norm();
      for (Index t = 1 - length; t < length; ++t) {
        double sum = 0;
        for (Index c = 0; c < columns; ++c) {
          double column = 0;
          for (Index i = std::max<Index>(0, -t); i < std::min(length, length - t); ++i) column += a(i, c) * b(i + t, c);
          CHECK(by_column(c, t + length - 1) == Approx(column).margin(margin));
          sum += column;
        }
        CHECK(whole[t + length - 1] == Approx(sum).margin(margin));
      }
    }
}

TEST_CASE("every other row of a padded spectrum is the transform of the sequence itself") {
  for (const Index length : {1, 2, 5, 8}) {
    const Matrix a = random_matrix(length, 3, 4);
    const MatrixC rows = unpadded_rows(padded_spectrum(a)), expected = real_dft(a);
    REQUIRE(rows.rows() == expected.rows());
    CHECK((rows - expected).cwiseAbs().maxCoeff() < 64 * std::numeric_limits<double>::epsilon() * a.norm());
  }
}

TEST_CASE("sums over lags refuse numbers that are none") {
  const Matrix broken = Matrix::Constant(3, 2, std::nan(""));
  CHECK_THROWS_WITH(padded_spectrum(broken), ContainsSubstring("a Fourier transform: an entry is not finite"));
}

TEST_CASE("random frames are orthonormal, differ by seed, and cannot have more columns than rows") {
  Random one(1), other(2), again(1);
  const Matrix frame = random_frame(9, 4, one);
  CHECK((frame.transpose() * frame - Matrix::Identity(4, 4)).norm() < 1e-14 * 16);
  CHECK((frame - random_frame(9, 4, other)).norm() > 0.1);
  CHECK(frame == random_frame(9, 4, again));
  CHECK_THROWS_WITH(random_frame(3, 4, one),
                    ContainsSubstring("random_frame: 4 orthonormal columns do not fit into 3 dimensions"));
}
