#include "../../core/fields/head_name.h"

#include <string>

#include "../catch.h"

using namespace headwave;

TEST_CASE("head names: written and read again") {
  CHECK(head_name(7, 8) == "L7H8");
  CHECK(head_name(0, 0) == "L0H0");
  CHECK(parse_head_name("L7H8") == HeadName{7, 8});
  CHECK(parse_head_name("L11H0") == HeadName{11, 0});
  for (const Index layer : {0, 9, 10, 123})
    for (const Index head : {0, 7, 31, 100}) CHECK(parse_head_name(head_name(layer, head)) == HeadName{layer, head});
}

TEST_CASE("head names: as an axis") {
  const Axis axis = head_name_axis("map_head", "head", {{7, 8}, {0, 0}});
  CHECK(axis.name == "map_head");
  CHECK(axis.unit == "1");
  CHECK(axis.long_name == "head");
  CHECK(std::get<std::vector<std::string>>(axis.values) == std::vector<std::string>{"L7H8", "L0H0"});
}

TEST_CASE("head names: what is none is refused with a word on what is") {
  for (const char* text : {"",
                           "L",
                           "H",
                           "L7",
                           "L7H",
                           "LH",
                           "7H8",
                           "l7h8",
                           "L7h8",
                           "L7H8 ",
                           " L7H8",
                           "L7H8x",
                           "L-1H2",
                           "L1H+2",
                           "L07H8",
                           "L7H00",
                           "L7.0H8",
                           "H8L7",
                           "(7,8)",
                           "L99999999999999999999H1",
                           "L1H99999999999999999999"})
    CHECK_THROWS_AS(parse_head_name(text), FormatError);
  CHECK_THROWS_WITH(parse_head_name("L7"),
                    ContainsSubstring("head 'L7': expected a name like L7H8 (layers and heads count from 0)"));
}

TEST_CASE("head names: the message is one short line whatever the name holds") {
  try {
    (void)parse_head_name("L7\nH8\x1b[31m" + std::string(5000, 'x'));
    FAIL("expected a FormatError");
  } catch (const FormatError& error) {
    const std::string message = error.what();
    CHECK(message.find('\n') == std::string::npos);
    CHECK(message.find('\x1b') == std::string::npos);
    CHECK(message.size() < 200);
  }
}
