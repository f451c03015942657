#include "../../analysis/positions/state_moments.h"

#include <limits>

#include "../../core/numbers/random.h"
#include "../catch.h"

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
  const DocumentMoments found = document_moments(states);
  CHECK(found.states_by_position == states.cast<double>());
  Matrix second(2, 2);
  second << 10, -10, -10, 20;
  CHECK(found.second == second);
  CHECK(found.mean == Eigen::Vector2d(2, -1));
}

TEST_CASE("moments of several documents are those of their tokens one by one, at any size") {
  constexpr double eps = std::numeric_limits<double>::epsilon();
  for (const Index length : {1, 2, 3, 17}) {
    for (const Index width : {1, 5}) {
      CAPTURE(length, width);
      StateMoments moments(length, width);
      Matrix position_sum = Matrix::Zero(length, width);
      Matrix second = Matrix::Zero(width, width);
      for (Index c = 0; c < 4; ++c) {
        const Matrix32 states = random_states(length, width, static_cast<std::uint64_t>(c));
        moments.add(document_moments(states));
        const Matrix wide = states.cast<double>();
        for (Index t = 0; t < length; ++t) {
          position_sum.row(t) += wide.row(t);
          second += wide.row(t).transpose() * wide.row(t);
        }
        CHECK((moments.document_means().row(c) - wide.colwise().sum() / static_cast<double>(length)).norm() <=
              16 * eps * wide.norm());
      }
      CHECK(moments.documents() == 4);
      CHECK(moments.length() == length);
      CHECK(moments.d_model() == width);
      CHECK(moments.tokens() == 4 * length);
      CHECK(moments.document_means().rows() == 4);
      CHECK(moments.position_sum() == position_sum);
      CHECK((moments.second_sum() - second).norm() <= 64 * eps * second.norm());
      CHECK(moments.second_sum() == moments.second_sum().transpose());
    }
  }
}

TEST_CASE("second moments are summed in double: float32 would lose these digits") {
  Matrix32 states(2, 1);
  states << 4097.0F, 1.0F;  // 4097^2 = 16785409 needs 25 bits
  CHECK(document_moments(states).second(0, 0) == 16785410.0);
}

TEST_CASE("moments of no documents are zeros") {
  const StateMoments none(3, 2);
  CHECK(none.documents() == 0);
  CHECK(none.tokens() == 0);
  CHECK(none.position_sum() == Matrix::Zero(3, 2));
  CHECK(none.second_sum() == Matrix::Zero(2, 2));
  CHECK(none.document_means().rows() == 0);
}

TEST_CASE("moments refuse what does not fit or is not finite") {
  CHECK_THROWS_AS(document_moments(Matrix32(0, 4)), ShapeError);
  CHECK_THROWS_AS(document_moments(Matrix32(4, 0)), ShapeError);
  Matrix32 broken = random_states(3, 2, 1);
  broken(1, 1) = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_AS(document_moments(broken), NumericError);
  CHECK_THROWS_AS(StateMoments(0, 2), ShapeError);
  CHECK_THROWS_AS(StateMoments(2, 0), ShapeError);
  StateMoments moments(3, 2);
  CHECK_THROWS_AS(moments.add(document_moments(random_states(4, 2, 1))), ShapeError);
  CHECK_THROWS_AS(moments.add(document_moments(random_states(3, 3, 1))), ShapeError);
  DocumentMoments half = document_moments(random_states(3, 2, 1));
  half.mean.resize(1);
  CHECK_THROWS_AS(moments.add(half), ShapeError);
  half = document_moments(random_states(3, 2, 1));
  half.second.resize(1, 2);
  CHECK_THROWS_AS(moments.add(half), ShapeError);
  CHECK(moments.documents() == 0);
}

TEST_CASE("layers that are looked at together have one shape, as many documents and a number each") {
  const StateMoments empty(3, 2);
  StateMoments one(3, 2);
  one.add(document_moments(random_states(3, 2, 1)));
  CHECK_NOTHROW(check_layers({one, one}, {0, 1}, "test"));
  CHECK_THROWS_AS(check_layers({}, {}, "test"), ShapeError);
  CHECK_THROWS_AS(check_layers({one}, {0, 1}, "test"), ShapeError);
  CHECK_THROWS_AS(check_layers({one, empty}, {0, 1}, "test"), ShapeError);
  CHECK_THROWS_AS(check_layers({empty, StateMoments(4, 2)}, {0, 1}, "test"), ShapeError);
  CHECK_THROWS_WITH(check_layers({empty, StateMoments(3, 3)}, {0, 1}, "test"), ContainsSubstring("test: a layer has"));
}
