#include "../../core/numbers/random.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "../../core/errors/error.h"
#include "../catch.h"

using headwave::Index;
using headwave::Random;

TEST_CASE("random numbers are those of an independent implementation") {
  // From tests/golden/make_random.py.
  const std::uint64_t seed = 2023;
  Random bits(seed);
  for (const std::uint64_t expected :
       {10275864763085319805U, 11410497684590049342U, 7506219264412806023U, 10641439603973285656U})
    CHECK(bits.bits() == expected);
  Random uniform(seed);
  for (const double expected : {0.5570557450152173, 0.6185643189386675, 0.4069129616814454, 0.576873596850056})
    CHECK(uniform.uniform() == expected);
  Random below(seed);
  for (const Index expected : {5, 2, 3, 6, 0, 7, 3, 7, 7, 1, 8, 4}) CHECK(below.below(10) == expected);
  std::vector<Index> items(8);
  std::iota(items.begin(), items.end(), Index{0});
  Random(seed).shuffle(items);
  CHECK(items == std::vector<Index>{2, 4, 6, 0, 1, 7, 3, 5});
  Random stream = Random(seed).stream(3);
  CHECK(stream.bits() == 18358733372693412293U);
  CHECK(stream.bits() == 7864337349618604207U);
}

TEST_CASE("normal numbers agree with a mathematics library to its rounding") {
  // From tests/golden/make_random.py; its logarithm and its radius may each be an ulp off ours.
  Random normal(2023);
  const double eps = std::numeric_limits<double>::epsilon();
  for (const double expected : {1.0020435475687028, -1.8383524305721008, -1.6599852833505446, -1.754536020285009,
                                -1.1158882274445912, 0.01259319287040503}) {
    const double error = std::abs(normal.normal() - expected);
    CHECK(error <= 8 * eps * std::abs(expected));
  }
}

TEST_CASE("a stream depends on the seed and its number alone") {
  Random used(7);
  for (int i = 0; i < 100; ++i) used.bits();
  CHECK(used.stream(5).bits() == Random(7).stream(5).bits());

  // Children of one seed, and of neighbouring seeds, are all different.
  std::vector<std::uint64_t> first;
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    for (std::uint64_t number = 0; number < 20; ++number) first.push_back(Random(seed).stream(number).bits());
  for (std::uint64_t seed = 0; seed < 20; ++seed) first.push_back(Random(seed).bits());
  std::sort(first.begin(), first.end());
  CHECK(std::adjacent_find(first.begin(), first.end()) == first.end());
}

TEST_CASE("uniform, below and normal numbers have the moments they should") {
  const int n = 200000;
  Random random(11);
  double sum = 0.0, least = 1.0, most = 0.0;
  for (int i = 0; i < n; ++i) {
    const double value = random.uniform();
    sum += value;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  CHECK(least >= 0.0);
  CHECK(most < 1.0);
  CHECK(std::abs(sum / n - 0.5) < 5.0 / std::sqrt(12.0 * n));  // five standard deviations

  std::array<int, 7> counts{};
  for (int i = 0; i < n; ++i) ++counts[static_cast<std::size_t>(random.below(7))];
  for (const int count : counts) CHECK(std::abs(count - n / 7.0) < 5.0 * std::sqrt(n * 6.0 / 49.0));

  double mean = 0.0, square = 0.0, fourth = 0.0;
  for (int i = 0; i < n; ++i) {
    const double value = random.normal();
    mean += value / n;
    square += value * value / n;
    fourth += value * value * value * value / n;
  }
  CHECK(std::abs(mean) < 5.0 / std::sqrt(n));
  CHECK(std::abs(square - 1.0) < 5.0 * std::sqrt(2.0 / n));
  CHECK(std::abs(fourth - 3.0) < 5.0 * std::sqrt(96.0 / n));
}

TEST_CASE("below has no bias where the range is not small against 2^64") {
  // With n = 3 * 2^61 a plain remainder would make the lowest third twice as likely as the rest.
  Random random(3);
  const Index n = Index{3} << 61;
  int low = 0;
  for (int i = 0; i < 30000; ++i) low += random.below(n) < n / 3 ? 1 : 0;
  CHECK(std::abs(low - 10000) < 5.0 * std::sqrt(30000.0 * 2.0 / 9.0));
  CHECK(random.below(1) == 0);
  CHECK_THROWS_WITH(random.below(0), ContainsSubstring("Random::below: expected n >= 1, found 0"));
  CHECK_THROWS_WITH(random.below(-4), ContainsSubstring("found -4"));
}

TEST_CASE("shuffle keeps the items and favours no order") {
  Random random(4);
  std::array<int, 6> orders{};
  for (int i = 0; i < 60000; ++i) {
    std::vector<Index> items{0, 1, 2};
    random.shuffle(items);
    REQUIRE(items[0] + items[1] + items[2] == 3);
    ++orders[static_cast<std::size_t>(items[0] * 2 + (items[1] > items[2] ? 1 : 0))];
  }
  for (const int count : orders) CHECK(std::abs(count - 10000) < 5.0 * std::sqrt(60000.0 * 5.0 / 36.0));
  std::vector<Index> none;
  random.shuffle(none);
  CHECK(none.empty());
}
