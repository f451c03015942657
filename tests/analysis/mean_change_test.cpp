#include "../../analysis/statistics/mean_change.h"

#include <cmath>

#include "../../core/errors/error.h"
#include "../../core/numbers/random.h"
#include "../catch.h"

using namespace headwave;

namespace {

/// Documents of independent normal numbers about a mean.
std::vector<Matrix> drawn_documents(Index documents, Index rows, Index cols, Random random, double mean = 1) {
  std::vector<Matrix> set;
  for (Index d = 0; d < documents; ++d) {
    set.emplace_back(rows, cols);
    for (double& entry : set.back().reshaped()) entry = mean + random.normal();
  }
  return set;
}

bool any_beyond(const MeanChange& change) {
  for (Index r = 0; r < change.first.rows(); ++r)
    for (Index c = 0; c < change.first.cols(); ++c)
      if (change.beyond(r, c)) return true;
  return false;
}

}  // namespace

TEST_CASE("differences of means and their errors by hand") {
  const auto one = [](double a) { return Matrix::Constant(1, 1, a); };
  // Means 2 and 5, variances 1 and 4, of three each: error sqrt(1/3 + 4/3).
  const MeanChange apart = mean_change({one(1), one(2), one(3)}, {one(3), one(5), one(7)}, false);
  CHECK(apart.difference(0, 0) == Approx(3));
  CHECK(apart.error(0, 0) == Approx(std::sqrt(5.0 / 3)));
  // Differences 2, 3 and 4: error 1 / sqrt(3).
  const MeanChange paired = mean_change({one(1), one(2), one(3)}, {one(3), one(5), one(7)}, true);
  CHECK(paired.difference(0, 0) == Approx(3));
  CHECK(paired.error(0, 0) == Approx(1 / std::sqrt(3.0)));
  // Of three documents every fourth draw of signs is as extreme: nothing can be called.
  CHECK_FALSE(paired.beyond(0, 0));
  const MeanChange single = mean_change({one(1)}, {one(9)}, false);
  CHECK(std::isinf(single.factor));
  CHECK_FALSE(single.beyond(0, 0));
}

TEST_CASE("with too few draws nothing is called, however large the change") {
  const auto first = drawn_documents(10, 1, 1, Random(1)), second = drawn_documents(10, 1, 1, Random(2), 100);
  CHECK(std::isinf(mean_change(first, second, false, {.level = 0.05, .draws = 38, .block = 1}).factor));
  CHECK(any_beyond(mean_change(first, second, false, {.level = 0.05, .draws = 39, .block = 1})));
}

TEST_CASE("documents of a block count as one, and blocks are as long as the level lets them") {
  std::vector<Matrix> first, second;
  for (const double a : {1, 3, 4, 6, 8, 8, 9}) first.push_back(Matrix::Constant(1, 1, a));
  for (const double a : {5, 7, 6, 6, 9, 9, 9, 13}) second.push_back(Matrix::Constant(1, 1, a));
  // Blocks of 2, the last of 3, as 2, 5 and 25/3; of the second as 6, 6, 9 and 11.
  const MeanChange change = mean_change(first, second, false, {.block = 2});
  CHECK(change.first_blocks == 3);
  CHECK(change.second_blocks == 4);
  CHECK(change.first(0, 0) == Approx((2 + 5 + 25.0 / 3) / 3));
  CHECK(change.second(0, 0) == Approx(8));
  const double m = (2 + 5 + 25.0 / 3) / 3,
               variance = ((2 - m) * (2 - m) + (5 - m) * (5 - m) + (25.0 / 3 - m) * (25.0 / 3 - m)) / 2;
  CHECK(change.error(0, 0) == Approx(std::sqrt(variance / 3 + 6.0 / 4)));
  CHECK(change.least_level == Approx(1.0 / 35));

  // 2 of (8 over 4) are 0.029, 2 of (10 over 5) 0.008; 2 of 2^6 are 0.031, of 2^7 0.016.
  CHECK(blocks_for(0.05, false) == 4);
  CHECK(blocks_for(0.025, false) == 5);
  CHECK(blocks_for(0.05, true) == 6);
  CHECK(blocks_for(0.025, true) == 7);
  const auto many = drawn_documents(23, 1, 1, Random(1)), more = drawn_documents(50, 1, 1, Random(2));
  const MeanChange usual = mean_change(many, more, false);
  CHECK(usual.block == 5);
  CHECK(usual.first_blocks == 4);
  CHECK(usual.second_blocks == 10);
}

TEST_CASE("of fewer blocks than the level needs nothing is called, however far apart they are") {
  const auto near = drawn_documents(12, 1, 1, Random(1)), far = drawn_documents(12, 1, 1, Random(2), 1000);
  CHECK(any_beyond(mean_change(near, far, false)));
  CHECK(any_beyond(mean_change(near, far, true)));
  for (const bool paired : {false, true}) {
    const MeanChange change = mean_change(near, far, paired, {.block = 4});
    CHECK(change.first_blocks == 3);
    CHECK(change.least_level == Approx(paired ? 0.25 : 0.1));
    CHECK(std::isinf(change.factor));
    CHECK_FALSE(any_beyond(change));
  }
}

TEST_CASE("a change of one entry is found there and nowhere else, whatever the threads") {
  for (const bool paired : {false, true}) {
    const auto first = drawn_documents(20, 6, 5, Random(2));
    auto second = drawn_documents(20, 6, 5, Random(3));
    for (Matrix& document : second) document(4, 2) += 6;
    const MeanChange change = mean_change(first, second, paired);
    for (Index r = 0; r < 6; ++r)
      for (Index c = 0; c < 5; ++c) CHECK(change.beyond(r, c) == (r == 4 && c == 2));
    CHECK(mean_change(first, second, paired, {.threads = 3}).factor == change.factor);
  }
}

TEST_CASE("the same documents have not changed, nor what rounding changes, nor what a document leaves undefined") {
  auto first = drawn_documents(12, 3, 4, Random(5));
  auto second = first;
  CHECK_FALSE(any_beyond(mean_change(first, second, true)));
  for (Matrix& document : second) document.array() += 1e-8;
  CHECK_FALSE(any_beyond(mean_change(first, second, true)));
  for (Matrix& document : second) document(1, 1) += 9;
  second[3](1, 1) = not_defined;
  const MeanChange change = mean_change(first, second, true);
  CHECK(std::isnan(change.error(1, 1)));
  CHECK_FALSE(any_beyond(change));
}

TEST_CASE("a level, draws or blocks out of range are refused") {
  const std::vector<Matrix> two(2, Matrix::Ones(2, 3));
  CHECK_THROWS_WITH(mean_change(two, two, false, {.level = 1.5}),
                    ContainsSubstring("mean_change: expected 0 < level < 1, draws >= 1 and block >= 0, found"));
  CHECK_THROWS_WITH(mean_change(two, two, false, {.draws = 0}),
                    ContainsSubstring("mean_change: expected 0 < level < 1, draws >= 1 and block >= 0, found"));
  CHECK_THROWS_WITH(mean_change(two, two, false, {.block = -1}),
                    ContainsSubstring("mean_change: expected 0 < level < 1, draws >= 1 and block >= 0, found"));
}
