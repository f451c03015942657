#include "../../reports/drawing/data_table.h"

#include <cmath>
#include <limits>

#include "../catch.h"

using namespace headwave;

TEST_CASE("data table: for gnuplot quotes and backslashes are escapes, and nothing is invisible") {
  CHECK(data_block("$a", {{Index{0}, std::string("a\"b\\c\t\x1b")}, {1.5, "_end_"}}) ==
        "$a << _end__\n0\ta\\042b\\\\c\\\\t\\\\u001b\n1.5\t_end_\n_end__\n");
}

TEST_CASE("data table: rows must fit the columns") {
  DataTable table({"a", "b"});
  CHECK_THROWS_WITH(table.add_row({1.0}), ContainsSubstring("expected 2 cells in a row, found 1"));
}

TEST_CASE("data table: comma-separated values are one line a row, quoted where they must be") {
  DataTable table({"n", "te,xt"});
  for (const char* text : {"a", "a,b", "say \"a\"", " a", "a ", "", "a\r\nb", "\xff", "=1+1", "-a,b", "日本"})
    table.add_row({Index{-1}, std::string(text)});
  table.add_row({std::nan(""), std::string("NaN")});
  table.add_row({1.0 / 3, std::string("last")});
  CHECK(comma_separated(table) ==
        "n,\"te,xt\"\n-1,a\n-1,\"a,b\"\n-1,\"say \"\"a\"\"\"\n-1,\" a\"\n-1,\"a \"\n-1,\"\"\n-1,a\\r\\nb\n"
        "-1,\xef\xbf\xbd\n-1,'=1+1\n-1,\"'-a,b\"\n-1,日本\n,NaN\n0.3333333333333333,last\n");
  DataTable single({"n"});
  single.add_row({std::nan("")});
  CHECK(comma_separated(single) == "n\n\"\"\n");
}
