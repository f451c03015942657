#include "../../data/files/json_file.h"

#include <fstream>

#include <nlohmann/json.hpp>

#include "../../core/errors/error.h"
#include "../catch.h"

using namespace headwave;
using nlohmann::json;

TEST_CASE("json: values come out as they were written") {
  const json value = json_of_text(R"({"a": [1, -2, 2.5, true, null, "x"], "b": {"c": {}}, "d": []})", "t");
  CHECK(value == json::parse(R"({"d": [], "b": {"c": {}}, "a": [1, -2, 2.5, true, null, "x"]})"));
  CHECK(json_of_text(" 17 ", "t") == 17);
  CHECK(json_of_text("\"\\u00fc\"", "t") == "\u00fc");
  CHECK(json_of_text("[[1, [2]], [[3], 4]]", "t").dump() == "[[1,[2]],[[3],4]]");
}

TEST_CASE("json: a byte-order mark is skipped") {
  CHECK(json_of_text("\xEF\xBB\xBF{\"a\": 1}", "t").at("a") == 1);
}

TEST_CASE("json: an error tells the byte") {
  CHECK_THROWS_WITH(json_of_text(R"({"a": x})", "some.json"), ContainsSubstring("some.json: not valid JSON at byte 7"));
  CHECK_THROWS_WITH(json_of_text("\xEF\xBB\xBF{\"a\": x}", "t"), ContainsSubstring("at byte 10"));
}

TEST_CASE("json: what is not JSON is refused") {
  for (const std::string text :
       {"", " ", "{", "[1,]", "{\"a\":1,}", "[1] 2", "{\"a\": 1} // why", "/* why */ 1", "NaN", "[Infinity]", "01",
        "1e999", "'a'", "\"\xff\"", "\"\xc0\xaf\"", "\"\\ud800\"", "\"a\nb\"", "{1: 2}", "[1]\\"})
    CHECK_THROWS_AS(json_of_text(text, "t"), FormatError);
}

TEST_CASE("json: a zero byte does not end the text in silence") {
  CHECK_THROWS_AS(json_of_text(std::string("{}\0\0", 4), "t"), FormatError);
}

TEST_CASE("json: a key that occurs twice is named") {
  CHECK_THROWS_WITH(json_of_text(R"({"x": {"heads": 1, "heads": 2}})", "t"), ContainsSubstring("'heads'"));
  CHECK_THROWS_AS(json_of_text(R"({"a": 1, "\u0061": 2})", "t"), FormatError);
  CHECK_NOTHROW(json_of_text(R"([{"a": 1}, {"a": 2}])", "t"));
}

TEST_CASE("json: a message is one line whatever the text holds") {
  try {
    json_of_text("[\"a\n\x1b[2J", "t");
    FAIL("must throw");
  } catch (const FormatError& error) {
    CHECK(std::string(error.what()).find_first_of("\n\x1b") == std::string::npos);
  }
}

TEST_CASE("json: files that are missing, folders or too large") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(json_of_file(folder / "none.json"), IoError);
  CHECK_THROWS_AS(json_of_file(folder.path()), IoError);
  std::ofstream(folder / "a.json") << "[1, 2, 3]";
  CHECK(json_of_file(folder / "a.json").size() == 3);
  CHECK_THROWS_AS(json_of_file(folder / "a.json", 8), FormatError);
}
