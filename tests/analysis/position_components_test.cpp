#include "../../analysis/positions/position_components.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <numbers>
#include <utility>

#include <nlohmann/json.hpp>

#include "../../core/algebra/decompositions.h"
#include "../../core/numbers/random.h"
#include "../catch.h"
#include "../test_numbers.h"
#include "golden_json.h"

using namespace headwave;

namespace {

Matrix random_rotation(Index size, std::uint64_t seed) {
  Random random(seed);
  return random_frame(size, size, random);
}

void check_against(const PositionComponents& found, const nlohmann::json& expected) {
  CHECK(found.rank == expected.at("rank").get<Index>());
  const auto share = expected.at("share").get<std::vector<double>>();
  const auto cumulative = expected.at("cumulative_share").get<std::vector<double>>();
  REQUIRE(found.share.size() == static_cast<Index>(share.size()));
  for (std::size_t k = 0; k < share.size(); ++k) {
    CHECK(found.share(static_cast<Index>(k)) == Approx(share[k]).epsilon(1e-9));
    CHECK(found.cumulative_share(static_cast<Index>(k)) == Approx(cumulative[k]).epsilon(1e-9));
  }
  const Matrix scores = matrix_of(expected.at("scores"));
  CHECK((found.coordinates.leftCols(3) - scores).norm() <= 1e-9 * scores.norm());
}

}  // namespace

TEST_CASE("the components of four positions on a cross are the ones on the page") {
  // Squared lengths 2 * 2^2 = 8 along the second axis and 2 * 1 = 2 along the first; moved away from the origin.
  Matrix positions(4, 3);
  positions << 1, 0, 7, -1, 0, 7, 0, 2, 7, 0, -2, 7;
  const PositionComponents found = position_components(positions);
  CHECK(found.rank == 2);
  REQUIRE(found.share.size() == 3);
  CHECK(found.share(0) == Approx(0.8).epsilon(16 * eps));
  CHECK(found.share(1) == Approx(0.2).epsilon(16 * eps));
  CHECK(found.share(2) == 0.0);
  CHECK(found.cumulative_share(0) == Approx(0.8).epsilon(16 * eps));
  CHECK(found.cumulative_share(2) == Approx(1.0).epsilon(16 * eps));
  Matrix scores(4, 2);
  scores << 0, 1, 0, -1, 2, 0, -2, 0;  // both directions positive
  CHECK((found.coordinates.leftCols(2) - scores).norm() <= 64 * eps);
  CHECK(found.coordinates.leftCols(1) == found.coordinates.leftCols(2).leftCols(1));
}

TEST_CASE("components and scores are numpy's") {
  std::ifstream file(repository_file("tests/golden/position_states.json"));
  const nlohmann::json dump = nlohmann::json::parse(file);
  REQUIRE(dump.size() == 2);
  for (const auto& one : dump) {
    const Matrix positions = matrix_of(one.at("positions"));
    check_against(position_components(positions), one.at("components"));
  }
}

TEST_CASE("small components keep their digits: shares of 1e-10 and less are right to 1e-9") {
  const Index length = 40, width = 6;
  // Columns orthonormal, and orthogonal to the constant, so that centring changes nothing: half waves.
  Matrix basis(length, width);
  for (Index n = 0; n < length; ++n)
    for (Index k = 0; k < width; ++k)
      basis(n, k) = std::sqrt(2.0 / static_cast<double>(length)) *
                    std::cos(std::numbers::pi * (static_cast<double>(n) + 0.5) * static_cast<double>(k + 1) /
                             static_cast<double>(length));
  Vector singular(width);
  singular << 1, 0.5, 1e-1, 1e-3, 1e-5, 3e-6;
  const Matrix positions = basis * singular.asDiagonal() * random_rotation(width, 4);
  const PositionComponents found = position_components(positions);
  CHECK(found.rank == width);
  for (Index k = 0; k < width; ++k)
    CHECK(found.share(k) == Approx(singular(k) * singular(k) / singular.squaredNorm()).epsilon(1e-9));
}

TEST_CASE("components are orthogonal, descending and restore the table, moving, turning and scaling change no share") {
  for (const auto& [length, width] : {std::pair<Index, Index>{2, 5}, {3, 3}, {9, 4}, {12, 30}}) {
    CAPTURE(length, width);
    const Matrix positions = random_matrix(length, width, 5);
    const PositionComponents found = position_components(positions);
    const Index count = std::min(length, width);
    CHECK(found.length == length);
    CHECK(found.rank == std::min(length - 1, width));
    REQUIRE(found.share.size() == count);
    for (Index k = 1; k < count; ++k) CHECK(found.share(k) <= found.share(k - 1));
    CHECK(found.cumulative_share(count - 1) == Approx(1.0).epsilon(64 * eps));
    CHECK((found.directions.transpose() * found.directions - Matrix::Identity(count, count)).norm() <= 1e3 * eps);
    const Matrix scores = found.coordinates.leftCols(count);
    Matrix centred = positions;
    centred.rowwise() -= positions.colwise().mean().eval();
    CHECK((scores * found.directions.transpose() - centred).norm() <= 1e3 * eps * positions.norm());
    for (Index k = 0; k < count; ++k) {
      Index largest = 0;
      found.directions.col(k).cwiseAbs().maxCoeff(&largest);
      CHECK(found.directions(largest, k) > 0);
    }
    Matrix moved = positions * random_rotation(width, 6);
    moved.rowwise() += 3 * random_matrix(1, width, 7).row(0);
    CHECK((position_components(moved).share - found.share).norm() <= 1e3 * eps);
    for (const double scale : {1e-200, 3.0, 1e200}) {
      const PositionComponents scaled = position_components(Matrix(scale * positions));
      CHECK((scaled.share - found.share).norm() <= 1e3 * eps);
      CHECK((scaled.coordinates.leftCols(count) / scale - scores).norm() <= 1e3 * eps * scores.norm());
    }
  }
}

TEST_CASE("no positions and positions that are all equal have no components, and say so") {
  for (const Matrix& none : {Matrix(0, 0), Matrix(0, 768)})
    CHECK(position_components(none).undefined == "no position table");
  for (const Index length : {1, 2, 3, 97, 1000})
    for (const double value : {0.0, 0.1, 1e5, 1e-300}) {
      CAPTURE(length, value);
      const PositionComponents found = position_components(Matrix(Matrix::Constant(length, 3, value)));
      CHECK(found.undefined == "the positions are all equal");
      CHECK(found.rank == 0);
      for (const Field& field : describe(found)) {
        CHECK(field.axes.empty());
        CHECK(std::isnan(field.doubles()[0]));
        CHECK(std::get<std::string>(field.attributes.at("undefined")) == found.undefined);
      }
    }
}

TEST_CASE("position components describe themselves") {
  const std::vector<Field> fields = describe(position_components(random_matrix(7, 4, 8)));
  REQUIRE(fields.size() == 2);
  CHECK(fields[0].name == "position_components/share");
  CHECK(fields[1].name == "position_components/cumulative_share");
  for (const Field& field : fields) {
    CHECK(field.attributes.count("undefined") == 0);
    CHECK(std::get<std::int64_t>(field.attributes.at("T")) == 7);
    CHECK(std::get<std::int64_t>(field.attributes.at("rank")) == 4);
    CHECK(std::get<std::vector<std::int64_t>>(field.axis("component").values) == std::vector<std::int64_t>{1, 2, 3, 4});
  }
  CHECK(fields[0].doubles()[0] == fields[1].doubles()[0]);
}

TEST_CASE("position components refuse what is not finite") {
  Matrix positions = random_matrix(7, 4, 9);
  positions(3, 2) = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH(position_components(positions),
                    ContainsSubstring("position_components: an entry of the position table is not finite"));
}
