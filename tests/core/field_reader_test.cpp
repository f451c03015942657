#include "../../core/fields/field_reader.h"

#include "../catch.h"

using namespace headwave;

namespace {

Axis axis(const char* name, std::size_t size) {
  return {name, "1", name, std::vector<std::int64_t>(size, 0)};
}

Result one(Field field) {
  return {"", {std::move(field)}, {}};
}

}  // namespace

TEST_CASE("field reader: axes must be the ones described, in order") {
  const Result result =
      one(make_field("a/b", {axis("layer", 2), axis("head", 3)}, "1", "", std::vector<double>(6, 1.0)));
  CHECK(doubles_of(result, "a/b", {"layer", "head"}).size() == 6);
  CHECK_THROWS_WITH(doubles_of(result, "a/b", {"head", "layer"}),
                    ContainsSubstring("a/b: expected the axes (head, layer), found (layer, head)"));
  CHECK_THROWS_WITH(doubles_of(result, "a/b", {"layer"}),
                    ContainsSubstring("a/b: expected the axes (layer), found (layer, head)"));
  CHECK_THROWS_WITH(doubles_of(result, "a/c", {"layer", "head"}),
                    ContainsSubstring("the result has no array 'a/c'; `headwave inspect` lists those it has"));
  CHECK_THROWS_WITH(strings_of(result, "a/b", {"layer", "head"}),
                    ContainsSubstring("a/b: expected strings, found values of another type"));
  CHECK_THROWS_WITH(flags_of(result, "a/b", {"layer", "head"}),
                    ContainsSubstring("a/b: expected flags (uint8), found values of another type"));
  CHECK_THROWS_WITH(counts_of(result, "a/b", {"layer", "head"}),
                    ContainsSubstring("a/b: expected whole numbers, found values of another type"));
  const Result texts = one({"a/b", {axis("layer", 2)}, "1", "", std::vector<std::string>{"x", "y"}, {}, {}});
  CHECK_THROWS_WITH(doubles_of(texts, "a/b", {"layer"}), "a/b: expected doubles, found values of another type");
}

TEST_CASE("field reader: a file that lies about its size is refused") {
  Field field = make_field("a/b", {axis("layer", 2)}, "1", "", {1.0, 2.0});
  field.values = std::vector<double>{1.0};
  CHECK_THROWS_WITH(doubles_of(one(field), "a/b", {"layer"}),
                    ContainsSubstring("a/b: holds 1 values, which is not the product of its axes' sizes"));
  // 2^16 to the fourth is 0 in 64 bits
  const std::size_t big = 65536;
  Field wraps{
      "a/b", {axis("p", big), axis("q", big), axis("r", big), axis("s", big)}, "1", "", std::vector<double>{}, {}, {}};
  CHECK_THROWS_WITH(doubles_of(one(wraps), "a/b", {"p", "q", "r", "s"}),
                    ContainsSubstring("a/b: holds 0 values, which is not the product of its axes' sizes"));
}

TEST_CASE("field reader: one kind of pairs is cut out, or there is none to choose") {
  const Axis pairs{"pairs", "1", "", std::vector<std::string>{"all", "without_sink"}};
  const Result both = one(make_field("a/b", {pairs, axis("layer", 1), axis("head", 2)}, "1", "", {1.0, 2.0, 3.0, 4.0}));
  CHECK(head_doubles(both, "a/b", "all") == std::vector<double>{1.0, 2.0});
  CHECK(head_doubles(both, "a/b", "without_sink") == std::vector<double>{3.0, 4.0});
  CHECK_THROWS_WITH(head_doubles(both, "a/b", "some"),
                    ContainsSubstring("a/b: 'some' is not on the axis 'pairs', which has: all, without_sink"));
  CHECK_THROWS_WITH(head_doubles(both, "a/c", "all"),
                    ContainsSubstring("the result has no array 'a/c'; `headwave inspect` lists those it has"));
  CHECK_THROWS_WITH(head_meanings(both, "a/b", "all"),
                    ContainsSubstring("a/b: expected flags (uint8), found values of another type"));
  const Result plain = one(make_field("a/b", {axis("layer", 1), axis("head", 2)}, "1", "", {1.0, 2.0}));
  CHECK(head_doubles(plain, "a/b", "all") == std::vector<double>{1.0, 2.0});
}

TEST_CASE("field reader: coordinates") {
  Field field = make_field("a/b", {{"x", "1", "", std::vector<double>{0.5, 2.0}}}, "1", "", {1.0, 2.0});
  CHECK(coordinates(field, "x") == std::vector<double>{0.5, 2.0});
  CHECK_THROWS_WITH(whole_coordinates(field, "x"),
                    ContainsSubstring("a/b: expected whole numbers on the axis 'x', found 0.5"));
  CHECK_THROWS_WITH(labels_of(field, "x"), ContainsSubstring("a/b: expected strings on the axis 'x', found numbers"));
  field.axes[0].values = std::vector<double>{1e300, 2.0};
  CHECK_THROWS_WITH(whole_coordinates(field, "x"),
                    ContainsSubstring("a/b: expected whole numbers on the axis 'x', found 1e+300"));
  field.axes[0].values = std::vector<std::int64_t>{-3, 4};
  CHECK(whole_coordinates(field, "x") == std::vector<Index>{-3, 4});
  field.axes[0].values = std::vector<std::string>{"a", "b"};
  CHECK_THROWS_WITH(coordinates(field, "x"), ContainsSubstring("a/b: expected numbers on the axis 'x', found strings"));
  CHECK(place_of(field, "x", "b") == 1);
  CHECK_THROWS_WITH(place_of(field, "x", "c"), ContainsSubstring("a/b: 'c' is not on the axis 'x', which has: a, b"));
  for (const auto& read :
       {+[](const Field& f) { (void)coordinates(f, "y"); }, +[](const Field& f) { (void)labels_of(f, "y"); },
        +[](const Field& f) { (void)place_of(f, "y", "a"); }})
    CHECK_THROWS_WITH(read(field), ContainsSubstring("a/b: has no axis 'y'"));  // no such axis
}
