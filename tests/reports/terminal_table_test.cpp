#include "../../reports/drawing/terminal_table.h"

#include "../../core/errors/error.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("terminal table: by hand") {
  CHECK(terminal_table({{"head", Align::left, {"L0H0", "L10H11"}}, {"offset", Align::right, {"-1", "+12"}}}) ==
        "head    offset\n"
        "------  ------\n"
        "L0H0        -1\n"
        "L10H11     +12\n");
  CHECK(terminal_table({}).empty());
  CHECK(terminal_table({{"x", Align::left, {}}}) == "x\n-\n");
}

TEST_CASE("terminal table: wide characters stay in line, and no cell can command a terminal") {
  CHECK(terminal_table({{"token", Align::left, {"日本", "ab", "\x1b[2J\n"}}, {"n", Align::right, {"1", "2", "3"}}}) ==
        "token        n\n"
        "-----------  -\n"
        "日本         1\n"
        "ab           2\n"
        "\\u001b[2J\\n  3\n");
}

TEST_CASE("terminal table: columns of different lengths are refused") {
  CHECK_THROWS_WITH(terminal_table({{"a", Align::left, {"1"}}, {"b", Align::left, {}}}),
                    ContainsSubstring("expected 1 cells in column 'b', found 0"));
}
