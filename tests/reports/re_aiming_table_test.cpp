#include "../../reports/tables/re_aiming_table.h"

#include <cmath>
#include <limits>
#include <tuple>

#include "../../core/errors/error.h"
#include "../catch.h"
#include "sample_axes.h"

using namespace headwave;

namespace {

Result re_aimed() {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const Axis heads{"re_aimed_head", "1", "re-aimed head", std::vector<std::string>{"L0H1", "L1H0"}};
  const Axis shifts{"shift", "token", "shift", std::vector<std::int64_t>{-1, 0, 1}};
  Result result;
  result.fields.push_back(make_field("re_aiming/offset", {heads, shifts}, "token", "offset", {3, 2, 1, none, 0, none}));
  result.fields.push_back(make_field("re_aiming/slope", {heads}, "1", "slope", {-1, none}));
  result.fields.push_back(make_field("re_aiming/follows", {heads}, "1", "share that follows", {0.996, none}));
  return result;
}

}  // namespace

TEST_CASE("re-aiming: a line for every head says where attention lands for each shift, and how much of it follows") {
  const auto columns = re_aiming_columns(re_aimed());
  std::vector<std::string> headers;
  for (const TableColumn& column : columns) headers.push_back(column.header);
  CHECK(headers == std::vector<std::string>{"head", "u=-1", "u=0", "u=1", "slope", "follows"});
  for (const auto& [column, first, second] :
       {std::tuple{1, "+3", "-"}, {2, "+2", "0"}, {3, "+1", "-"}, {4, "-1.00", "-"}, {5, "100 %", "-"}})
    CHECK(columns[column].cells == std::vector<std::string>{first, second});
  CHECK(re_aiming_columns({}).empty());
}

TEST_CASE("re-aiming: one sentence says what was re-aimed and how often attention moved as far") {
  CHECK(
      re_aiming_sentence(re_aimed()) ==
      "The keys of L0H1 and L1H0 were re-aimed by u = -1 to +1 tokens: the offset at which they look moved by exactly "
      "-u in 2 of 2 trials.");
  Result nowhere = re_aimed();
  nowhere.fields[2].values = std::vector<double>{std::nan(""), std::nan("")};
  CHECK_THAT(re_aiming_sentence(nowhere), ContainsSubstring("none of these heads had an offset that could move"));
  CHECK(re_aiming_sentence({}).empty());
}

TEST_CASE("re-aiming: a table of other heads than there are offsets is refused") {
  Result result = re_aimed();
  result.fields[1] =
      make_field("re_aiming/slope", {{"re_aimed_head", "1", "re-aimed head", std::vector<std::string>{"L0H1"}}}, "1",
                 "slope", {-1});
  CHECK_THROWS_AS(re_aiming_columns(result), ShapeError);
}
