#include "../../analysis/attention/attention_map.h"

#include <cmath>

#include "../../core/numbers/random.h"
#include "../catch.h"
#include "found_field.h"

using namespace headwave;

namespace {

Document numbered_document(Index length) {
  Document document;
  document.name = "one";
  for (Index i = 0; i < length; ++i) document.ids.push_back(static_cast<std::int32_t>(10 + i));
  document.special.assign(static_cast<std::size_t>(length), 0);
  document.special.front() = 1;
  return document;
}

/// Rows that sum to 1.
Matrix32 drawn_weights(Index length, std::uint64_t seed) {
  Matrix32 weights(length, length);
  Random random(seed);
  for (Index i = 0; i < length; ++i)
    for (Index j = 0; j < length; ++j) weights(i, j) = static_cast<float>(0.01 + std::abs(random.normal()));
  for (Index i = 0; i < length; ++i) weights.row(i) /= weights.row(i).sum();
  return weights;
}

/// Shows layer 0 of one head in tiles of so many rows.
AttentionMaps maps_of(const Matrix32& weights, const MapOptions& options, Index rows) {
  AttentionMapProbe probe({{0, 0}, {1, 0}}, options, numbered_document(weights.rows()));
  for (Index first = 0; first < weights.rows(); first += rows) {
    Tile tile;
    tile.first_row = first;
    tile.queries = tile.keys = weights.rows();
    const Matrix32 part = weights.middleRows(first, std::min(rows, weights.rows() - first));
    tile.weights = {part};
    probe.see(tile);
  }
  return *probe.taken().value;
}

}  // namespace

TEST_CASE("attention maps: the window holds the weights to the bit, wherever it begins and tiles of rows end") {
  const Matrix32 weights = drawn_weights(23, 1);
  for (const Index first : {0, 5, 20})
    for (const Index rows : {1, 4, 23}) {
      const AttentionMaps maps = maps_of(weights, {.first = first, .tokens = 6}, rows);
      const Index shown = std::min<Index>(6, 23 - first);
      INFO("from " << first << ", " << rows << " rows at a time");
      CHECK(maps.weights[0] == weights.block(first, first, shown, shown).cast<double>());
      CHECK(maps.weights[1].isZero());
      const std::vector<Field> fields = describe(maps);
      const auto& query =
          std::get<std::vector<std::int64_t>>(field_of(fields, "attention_map/weight").axis("query").values);
      CHECK(query.front() == first);
      CHECK(std::get<std::vector<std::string>>(field_of(fields, "attention_map/token").values).front() ==
            std::to_string(10 + first));
      CHECK(std::get<std::vector<std::uint8_t>>(field_of(fields, "attention_map/special").values).front() ==
            (first == 0 ? 1 : 0));
    }
}

TEST_CASE("attention maps: tiles hold the largest and the mean of their pairs, the last ones with fewer") {
  const Matrix32 weights = drawn_weights(23, 2);
  const AttentionMaps maps = maps_of(weights, {.tokens = 6, .tiles = 5}, 4);
  REQUIRE(maps.query_tile == 5);
  REQUIRE(maps.largest[0].rows() == 5);
  for (Index i = 0; i < 5; ++i)
    for (Index j = 0; j < 5; ++j) {
      double largest = 0, sum = 0, pairs = 0;
      for (Index q = 5 * i; q < std::min<Index>(5 * i + 5, 23); ++q)
        for (Index k = 5 * j; k < std::min<Index>(5 * j + 5, 23); ++k, ++pairs) {
          largest = std::max(largest, static_cast<double>(weights(q, k)));
          sum += weights(q, k);
        }
      CHECK(maps.largest[0](i, j) == largest);
      CHECK(maps.mean[0](i, j) == static_cast<float>(sum / pairs));
    }
  const std::vector<Field> fields = describe(maps);
  const auto& tiles =
      std::get<std::vector<std::int64_t>>(field_of(fields, "attention_map/largest").axis("key_tile").values);
  CHECK(tiles == std::vector<std::int64_t>{0, 5, 10, 15, 20});
  CHECK(field_of(fields, "attention_map/document_token").size() == 23);
  CHECK(attribute_text(field_of(fields, "attention_map/mean").attributes, "document") == "one");
}

TEST_CASE("attention maps: a diagonal one token wide survives in the largest weights") {
  const AttentionMaps maps = maps_of(Matrix32::Identity(640, 640), {}, 64);
  REQUIRE(maps.largest[0].rows() == 64);
  CHECK(maps.largest[0] == Matrix::Identity(64, 64));
  CHECK(maps.mean[0](3, 3) == static_cast<float>(0.1));
}

TEST_CASE("attention maps: no tiles where the window is the document") {
  const AttentionMaps maps = maps_of(drawn_weights(9, 3), {.tokens = 12}, 9);
  CHECK(maps.weights[0].rows() == 9);
  CHECK(maps.largest.empty());
  for (const Field& field : describe(maps)) CHECK(field.name.find("document_") == std::string::npos);
}

TEST_CASE("attention maps: the window is where heads attend as in the whole document") {
  // The previous token but in the first 30 of 100, which look at the first: the windows from 0 and 15 are not typical.
  Matrix32 weights = Matrix32::Zero(100, 100);
  for (Index i = 0; i < 100; ++i) weights(i, i < 30 ? 0 : i - 1) = 1;
  for (const Index rows : {7, 100}) CHECK(maps_of(weights, {.first = typical_window, .tokens = 16}, rows).first == 28);
  const AttentionMaps maps = maps_of(weights, {.first = typical_window, .tokens = 16}, 7);
  CHECK(maps.weights[0] == weights.block(28, 28, 16, 16).cast<double>());
  CHECK(maps_of(Matrix32::Identity(100, 100), {.first = typical_window, .tokens = 16}, 9).first == 0);  // all are alike
  CHECK(maps_of(weights, {.first = typical_window, .tokens = 100}, 9).first == 0);  // nothing to choose
}

TEST_CASE("attention maps: which window is typical is said by every head, and near offsets") {
  const Matrix32 before = Matrix32::Identity(8, 8), behind = Matrix32::Constant(8, 8, 0.125F);
  Vector on_itself = Vector::Zero(15), even = Vector::Constant(15, 0.125);
  on_itself[7] = 1;
  CHECK(typical_of({{before, before}, {behind, behind}}, {on_itself, on_itself}) == 0);
  CHECK(typical_of({{before, before}, {behind, behind}}, {even, even}) == 1);
  CHECK(typical_of({{behind, before}, {before, behind}}, {on_itself, even}) == 1);
  even[0] = 5;  // of one pair
  CHECK(typical_of({{before}, {behind}}, {even}) == 1);
}

TEST_CASE("attention maps: through bytes they stay as they are") {
  const AttentionMaps maps = maps_of(drawn_weights(23, 4), {.first = 2, .tokens = 6}, 23);
  ByteWriter bytes;
  bytes.write(maps);
  ByteReader reader(bytes.bytes());
  const std::vector<Field> there = describe(maps), back = describe(reader.read<AttentionMaps>());
  CHECK(reader.at_end());
  REQUIRE(there.size() == back.size());
  for (std::size_t i = 0; i < there.size(); ++i) CHECK(there[i].values == back[i].values);
}

TEST_CASE("attention maps: a window behind the document's end is refused by its numbers") {
  CHECK_THROWS_AS(AttentionMapProbe({{0, 0}}, {.first = 9}, numbered_document(9)), ShapeError);
  CHECK_THROWS_WITH(AttentionMapProbe({{0, 0}}, {.first = 9}, numbered_document(9)),
                    ContainsSubstring("begins at token 9; expected one of the document's 9, 0 to 8"));
}
