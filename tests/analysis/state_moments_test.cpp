#include "../../analysis/positions/state_moments.h"

#include <limits>

#include "../../core/numbers/random.h"
#include "../catch.h"
#include "test_documents.h"

using namespace headwave;

namespace {

Matrix32 random_states(Index rows, Index columns, std::uint64_t seed) {
  Random random(seed);
  Matrix32 states(rows, columns);
  for (Index i = 0; i < states.size(); ++i) states.data()[i] = static_cast<float>(random.normal());
  return states;
}

}  // namespace

TEST_CASE("the moments of two tokens are the ones on the page") {
  Matrix32 states(2, 2);
  states << 1, 2, 3, -4;
  const StateMoments found(states);
  CHECK(found.position_sum == states.cast<double>());
  Matrix second(2, 2);
  second << 10, -10, -10, 20;
  CHECK(found.second_sum == second);
  CHECK(found.document_means() == Eigen::RowVector2d(2, -1));
}

TEST_CASE("moments of several documents are those of their tokens one by one, at any size") {
  constexpr double eps = std::numeric_limits<double>::epsilon();
  for (const Index length : {1, 2, 3, 17}) {
    for (const Index width : {1, 5}) {
      CAPTURE(length, width);
      StateMoments moments;
      Matrix position_sum = Matrix::Zero(length, width);
      Matrix second = Matrix::Zero(width, width);
      for (Index c = 0; c < 4; ++c) {
        const Matrix32 states = random_states(length, width, static_cast<std::uint64_t>(c));
        add_to(moments, StateMoments(states));
        const Matrix wide = states.cast<double>();
        for (Index t = 0; t < length; ++t) {
          position_sum.row(t) += wide.row(t);
          second += wide.row(t).transpose() * wide.row(t);
        }
        CHECK((moments.document_means().row(c) - wide.colwise().sum() / static_cast<double>(length)).norm() <=
              16 * eps * wide.norm());
      }
      CHECK(moments.documents == 4);
      CHECK(moments.length() == length);
      CHECK(moments.d_model() == width);
      CHECK(moments.tokens() == 4 * length);
      CHECK(moments.document_means().rows() == 4);
      CHECK(moments.position_sum == position_sum);
      CHECK((moments.second_sum - second).norm() <= 64 * eps * second.norm());
      CHECK(moments.second_sum == moments.second_sum.transpose());
    }
  }
}

TEST_CASE("second moments are summed in double: float32 would lose these digits") {
  Matrix32 states(2, 1);
  states << 4097.0F, 1.0F;  // 4097^2 = 16785409 needs 25 bits
  CHECK(StateMoments(states).second_sum(0, 0) == 16785410.0);
}

TEST_CASE("moments refuse what is empty or not finite") {
  CHECK_THROWS_AS(StateMoments(Matrix32(0, 4)), ShapeError);
  CHECK_THROWS_AS(StateMoments(Matrix32(4, 0)), ShapeError);
  Matrix32 broken = random_states(3, 2, 1);
  broken(1, 1) = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_AS(StateMoments(broken), NumericError);
}

TEST_CASE("layers that are looked at together have one shape, as many documents and a number each") {
  const StateMoments empty = no_moments(3, 2), one(random_states(3, 2, 1));
  CHECK_NOTHROW(check_layers({one, one}, {0, 1}, "test"));
  CHECK_THROWS_AS(check_layers({}, {}, "test"), ShapeError);
  CHECK_THROWS_AS(check_layers({one}, {0, 1}, "test"), ShapeError);
  CHECK_THROWS_AS(check_layers({one, empty}, {0, 1}, "test"), ShapeError);
  CHECK_THROWS_AS(check_layers({empty, no_moments(4, 2)}, {0, 1}, "test"), ShapeError);
  CHECK_THROWS_WITH(check_layers({empty, no_moments(3, 3)}, {0, 1}, "test"), ContainsSubstring("test: a layer has"));
}
