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

TEST_CASE("data table: no text is a formula for a spreadsheet, or an order for a terminal") {
  DataTable table({"n", "text"});
  for (const char* text : {"=1+1", "+1", "-", "@SUM(A1)", "'a", "a=b", "\x1b[2J\x7f", "\xc2\x9b\xc2\xa0"})
    table.add_row({Index{-1}, std::string(text)});
  CHECK(tab_separated(table) ==
        "n\ttext\n-1\t'=1+1\n-1\t'+1\n-1\t'-\n-1\t'@SUM(A1)\n-1\t''a\n-1\ta=b\n-1\t\\u001b[2J\\u007f\n"
        "-1\t\\u009b\xc2\xa0\n");
}

TEST_CASE("data table: for gnuplot quotes and backslashes are escapes, and nothing is invisible") {
  DataTable table({"position", "label"});
  table.add_row({Index{0}, std::string("a\"b\\c\t\x1b")});
  CHECK(gnuplot_data(table) == "0\ta\\042b\\\\c\\\\t\\\\u001b\n");
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
