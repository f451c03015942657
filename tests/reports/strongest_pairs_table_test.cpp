#include "../../reports/tables/strongest_pairs_table.h"

#include <limits>

#include "../../core/errors/error.h"
#include "../../core/fields/fields.h"
#include "../catch.h"

using namespace headwave;

namespace {

/// Two heads with two pairs each; the second head has one pair.
Result two_heads() {
  const double none = std::numeric_limits<double>::quiet_NaN();
  std::vector<Axis> axes{layer_axis(1), head_axis(2), counting_axis("pair", "1", "", 0, 1)};
  Fields fields("strongest_pairs");
  fields.add("weight", axes, "1", "", std::vector<double>{0.9, 0.8, 0.7, none});
  fields.add("document", axes, "1", "", std::vector<std::int64_t>{3, 1, 0, -1});
  fields.add("query", axes, "token", "", std::vector<std::int64_t>{5, 9, 4, -1});
  fields.add("key", axes, "token", "", std::vector<std::int64_t>{4, 2, 4, -1});
  axes.push_back(counting_axis("around", "token", "", -1, 1));
  fields.add("query_token", axes, "1", "",
             std::vector<std::string>{"on", "the", "mat", "h", "i", "", "a", "\x1b", "c", "", "", ""});
  fields.add("key_token", axes, "1", "",
             std::vector<std::string>{"sat", "on", "the", "a", "b", "c", "a", "\x1b", "c", "", "", ""});
  Result result;
  result.fields = fields.taken();
  return result;
}

}  // namespace

TEST_CASE("strongest pairs: query and key are marked in the text around both") {
  const std::string table = terminal_table(strongest_pair_columns(two_heads(), {0, 0}));
  CHECK(table ==
        "weight  offset  document  text: [query], (key)\n"
        "------  ------  --------  --------------------\n"
        " 0.900      -1         3  sat (on) [the] mat\n"
        " 0.800      -7         1  a (b) c ... h [i]\n");
}

TEST_CASE("strongest pairs: a token that is both, a head with fewer pairs, and hostile text") {
  const std::vector<TableColumn> columns = strongest_pair_columns(two_heads(), {0, 1});
  REQUIRE(columns[0].cells.size() == 1);
  CHECK(columns[1].cells[0] == "0");
  CHECK(columns[3].cells[0] == "a [(\\u001b)] c");
}

TEST_CASE("strongest pairs: queries and keys of different sequences stand apart, without an offset") {
  Result result = two_heads();
  result.provenance["attention"] = std::string("cross");
  const std::vector<TableColumn> columns = strongest_pair_columns(result, {0, 0});
  REQUIRE(columns.size() == 3);
  CHECK(columns[2].cells[0] == "on [the] mat  sat (on) the");
}

TEST_CASE("strongest pairs: a head or arrays that are not there are named") {
  CHECK_THROWS_WITH(strongest_pair_columns(two_heads(), {0, 2}), ContainsSubstring("L0H2"));
  CHECK_THROWS_AS(strongest_pair_columns(Result{}, {0, 0}), ShapeError);
  Result result = two_heads();
  result.fields.pop_back();
  CHECK_THROWS_WITH(strongest_pair_columns(result, {0, 0}), ContainsSubstring("strongest_pairs/key_token"));
}
