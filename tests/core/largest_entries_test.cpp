#include "../../core/numbers/largest_entries.h"

#include <limits>

#include "../catch.h"

using headwave::Index;
using headwave::largest_entries;
using headwave::Vector;

TEST_CASE("the largest values come in order, the first of equals first") {
  const Vector values{{0.2, 0.3, 0.2, 0.3}};
  CHECK(largest_entries(values, 3) == std::vector<Index>{1, 3, 0});
  CHECK(largest_entries(values, 9) == std::vector<Index>{1, 3, 0, 2});
  CHECK(largest_entries(values, 0).empty());
  CHECK(largest_entries(Vector(), 2).empty());
}

TEST_CASE("what is no number is not among the largest") {
  constexpr double none = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  CHECK(largest_entries(Vector{{none, -1, infinity, none, -infinity}}, 5) == std::vector<Index>{2, 1, 4});
  CHECK(largest_entries(Vector{{none}}, 1).empty());
}
