#include <algorithm>
#include <limits>

#include "../../core/algebra/decompositions.h"
#include "../../core/numbers/random.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("an orthonormal factor times an upper triangle is the matrix again") {
  Random random(3);
  for (const auto& [rows, columns] : {std::pair<Index, Index>{1, 1}, {7, 3}, {60, 60}, {130, 70}, {5, 0}, {3, 7}}) {
    Matrix a(rows, columns);
    for (double& entry : a.reshaped()) entry = random.normal();
    const ThinQr qr = thin_qr(a);
    const Index n = std::min(rows, columns);
    CAPTURE(rows, columns);
    REQUIRE(qr.q.rows() == rows);
    REQUIRE(qr.r.rows() == n);
    const double margin = 16 * std::numeric_limits<double>::epsilon() * static_cast<double>(rows);
    CHECK((qr.q * qr.r - a).norm() <= margin * a.norm());
    CHECK((qr.q.transpose() * qr.q - Matrix::Identity(n, n)).norm() <= margin);
    for (Index i = 0; i < n; ++i) CHECK(qr.r.row(i).head(i).isZero(0));
  }
}
