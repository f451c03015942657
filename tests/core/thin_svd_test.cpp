#include <algorithm>
#include <cmath>
#include <limits>

#include "../../core/algebra/decompositions.h"
#include "../../core/numbers/random.h"
#include "../catch.h"
#include "../test_numbers.h"

using namespace headwave;

namespace {

void check(const Eigen::MatrixXd& a, const Vector& values) {
  const ThinSvd svd = thin_svd(a);
  const double margin =
      256 * eps * static_cast<double>(std::max(a.rows(), a.cols())) * (values[0] + std::numeric_limits<double>::min());
  REQUIRE(svd.s.size() == values.size());
  CHECK((svd.s - values).cwiseAbs().maxCoeff() <= margin);
  CHECK((a - svd.u * svd.s.asDiagonal() * svd.v.transpose()).stableNorm() <= margin);
  const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(values.size(), values.size());
  CHECK((svd.u.transpose() * svd.u - one).norm() <= 1e-12);
  CHECK((svd.v.transpose() * svd.v - one).norm() <= 1e-12);
}

}  // namespace

TEST_CASE("singular values that are equal in pairs, many times over, or zero are right", "[long]") {
  // Eigen 3.4's divide and conquer returns wrong values for about one in a hundred of these.
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const Index n = seed % 2 == 0 ? 32 : 40;
    Vector values = Vector::Zero(n);
    const Index pairs = 6 + static_cast<Index>(seed % 5);
    for (Index p = 0; p < pairs; ++p) values.segment(2 * p, 2).setConstant(std::sqrt(static_cast<double>(pairs - p)));
    if (seed % 7 == 0) values.head(2 * pairs).setConstant(1.5);
    const Eigen::MatrixXd u = random_frame(n, n, random), v = random_frame(n, n, random);
    CAPTURE(seed);
    check(u * values.asDiagonal() * v.transpose(), values);
  }
}

TEST_CASE("tall, wide, single and zero matrices have their singular values") {
  Vector three(3);
  three << 3, 2, 1;
  Random random(1);
  const Eigen::MatrixXd tall = random_frame(7, 3, random);
  const Eigen::MatrixXd turned = random_frame(3, 3, random);
  check(tall * three.asDiagonal() * turned.transpose(), three);
  check((tall * three.asDiagonal() * turned.transpose()).transpose(), three);
  check(Eigen::MatrixXd::Constant(1, 1, -4), Vector::Constant(1, 4));
  check(Eigen::MatrixXd::Zero(5, 5), Vector::Zero(5));
  CHECK_THROWS_WITH(thin_svd(Eigen::MatrixXd::Constant(2, 2, std::nan(""))),
                    ContainsSubstring("thin_svd: an entry of the matrix is not finite"));
}

TEST_CASE("integers of rank one, whose other columns cancel to the last bit, converge") {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const Index columns = 1 + static_cast<Index>(random.below(9)), rows = columns + static_cast<Index>(random.below(6));
    Eigen::VectorXd left(rows), right(columns);
    for (double& x : left) x = static_cast<double>(random.below(5)) - 2;
    for (double& x : right) x = static_cast<double>(random.below(5)) - 2;
    const Vector first = Vector::Unit(columns, 0);
    CAPTURE(seed);
    check(left * right.transpose(), left.norm() * right.norm() * first);
    check(Eigen::MatrixXd::Constant(rows, columns, -2), 2 * std::sqrt(static_cast<double>(rows * columns)) * first);
  }
}

TEST_CASE("singular values over 30 powers of ten, of numbers whose squares would overflow or vanish, are right") {
  Random random(2);
  Vector values(90);
  for (Index i = 0; i < values.size(); ++i) values[i] = std::pow(10.0, -static_cast<double>(i) / 3);
  const Eigen::MatrixXd u = random_frame(130, 90, random), v = random_frame(90, 90, random);
  for (const double scale : {1.0, 1e200, 1e-200}) {
    CAPTURE(scale);
    check(u * (scale * values).asDiagonal() * v.transpose(), scale * values);
  }
}
