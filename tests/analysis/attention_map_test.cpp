#include "../../analysis/attention/attention_map.h"

#include <cmath>

#include "../../core/numbers/random.h"
#include "../catch.h"
#include "test_pass.h"

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

/// Fields of a head whose layer is shown in tiles of so many rows.
std::vector<Field> maps_of(const Matrix32& weights, Index rows) {
  return TestPass{}.fields("attention_map",
                           {shown_weights({weights}, numbered_document(weights.rows()), AttentionKind::self, rows)});
}

Matrix map_matrix(const std::vector<Field>& fields, const char* quantity) {
  const Field& field = field_of(fields, std::string("attention_map/") + quantity);
  return Eigen::Map<const Matrix>(field.doubles().data(), field.axes[1].size(), field.axes[2].size());
}

Index first_of(const std::vector<Field>& fields) {
  return std::get<std::vector<std::int64_t>>(field_of(fields, "attention_map/weight").axis("query").values).front();
}

/// The previous token, but from the first queries, which look at the first token.
Matrix32 previous_but_first(Index length, Index first) {
  Matrix32 weights = Matrix32::Zero(length, length);
  for (Index i = 0; i < length; ++i) weights(i, i < first ? 0 : i - 1) = 1;
  return weights;
}

}  // namespace

TEST_CASE("attention maps: the window holds the weights to the bit, wherever it begins and tiles of rows end") {
  const Matrix32 drawn = drawn_weights(200, 1), late = (drawn + 9 * previous_but_first(200, 60)) / 10;
  for (const Matrix32& weights : {drawn, late})
    for (const Index rows : {1, 4, 23, 200}) {
      const std::vector<Field> maps = maps_of(weights, rows);
      const Index first = first_of(maps);
      INFO("from " << first << ", " << rows << " rows at a time");
      CHECK(map_matrix(maps, "weight") == weights.block(first, first, 64, 64).cast<double>());
      CHECK(std::get<std::vector<std::string>>(field_of(maps, "attention_map/token").values).front() ==
            std::to_string(10 + first));
      CHECK(std::get<std::vector<std::uint8_t>>(field_of(maps, "attention_map/special").values).front() ==
            (first == 0 ? 1 : 0));
    }
}

TEST_CASE("attention maps: tiles hold the largest and the mean of their pairs, the last ones with fewer") {
  const Matrix32 weights = drawn_weights(130, 2);
  const std::vector<Field> maps = maps_of(weights, 4);
  const Matrix found_largest = map_matrix(maps, "largest"), found_mean = map_matrix(maps, "mean");
  REQUIRE(found_largest.rows() == 44);  // of 3 tokens, the last of one
  for (Index i = 0; i < 44; ++i)
    for (Index j = 0; j < 44; ++j) {
      double largest = 0, sum = 0, pairs = 0;
      for (Index q = 3 * i; q < std::min<Index>(3 * i + 3, 130); ++q)
        for (Index k = 3 * j; k < std::min<Index>(3 * j + 3, 130); ++k, ++pairs) {
          largest = std::max(largest, static_cast<double>(weights(q, k)));
          sum += weights(q, k);
        }
      CHECK(found_largest(i, j) == largest);
      CHECK(found_mean(i, j) == static_cast<float>(sum / pairs));
    }
  const auto& tiles =
      std::get<std::vector<std::int64_t>>(field_of(maps, "attention_map/largest").axis("key_tile").values);
  CHECK(tiles[2] == 6);
  CHECK(field_of(maps, "attention_map/document_token").size() == 130);
  CHECK(attribute_text(field_of(maps, "attention_map/mean").attributes, "document") == "one");
}

TEST_CASE("attention maps: a diagonal one token wide survives in the largest weights") {
  const std::vector<Field> maps = maps_of(Matrix32::Identity(640, 640), 64);
  CHECK(map_matrix(maps, "largest") == Matrix::Identity(64, 64));
  CHECK(map_matrix(maps, "mean")(3, 3) == static_cast<float>(0.1));
}

TEST_CASE("attention maps: no tiles where the window is the document") {
  const std::vector<Field> maps = maps_of(drawn_weights(9, 3), 9);
  CHECK(map_matrix(maps, "weight").rows() == 9);
  for (const Field& field : maps) {
    CHECK(field.name.find("document_") == std::string::npos);
    CHECK(field.name != "attention_map/largest");
  }
}

TEST_CASE("attention maps: the window is where heads attend as in the whole document") {
  // The first 40 of 400 queries look at the first token: of windows from 0, 56, ... the first is not typical, the second is.
  const Matrix32 weights = previous_but_first(400, 40);
  for (const Index rows : {7, 400}) CHECK(first_of(maps_of(weights, rows)) == 56);
  CHECK(map_matrix(maps_of(weights, 7), "weight") == weights.block(56, 56, 64, 64).cast<double>());
  CHECK(first_of(maps_of(Matrix32::Identity(400, 400), 9)) == 0);  // all are alike
  CHECK(first_of(maps_of(previous_but_first(64, 20), 9)) == 0);    // nothing to choose
}
