#include "../../core/fields/fields.h"

#include <array>
#include <cmath>
#include <ranges>
#include <string>
#include <vector>

#include "../catch.h"

using namespace headwave;

namespace {

enum class Volume : std::uint8_t { quiet, loud };

const Axis layer = layer_axis(Index{2});
const Axis head = head_axis(3);
const double none = std::nan("");

std::string text(const Field& field, const char* attribute) {
  return std::get<std::string>(field.attributes.at(attribute));
}

/// The entries that a Field without further ado takes from `values`, which must be as many as `count`.
Field of(Index count, Entries values) {
  Fields fields("of");
  fields.add("values", {counting_axis("i", "1", "i", 1, count)}, "1", "values", std::move(values));
  return fields.taken().front();
}

}  // namespace

TEST_CASE("fields: described in the order in which they are added, under the group's name") {
  Fields fields("sound");
  fields.add("pitch", {layer, head}, "cycles/T", "pitch of a head", Matrix(Matrix::Constant(2, 3, 0.5)));
  fields.add("name", {layer}, "1", "what a layer is called", std::vector<std::string>{"low", "high"});
  fields.flags("kind", {head}, "how a head sounds", std::vector<Volume>{Volume::loud, Volume::quiet, Volume::loud},
               {"quiet", "loud"});
  const std::vector<Field> described = fields.taken();
  REQUIRE(described.size() == 3);
  CHECK(described[0].name == "sound/pitch");
  CHECK(described[0].unit == "cycles/T");
  CHECK(described[0].long_name == "pitch of a head");
  CHECK(described[0].axis("head").size() == 3);
  CHECK(described[1].name == "sound/name");
  CHECK(described[2].name == "sound/kind");
  CHECK(described[2].unit == "1");
  CHECK(described[2].flag_meanings == std::vector<std::string>{"quiet", "loud"});
  CHECK(std::get<std::vector<std::uint8_t>>(described[2].values) == std::vector<std::uint8_t>{1, 0, 1});
  for (const Field& field : described) CHECK(field.attributes.empty());
  CHECK(fields.taken().empty());
}

TEST_CASE("fields: values must be as many as the axes have places, and nothing is added otherwise") {
  Fields fields("sound");
  CHECK_THROWS_WITH(fields.add("pitch", {layer, head}, "1", "pitch", Vector(Vector::Zero(5))),
                    "sound/pitch: expected 6 values, the product of its axes' sizes, found 5");
  CHECK_THROWS_WITH(fields.add("pitch", {}, "1", "pitch", std::vector<double>{1, 2}),
                    ContainsSubstring("sound/pitch: expected 1 values, the product of its axes' sizes, found 2"));
  CHECK_THROWS_WITH(fields.add("pitch", {layer}, "1", "pitch", std::vector<std::string>{"low"}),
                    ContainsSubstring("sound/pitch: expected 2 values, the product of its axes' sizes, found 1"));
  CHECK(fields.taken().empty());
}

TEST_CASE("fields: a flag must be one, and mean something") {
  CHECK_THROWS_WITH(Fields("sound").flags("kind", {layer}, "kind", std::vector<Volume>(2, Volume::loud), {"quiet"}),
                    "sound/kind: expected flags below 1, the number of meanings, found 1");
  CHECK_THROWS_AS(Fields("sound").flags("kind", {layer}, "kind", std::vector<Index>{0, 1}, {"quiet", "loud"}),
                  ShapeError);
}

TEST_CASE("fields: undefined always, or only if something is") {
  const std::vector<double> all{1, 2}, half{1, none};
  Fields fields("sound");
  fields.add("always", {layer}, "1", "", all).undefined("silence");
  fields.add("none", {layer}, "1", "", all).undefined_if_any("silence");
  fields.add("some", {layer}, "1", "", half).undefined_if_any("silence");
  fields.add("rank", {layer}, "1", "", std::vector<Index>{-1, 3}).undefined("-1: silence");
  fields.absent("mean", "nat", "mean of all", "no layers");
  const std::vector<Field> described = fields.taken();
  CHECK(text(described[0], "undefined") == "silence");
  CHECK_FALSE(described[1].attributes.contains("undefined"));
  CHECK(text(described[2], "undefined") == "silence");
  CHECK(text(described[3], "undefined") == "-1: silence");
  CHECK(described[4].name == "sound/mean");
  CHECK(described[4].unit == "nat");
  CHECK(described[4].axes.empty());
  REQUIRE(described[4].doubles().size() == 1);
  CHECK(std::isnan(described[4].doubles()[0]));
  CHECK(text(described[4], "undefined") == "no layers");
}

TEST_CASE("fields: a note is about the Field before it, one to all about every Field of the group") {
  Fields others("others");
  others.add("level", {}, "1", "", 1.0);
  Fields fields("sound");
  CHECK_THROWS_WITH(fields.note("seed", 1), ContainsSubstring("sound: expected a Field before its remark, found none"));
  CHECK_THROWS_WITH(fields.undefined_if_any("silence"),
                    ContainsSubstring("sound: expected a Field before its remark, found none"));
  fields.add("first", {}, "1", "", 1.0).note("draws", Index{7}).note("level", 0.5);
  fields.note_all("seed", std::uint64_t{9}).note_all("source", "a book");
  fields.append(others.taken());
  fields.add("second", {}, "1", "", 2.0).note("window", std::vector<double>{1, 2}).note("source", "itself");
  const std::vector<Field> described = fields.taken();
  REQUIRE(described.size() == 3);
  CHECK(described[0].attributes ==
        Attributes{
            {"draws", std::int64_t{7}}, {"level", 0.5}, {"seed", std::int64_t{9}}, {"source", std::string("a book")}});
  CHECK(described[1].name == "others/level");
  CHECK(described[1].attributes.empty());
  CHECK(described[2].attributes == Attributes{{"window", std::vector<double>{1, 2}},
                                              {"seed", std::int64_t{9}},
                                              {"source", std::string("itself")}});
}

TEST_CASE("fields: entries from whatever an analysis holds, row by row") {
  Matrix matrix(2, 3);
  matrix << 1, 2, 3, 4, 5, 6;
  const std::vector<double> rows{1, 2, 3, 4, 5, 6}, columns{1, 4, 2, 5, 3, 6};
  CHECK(of(6, matrix).doubles() == rows);
  CHECK(of(6, matrix.transpose()).doubles() == columns);
  CHECK(of(6, Eigen::MatrixXd(matrix)).doubles() == rows);  // stored column by column
  CHECK(of(6, MatrixView(matrix)).doubles() == rows);
  CHECK(of(2, matrix.col(1)).doubles() == std::vector<double>{2, 5});
  CHECK(of(6, Matrix32(matrix.cast<float>())).doubles() == rows);
  CHECK(of(2, Vector(matrix.rowwise().sum())).doubles() == std::vector<double>{6, 15});
  CHECK(of(6, 2 * matrix / 2).doubles() == rows);
  CHECK(of(6, rows).doubles() == rows);
  CHECK(of(2, std::array<double, 2>{1, 2}).doubles() == std::vector<double>{1, 2});
  CHECK(of(12, std::array<Matrix, 2>{matrix, matrix}).doubles()[6] == 1);
  CHECK(of(3, std::vector<Vector>{Vector::Ones(1), Vector::Zero(2)}).doubles() == std::vector<double>{1, 0, 0});
  CHECK(of(4, std::array<std::array<double, 2>, 2>{{{1, 2}, {3, 4}}}).doubles() == std::vector<double>{1, 2, 3, 4});
  CHECK(of(1, 0.5).doubles() == std::vector<double>{0.5});
}

TEST_CASE("fields: integers, flags and texts stay what they are") {
  CHECK(std::get<std::vector<std::int64_t>>(of(2, std::vector<Index>{-1, 5}).values) ==
        std::vector<std::int64_t>{-1, 5});
  CHECK(std::get<std::vector<std::uint8_t>>(of(2, std::vector<std::uint8_t>{0, 255}).values)[1] == 255);
  const std::array<std::vector<Volume>, 2> kinds{{{Volume::loud}, {Volume::quiet, Volume::loud}}};
  CHECK(std::get<std::vector<std::uint8_t>>(of(3, kinds).values) == std::vector<std::uint8_t>{1, 0, 1});
  CHECK(std::get<std::vector<std::string>>(of(2, std::vector<const char*>{"a", "b"}).values)[1] == "b");
  struct Row {
    std::string name;
    double value;
  };
  const std::vector<Row> table{{"a", 1}, {"b", none}};
  CHECK(std::get<std::vector<std::string>>(of(2, table | std::views::transform(&Row::name)).values)[0] == "a");
  CHECK(std::isnan(of(2, table | std::views::transform(&Row::value)).doubles()[1]));
}
