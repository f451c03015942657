#include "../../core/fields/field.h"

#include "../../core/fields/head_name.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("a field gives its doubles and its axes, and says which it does not have") {
  const Field field = make_field("trace/weight", {layer_axis(2), head_axis(3)}, "1", "mean weight", {1, 2, 3, 4, 5, 6});
  CHECK(field.size() == 6);
  CHECK(field.doubles()[5] == 6);
  CHECK(field.axis("head").size() == 3);
  CHECK(field.group() == "trace");
  CHECK(field.quantity() == "weight");
  CHECK_THROWS_WITH(field.axis("offset"), ContainsSubstring("trace/weight: has no axis 'offset'"));
  CHECK_THROWS_WITH(field.axis("offset"), ContainsSubstring("trace/weight: has no axis 'offset'"));
  const Field texts{"trace/name", {}, "1", "names", std::vector<std::string>{"a"}, {}, {}};
  CHECK_THROWS_WITH(texts.doubles(),
                    ContainsSubstring("trace/name: expected an array of doubles, found another type; read"));
  CHECK_THROWS_WITH(texts.doubles(), ContainsSubstring("trace/name: expected an array of doubles"));
}

TEST_CASE("a field has as many values as its axes say") {
  CHECK(make_field("a/one", {}, "1", "a single value", {7}).size() == 1);
  CHECK_THROWS_WITH(make_field("a/b", {head_axis(3)}, "1", "", {1, 2}),
                    ContainsSubstring("a/b: expected 3 values, the product of its axes' sizes, found 2"));
  CHECK_THROWS_WITH(make_field("a/b", {head_axis(3)}, "1", "", {1, 2}),
                    ContainsSubstring("a/b: expected 3 values, the product of its axes' sizes, found 2"));
}

TEST_CASE("a result gives a field by name, and says what is missing") {
  const Result result{"one", {make_field("a/b", {}, "1", "", {1})}, {}};
  CHECK(result.at("a/b").doubles().front() == 1);
  CHECK(result.find("a/c") == nullptr);
  CHECK_THROWS_WITH(result.at("a/c"),
                    ContainsSubstring("the result has no array 'a/c'; `headwave inspect` lists those it has"));
  CHECK_THROWS_WITH(result.at("a/c"), ContainsSubstring("no array 'a/c'"));
}

TEST_CASE("a text among attributes is found by name, numbers and what is not there are none") {
  const Attributes attributes{{"model", std::string("bert")}, {"seed", std::int64_t{7}}};
  CHECK(attribute_text(attributes, "model") == "bert");
  CHECK(attribute_text(attributes, "seed").empty());
  CHECK(attribute_text(attributes, "none", "(unknown)") == "(unknown)");
}

TEST_CASE("rows of a head grid are counted over the layers that are looked at") {
  const HeadGrid grid{{1, 4}, 3};
  CHECK(grid.rows() == 6);
  CHECK(grid.first_row(4) == 3);
  for (const Index layer : {0, 2, 5})
    CHECK_THROWS_WITH(grid.first_row(layer),
                      ContainsSubstring("is not among the 2 layers of the analysis (counted from 0)"));
  CHECK_THROWS_WITH(grid.first_row(2), ContainsSubstring("layer 2 is not among the 2 layers of the analysis"));
}
