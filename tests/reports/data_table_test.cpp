#include "../../reports/drawing/data_table.h"

#include <cmath>
#include <limits>

#include "../catch.h"

using namespace headwave;

TEST_CASE("data table: tab-separated values read back exactly") {
  DataTable table({"head", "token", "weight"});
  table.add_row({Index{3}, std::string("a\tb\n\\"), 0.1});
  table.add_row({Index{-4}, std::string("\"日本\""), std::nan("")});
  table.add_row({Index{0}, std::string(), -std::numeric_limits<double>::infinity()});
  CHECK(tab_separated(table) ==
        "head\ttoken\tweight\n"
        "3\ta\\tb\\n\\\\\t0.1\n"
        "-4\t\"日本\"\tNaN\n"
        "0\t\t-Inf\n");
  const double third = 1.0 / 3.0;
  DataTable one({"x"});
  one.add_row({third});
  CHECK(std::stod(tab_separated(one).substr(2)) == third);
}

TEST_CASE("data table: for gnuplot quotes and backslashes are escapes, and nothing is invisible") {
  DataTable table({"position", "label"});
  table.add_row({Index{0}, std::string("a\"b\\c\t\x1b")});
  CHECK(gnuplot_data(table) == "0\ta\\042b\\\\c\\\\t\\\\x1b\n");
}

TEST_CASE("data table: rows must fit the columns") {
  DataTable table({"a", "b"});
  CHECK_THROWS_AS(table.add_row({1.0}), ShapeError);
  DataTable other({"a"});
  CHECK_THROWS_AS(table.append(other), ShapeError);
  table.add_row({1.0, 2.0});
  DataTable same({"a", "b"});
  same.append(table);
  CHECK(same.rows().size() == 1);
}
