#include "../../reports/drawing/data_table.h"

#include <cmath>
#include <limits>

#include "../catch.h"

using namespace headwave;

TEST_CASE("data table: for gnuplot quotes and backslashes are escapes, and nothing is invisible") {
  CHECK(data_block("$a", {{Index{0}, std::string("a\"b\\c\t\x1b")}, {1.5, "_end_"}}) ==
        "$a << _end__\n0\ta\\042b\\\\c\\\\t\\\\u001b\n1.5\t_end_\n_end__\n");
}

TEST_CASE("data table: comma-separated values are one line a row, quoted where they must be") {
  DataTable table{{"n", {}}, {"te,xt", {}}};
  const auto add = [&](const Cell& n, const std::string& text) {
    table[0].cells.push_back(n);
    table[1].cells.emplace_back(text);
  };
  for (const char* text : {"a", "a,b", "say \"a\"", " a", "a ", "", "a\r\nb", "\xff", "=1+1", "-a,b", "日本"})
    add(Index{-1}, text);
  add(std::nan(""), "NaN");
  add(1.0 / 3, "last");
  CHECK(comma_separated(table) ==
        "n,\"te,xt\"\n-1,a\n-1,\"a,b\"\n-1,\"say \"\"a\"\"\"\n-1,\" a\"\n-1,\"a \"\n-1,\"\"\n-1,a\\r\\nb\n"
        "-1,\xef\xbf\xbd\n-1,'=1+1\n-1,\"'-a,b\"\n-1,日本\n,NaN\n0.3333333333333333,last\n");
  CHECK(comma_separated({{"n", {std::nan("")}}}) == "n\n\"\"\n");
}
