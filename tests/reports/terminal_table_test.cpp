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

TEST_CASE("terminal table: colour changes nothing but colour") {
  const std::vector<TableColumn> columns{{"found", Align::left, {"agrees", "differs"}},
                                         {"at", Align::right, {"", "-2"}}};
  CHECK(terminal_table(columns, true) ==
        "\x1b[1mfound\x1b[0m    \x1b[1mat\x1b[0m\n"
        "-------  --\n"
        "agrees\n"
        "\x1b[31mdiffers\x1b[0m  -2\n");
}

TEST_CASE("terminal table: columns of different lengths are refused") {
  CHECK_THROWS_AS(terminal_table({{"a", Align::left, {"1"}}, {"b", Align::left, {}}}), ShapeError);
}
