#include <limits>

#include "../../core/algebra/decompositions.h"
#include "../../core/numbers/random.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("eigenvectors of a symmetric matrix put it together again, the smallest eigenvalue first") {
  Random random(5);
  for (const Index n : {1, 2, 9, 64}) {
    const Matrix frame = random_frame(n, n, random);
    const Vector values = Vector::LinSpaced(n, -1, 3);
    const Eigen::MatrixXd a = frame * values.asDiagonal() * frame.transpose();
    const Eigen::MatrixXd vectors = symmetric_eigenvectors(a);
    const Vector found = (vectors.transpose() * a * vectors).diagonal();
    CAPTURE(n);
    const double margin = 32 * std::numeric_limits<double>::epsilon() * static_cast<double>(n) * a.norm();
    CHECK((found - values).norm() <= margin);
    CHECK((vectors * found.asDiagonal() * vectors.transpose() - a).norm() <= margin);
    CHECK((vectors.transpose() * vectors - Matrix::Identity(n, n)).norm() <= margin);
  }
}

TEST_CASE("of a symmetric matrix the lower triangle is read") {
  Eigen::MatrixXd a(2, 2);
  a << 2, 100, 1, 2;
  const Eigen::MatrixXd vectors = symmetric_eigenvectors(a);  // of 2 and 1 beside it
  CHECK(vectors(0, 0) == Approx(-vectors(1, 0)));
  CHECK(vectors(0, 1) == Approx(vectors(1, 1)));
}
