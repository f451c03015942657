#include "../../core/numbers/thin_qr.h"

#include <limits>

#include "../../core/numbers/random.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("an orthonormal factor times an upper triangle is the matrix again") {
  Random random(3);
  for (const auto& [rows, columns] : {std::pair<Index, Index>{1, 1}, {7, 3}, {60, 60}, {130, 70}, {5, 0}}) {
    Matrix a(rows, columns);
    for (double& entry : a.reshaped()) entry = random.normal();
    const ThinQr qr = thin_qr(a);
    CAPTURE(rows, columns);
    REQUIRE(qr.q.rows() == rows);
    REQUIRE(qr.r.rows() == columns);
    const double margin = 16 * std::numeric_limits<double>::epsilon() * static_cast<double>(rows);
    CHECK((qr.q * qr.r - a).norm() <= margin * a.norm());
    CHECK((qr.q.transpose() * qr.q - Matrix::Identity(columns, columns)).norm() <= margin);
    for (Index i = 0; i < columns; ++i) CHECK(qr.r.row(i).head(i).isZero(0));
  }
}

TEST_CASE("more columns than rows have no orthonormal factor") {
  CHECK_THROWS_AS(thin_qr(Matrix::Ones(2, 3)), ShapeError);
}
