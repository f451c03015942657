#include "../../reports/tables/field_heat.h"

#include <cmath>

#include "../../core/errors/error.h"
#include "../../core/fields/fields.h"
#include "../../reports/tables/head_table.h"
#include "../catch.h"
#include "sample_result.h"

using namespace headwave;

namespace {

Field heads_field(std::vector<double> values, const std::string& unit = "1") {
  return make_field("g/f", {layer_axis(2), head_axis(3)}, unit, "what it is", std::move(values));
}

}  // namespace

TEST_CASE("sparkline: eight even steps in order, in blocks and in ASCII") {
  std::vector<double> values;
  for (int i = 0; i < 8; ++i) values.push_back(i);
  const SignScale scale = sign_scale(values);
  CHECK(sparkline(values, scale, Signs::blocks) == "▁▂▃▄▅▆▇█");
  CHECK(sparkline(values, scale, Signs::ascii) == ".:-=+*%@");
  CHECK(sparkline({0, 0.8, 0.9, 7, not_defined}, sign_scale({0, 7}), Signs::ascii) == "..:@?");
  CHECK(scale_words(scale, "token", Signs::ascii) == "scale: . 0 to @ 7 token, 8 even steps .:-=+*%@");
  CHECK(scale_words(scale, "1", Signs::blocks) == "scale: ▁ 0 to █ 7, 8 even steps ▁▂▃▄▅▆▇█");
}

TEST_CASE("sparkline: what is constant or undefined is said to be so") {
  CHECK(scale_words(sign_scale({2, 2}), "nat", Signs::ascii) == "constant: every value is 2 nat");
  CHECK(scale_words(sign_scale({2, not_defined}), "1", Signs::ascii) ==
        "constant: every defined value is 2, ? undefined");
  CHECK(scale_words(sign_scale({not_defined}), "1", Signs::ascii) == "no value is defined");
  CHECK(scale_words(sign_scale({1, 2, not_defined}), "1", Signs::ascii) ==
        "scale: . 1 to @ 2, 8 even steps .:-=+*%@, ? undefined");
  const std::vector<double> means = in_groups({1, 3, not_defined, not_defined, 5}, 2);
  CHECK((means.size() == 3 && means[0] == 2 && std::isnan(means[1]) && means[2] == 5));
}

TEST_CASE("heat: layers by heads with a scale and its unit, the same in ASCII") {
  Field field = heads_field({0, 1, 2, 3, not_defined, 8}, "token");
  field.attributes["undefined"] = std::string("no offset");
  CHECK(field_heat(field, "", Signs::blocks) ==
        "g/f: what it is\n"
        "layer  head 0 .. 2\n"
        "       0 1 2\n"
        "    0  ▁ ▂ ▃\n"
        "    1  ▄ ? █\n"
        "scale: ▁ 0 to █ 8 token, 8 even steps ▁▂▃▄▅▆▇█, ? undefined: no offset\n");
  CHECK(field_heat(field, "", Signs::ascii) ==
        "g/f: what it is\n"
        "layer  head 0 .. 2\n"
        "       0 1 2\n"
        "    0  . : -\n"
        "    1  = ? @\n"
        "scale: . 0 to @ 8 token, 8 even steps .:-=+*%@, ? undefined: no offset\n");
}

TEST_CASE("heat: a constant field has no map, flags are digits, and one axis is a line") {
  CHECK(field_heat(heads_field({4, 4, 4, 4, 4, 4}), "", Signs::ascii) ==
        "g/f: what it is\nconstant: every value is 4\n");
  Fields fields("g");
  fields.flags("kind", {layer_axis(1), head_axis(2)}, "a kind", std::vector<std::uint8_t>{1, 1}, {"no", "yes"});
  CHECK(field_heat(fields.taken()[0], "", Signs::ascii) ==
        "g/kind: a kind\nlayer  head 0 .. 1\n       0 1\n    0  1 1\n0 no, 1 yes\n");
  Fields wide("g");
  wide.flags("kind", {layer_axis(1), counting_axis("head", "1", "", 9, 10)}, "a kind", std::vector<std::uint8_t>{0, 1},
             {"no", "yes"});
  CHECK_THAT(field_heat(wide.taken()[0], "", Signs::ascii), ContainsSubstring("        9 10\n    0   0  1\n"));
  CHECK(field_heat(make_field("g/line", {counting_axis("frequency", "1", "", 1, 4)}, "1", "a line", {1, 2, 3, 9}), "",
                   Signs::ascii) ==
        "g/line: a line\n.:-@  frequency 1 .. 4\nscale: . 1 to @ 9, 8 even steps .:-=+*%@\n");
  std::vector<double> many;
  for (int i = 0; i < 150; ++i) many.push_back(i);
  const std::string line =
      field_heat(make_field("g/line", {counting_axis("frequency", "1", "", 1, 150)}, "1", "", many), "", Signs::ascii);
  CHECK_THAT(line, ContainsSubstring("@  frequency 1 .. 150, each sign the mean of 2\n"));
}

TEST_CASE("heat: of three axes a map for each entry of the first, or the one that is named") {
  const Axis pairs{"pairs", "1", "", std::vector<std::string>{"all", "few"}};
  const Field field = make_field("g/f", {pairs, layer_axis(1), head_axis(2)}, "1", "x", {0, 1, 2, 3});
  CHECK(field_heat(field, "few", Signs::ascii) ==
        "g/f: x\n\npairs few\nlayer  head 0 .. 1\n       0 1\n    0  . @\nscale: . 2 to @ 3, 8 even steps .:-=+*%@\n");
  CHECK_THAT(field_heat(field, "", Signs::ascii), ContainsSubstring("pairs all") && ContainsSubstring("pairs few"));
  CHECK_THROWS_WITH(field_heat(field, "none", Signs::ascii),
                    ContainsSubstring("g/f: 2 maps along pairs; name one behind a colon, g/f:all say, of all, few"));
}

TEST_CASE("heat: what cannot be shown as signs is refused by name") {
  CHECK_THROWS_WITH(field_heat(make_field("g/f", {}, "1", "x", {1}), "", Signs::ascii),
                    ContainsSubstring("g/f: expected one to three axes"));
  CHECK_THROWS_WITH(field_heat(heads_field({1, 2, 3, 4, 5, 6}), "all", Signs::ascii),
                    ContainsSubstring("it has one map"));
  Field texts = heads_field({1, 2, 3, 4, 5, 6});
  texts.values = std::vector<std::string>(6, "a");
  CHECK_THROWS_WITH(field_heat(texts, "", Signs::ascii), ContainsSubstring("expected numbers, found texts"));
  CHECK_THROWS_AS(
      field_heat(make_field("g/f", {layer_axis(201), head_axis(1)}, "1", "x", std::vector<double>(201, 1.0)), "",
                 Signs::ascii),
      ShapeError);
}

TEST_CASE("heat: every head of the table has its profile beside it") {
  const Result result = sample::result();
  const std::vector<std::string> heads = head_columns(result)[0].cells;
  const TableColumn column = profile_column(result, heads, Signs::ascii);
  REQUIRE(column.cells.size() == heads.size());
  for (std::size_t i = 0; i < heads.size(); ++i) CHECK(column.cells[i].size() == 17);
  // L0H0 looks at the token before: the highest of offsets -8 .. 8 is the eighth.
  CHECK(profile_column(result, {"L0H0"}, Signs::ascii).cells[0].find('@') == 7);
  CHECK(profile_column(Result{}, {"L0H0"}, Signs::ascii).cells.empty());
  CHECK_THROWS_AS(profile_column(result, {"L9H9"}, Signs::ascii), ShapeError);
}
