#include <nlohmann/json.hpp>

#include "../../core/errors/error.h"
#include "../../data/files/json_file.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("json object: what is asked for comes in its type, or a line says what came") {
  const auto json = nlohmann::json::parse(
      R"({"text": "a", "list": [1], "flag": true, "number": 7, "real": 1.5, "null": null, "inner": {"x": 1}})");
  const JsonObject object(json, "t.json: model");
  CHECK(object.text("text") == "a");
  CHECK(object.integer("number") == 7);
  CHECK(object.flag("null", true));
  CHECK(object.object("inner").integer("x") == 1);
  CHECK_THROWS_WITH(object.at("none"), ContainsSubstring("t.json: model") && ContainsSubstring("'none'"));
  for (const char* key : {"none", "null"}) {
    CHECK_THROWS_AS(object.at(key), FormatError);
    CHECK_THROWS_AS(object.object(key), FormatError);
    CHECK_THROWS_AS(object.list(key), FormatError);
    CHECK_THROWS_AS(object.text(key), FormatError);
    CHECK_THROWS_AS(object.integer(key), FormatError);
  }
  CHECK_THROWS_AS(object.object("list"), FormatError);
  CHECK_THROWS_AS(object.list("inner"), FormatError);
  CHECK_THROWS_AS(object.text("number"), FormatError);
  CHECK_THROWS_AS(object.text("number", "a"), FormatError);
  CHECK_THROWS_AS(object.flag("number", true), FormatError);
  CHECK_THROWS_AS(object.optional_flag("text"), FormatError);
  CHECK_THROWS_AS(object.integer("real"), FormatError);
  CHECK_THROWS_AS(object.integer("text", 3), FormatError);
  CHECK_THROWS_AS(JsonObject(json["list"], "t.json"), FormatError);
}

TEST_CASE("json values: a whole number and a text are what they are, and nothing near it") {
  CHECK(integer_of(-3, "t") == -3);
  for (const auto* text : {"1.0", "\"1\"", "18446744073709551615", "null", "[]"})
    CHECK_THROWS_AS(integer_of(nlohmann::json::parse(text), "t"), FormatError);
  CHECK_THROWS_WITH(integer_of(nlohmann::json("1"), "t.json: added_tokens"), ContainsSubstring("t.json: added_tokens"));
  CHECK(text_of(nlohmann::json("a"), "t") == "a");
  CHECK_THROWS_AS(text_of(nlohmann::json(1), "t"), FormatError);
}
