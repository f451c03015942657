#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <numeric>
#include <set>

#include <Eigen/QR>
#include <nlohmann/json.hpp>

#include "../../analysis/positions/position_components.h"
#include "../../analysis/positions/position_split.h"
#include "../../core/algebra/decompositions.h"
#include "../../core/numbers/random.h"
#include "../catch.h"
#include "golden_json.h"
#include "test_documents.h"

using namespace headwave;

namespace {

// Multiples of 2^-8, so that sums and products of a few are exact in float32.
Matrix rounded(const Matrix& matrix) {
  return matrix.unaryExpr([](double entry) { return std::round(256 * entry) / 256; });
}

Matrix rounded_matrix(Index rows, Index columns, std::uint64_t seed) {
  return rounded(random_matrix(rows, columns, seed));
}

std::vector<Matrix> rounded_documents(Index documents, Index length, Index width, std::uint64_t seed) {
  std::vector<Matrix> result = random_documents(documents, length, width, seed);
  for (Matrix& states : result) states = rounded(states);
  return result;
}

Matrix centred(Matrix matrix) {
  matrix.rowwise() -= matrix.colwise().mean().eval();
  return matrix;
}

Matrix orthonormal(const Matrix& columns) {
  Eigen::ColPivHouseholderQR<Matrix> qr(columns);
  qr.setThreshold(1e-6);
  return qr.householderQ() * Matrix::Identity(columns.rows(), qr.rank());
}

// All tokens of all documents in one matrix, beside as many copies of the positions: as it is written.
Vector direct_correlations(const std::vector<Matrix>& documents, const Matrix& positions) {
  const Index length = positions.rows();
  const auto count = static_cast<Index>(documents.size());
  Matrix x(count * length, documents.front().cols()), y(count * length, positions.cols());
  for (Index c = 0; c < count; ++c) {
    x.middleRows(c * length, length) = documents[static_cast<std::size_t>(c)];
    y.middleRows(c * length, length) = positions;
  }
  return thin_svd(orthonormal(centred(x)).transpose() * orthonormal(centred(y))).s;
}

/// What is said of layers; rows are (layer, truncation).
struct PositionCorrelation {
  explicit PositionCorrelation(std::vector<Field> found)
      : fields(std::move(found)), undefined(undefined_reason(fields)) {
    rank = std::get<std::int64_t>(fields.front().attributes.at("rank"));
    if (!undefined.empty()) return;
    const auto of = [&](const char* quantity) -> const Field& {
      return field_of(fields, std::string("position_correlation/") + quantity);
    };
    const auto& kept = std::get<std::vector<std::int64_t>>(of("correlation").axis("truncation").values);
    truncations.assign(kept.begin(), kept.end());
    const Index columns = of("correlation").axis("component").size();
    correlation = matrix_of_field(of("correlation"), columns);
    chance_mean = matrix_of_field(of("chance_mean"), columns);
    chance_largest = matrix_of_field(of("chance_largest"), columns);
    for (const double one : of("variables").doubles()) variables.push_back(static_cast<Index>(one));
  }

  std::vector<Field> fields;
  std::string undefined;
  std::vector<Index> truncations, variables;
  Matrix correlation, chance_mean, chance_largest;
  Index rank = 0;
};

PositionCorrelation one_layer(const std::vector<Matrix>& documents, const Matrix& positions, std::vector<Index> r,
                              Index draws = 0, std::uint64_t seed = 1) {
  return PositionCorrelation(position_correlation({moments_of(documents)}, {0}, positions,
                                                  {.truncations = std::move(r), .draws = draws, .seed = seed}));
}

}  // namespace

TEST_CASE("canonical correlations are those of a pivoted QR of all tokens in numpy and scipy") {
  std::ifstream file(repository_file("tests/golden/position_states.json"));
  const nlohmann::json dump = nlohmann::json::parse(file);
  REQUIRE(dump.size() == 2);
  for (const auto& one : dump) {
    std::vector<Matrix> documents;
    for (const auto& states : one.at("states")) documents.push_back(matrix_of(states));
    const auto truncations = one.at("truncations").get<std::vector<Index>>();
    const PositionCorrelation found = one_layer(documents, matrix_of(one.at("positions")), truncations);
    CHECK(found.variables == std::vector<Index>{one.at("variables").get<Index>()});
    REQUIRE(found.truncations == truncations);
    for (std::size_t i = 0; i < truncations.size(); ++i) {
      const auto expected = one.at("correlation")[i].get<std::vector<double>>();
      const auto row = static_cast<Index>(i);
      for (std::size_t k = 0; k < expected.size(); ++k)
        CHECK(found.correlation(row, static_cast<Index>(k)) == Approx(expected[k]).epsilon(1e-9));
      for (auto k = static_cast<Index>(expected.size()); k < found.correlation.cols(); ++k)
        CHECK(std::isnan(found.correlation(row, k)));
    }
  }
}

TEST_CASE("canonical correlations are those of all tokens one by one, at any size") {
  for (const auto& [documents, length, width, r] :
       {std::array<Index, 4>{1, 2, 1, 1}, {3, 2, 2, 1}, {4, 3, 2, 2}, {5, 9, 4, 3}, {7, 16, 3, 5}, {2, 31, 20, 6}}) {
    CAPTURE(documents, length, width, r);
    const std::vector<Matrix> states = rounded_documents(documents, length, width, 11);
    const Matrix positions = rounded_matrix(length, 8, 12);
    const PositionCorrelation found = one_layer(states, positions, {r});
    const Vector expected = direct_correlations(states, position_components(positions).coordinates.leftCols(r));
    const Index count = std::min(r, found.variables[0]);
    REQUIRE(expected.size() >= count);
    for (Index k = 0; k < count; ++k) CHECK(found.correlation(0, k) == Approx(expected(k)).epsilon(1e-9));
    for (Index k = count; k < r; ++k) CHECK(std::isnan(found.correlation(0, k)));
  }
}

TEST_CASE("states that hold the positions in a linear way correlate by 1, whatever else they hold") {
  const Matrix positions = rounded_matrix(24, 6, 21);
  // Six columns hold the positions, mixed; five others words. A change of basis in between hides which.
  std::vector<Matrix> documents = rounded_documents(10, 24, 11, 22);
  const Matrix mix = (8 * rounded_matrix(11, 11, 23)).array().round().matrix();
  for (Matrix& states : documents) {
    states.leftCols(6) = positions;
    states = (states * mix).eval();
    states.array() += 3;
  }
  const PositionCorrelation found = one_layer(documents, positions, {1, 3, 6}, 3);
  CHECK(found.variables == std::vector<Index>{11});
  for (Index i = 0; i < 3; ++i)
    for (Index k = 0; k < found.truncations[static_cast<std::size_t>(i)]; ++k)
      CHECK(std::abs(found.correlation(i, k) - 1.0) <= 1e-9);
  CHECK(found.correlation.maxCoeff<Eigen::PropagateNumbers>() <= 1.0);
  // Of the shuffled positions they hold little: 11 columns among 240 tokens.
  CHECK(found.chance_largest(2, 5) < 0.9);
}

TEST_CASE("states without positions correlate as shuffled positions do") {
  const Matrix positions = rounded_matrix(40, 6, 31);
  const PositionCorrelation found = one_layer(rounded_documents(12, 40, 8, 32), positions, {2, 4}, 100);
  for (Index i = 0; i < 2; ++i)
    for (Index k = 0; k < 2 * (i + 1); ++k) {
      CHECK(found.correlation(i, k) <= found.chance_largest(i, k));
      CHECK(std::abs(found.correlation(i, k) - found.chance_mean(i, k)) < 0.1);
      CHECK(found.chance_mean(i, k) <= found.chance_largest(i, k));
    }
}

TEST_CASE("the chance level is the correlation with positions in another order") {
  const Matrix positions = rounded_matrix(12, 5, 41);
  const std::vector<Matrix> documents = rounded_documents(6, 12, 4, 42);
  std::vector<Vector> draws;
  for (std::uint64_t draw = 0; draw < 2; ++draw) {
    std::vector<Index> order(12);
    std::iota(order.begin(), order.end(), Index{0});
    Random(5).stream(draw).shuffle(order);
    Matrix shuffled(12, 5);
    for (Index t = 0; t < 12; ++t) shuffled.row(t) = positions.row(order[static_cast<std::size_t>(t)]);
    draws.push_back(direct_correlations(documents, position_components(shuffled).coordinates.leftCols(3)));
  }
  const PositionCorrelation found = one_layer(documents, positions, {3}, 2, 5);
  for (Index k = 0; k < 3; ++k) {
    CHECK(found.chance_mean(0, k) == Approx((draws[0](k) + draws[1](k)) / 2).epsilon(1e-9));
    CHECK(found.chance_largest(0, k) == Approx(std::max(draws[0](k), draws[1](k))).epsilon(1e-9));
  }
  CHECK(one_layer(documents, positions, {3}, 2, 5).chance_mean == found.chance_mean);
  CHECK(one_layer(documents, positions, {3}, 2, 6).chance_mean != found.chance_mean);
}

TEST_CASE("columns that say nothing new change nothing and are not counted") {
  const Matrix positions = rounded_matrix(10, 6, 51);
  const std::vector<Matrix> documents = rounded_documents(6, 10, 5, 52);
  const PositionCorrelation before = one_layer(documents, positions, {3});
  CHECK(before.variables == std::vector<Index>{5});
  std::vector<Matrix> more;
  for (const Matrix& states : documents) {
    Matrix wider(10, 9);
    wider << states, 4 * states.col(2), Matrix::Constant(10, 1, 7.3), Matrix::Zero(10, 1), -states.rowwise().sum();
    more.push_back(wider);
  }
  const PositionCorrelation after = one_layer(more, positions, {3});
  CHECK(after.variables == std::vector<Index>{5});
  CHECK((after.correlation - before.correlation).norm() <= 1e-10);
}

TEST_CASE("a change of basis of the states, another unit of a column and a large mean change nothing") {
  const Matrix positions = rounded_matrix(10, 6, 61);
  std::vector<Matrix> documents = rounded_documents(6, 10, 5, 62);
  const PositionCorrelation before = one_layer(documents, positions, {3});
  const Matrix mix = (4 * rounded_matrix(5, 5, 63)).array().round().matrix();
  for (Matrix& states : documents) {
    states = (states * mix).eval();
    states.col(1) *= 1024;
    states.col(2) /= 1024;
    states.col(4).array() += 1000;
  }
  const PositionCorrelation after = one_layer(documents, positions, {3});
  CHECK(after.variables == before.variables);
  CHECK((after.correlation - before.correlation).norm() <= 1e-8);
}

TEST_CASE("a LayerNorm computed in float32 leaves one column fewer") {
  const Index width = 48;
  std::vector<Matrix> documents = rounded_documents(20, 16, width, 71);
  Random random(72);
  for (Matrix& states : documents)
    for (Index t = 0; t < states.rows(); ++t) {
      Vector32 x = states.row(t).transpose().cast<float>();
      x(3) += 20;  // an outlier, as trained models have
      x.array() -= x.mean();
      x /= std::sqrt(x.squaredNorm() / static_cast<float>(width) + 1e-5F);
      states.row(t) = x.transpose().cast<double>();
    }
  // Its variance is one more equation, but not a linear one.
  CHECK(one_layer(documents, rounded_matrix(16, 20, 73), {4}).variables == std::vector<Index>{width - 1});
}

TEST_CASE("with no more tokens than columns correlations are 1 by construction, and the chance level says so") {
  const Matrix positions = rounded_matrix(5, 8, 81);
  const PositionCorrelation found = one_layer(rounded_documents(2, 5, 30, 82), positions, {2, 4}, 3);
  CHECK(found.variables == std::vector<Index>{9});  // tokens - 1
  for (Index i = 0; i < 2; ++i)
    for (Index k = 0; k < 2 * (i + 1); ++k) {
      CHECK(found.correlation(i, k) == Approx(1.0).epsilon(1e-9));
      CHECK(found.chance_mean(i, k) == Approx(1.0).epsilon(1e-9));
    }
}

TEST_CASE("constant states have no correlation with positions") {
  const PositionCorrelation found =
      one_layer({Matrix::Constant(9, 4, 0.1), Matrix::Constant(9, 4, 0.1)}, rounded_matrix(9, 5, 91), {2}, 2);
  CHECK(found.undefined.empty());
  CHECK(found.variables == std::vector<Index>{0});
  CHECK(found.correlation.array().isNaN().all());
  CHECK(found.chance_largest.array().isNaN().all());
  CHECK(found.fields.front().attributes.count("undefined") == 1);
}

TEST_CASE("truncations beyond the rank of the positions are left out") {
  const std::vector<Matrix> documents = rounded_documents(4, 9, 3, 101);
  const PositionCorrelation found = one_layer(documents, rounded_matrix(9, 5, 102), {8, 2, 5, 2, 6});
  CHECK(found.truncations == std::vector<Index>{2, 5});
  CHECK(found.rank == 5);
  CHECK(found.correlation.cols() == 5);
  CHECK(undefined_reason(position_correlation({moments_of(documents)}, {0}, rounded_matrix(9, 5, 102))) ==
        "the positions have rank 5, below every requested truncation");
}

TEST_CASE("where there are no correlations the one field says why") {
  const std::vector<Matrix> documents = rounded_documents(4, 9, 3, 111);
  const auto reason = [](const PositionCorrelation& found) {
    CHECK(found.fields[0].name == "position_correlation/correlation");
    CHECK(std::isnan(found.fields[0].doubles()[0]));
    return found.undefined;
  };
  CHECK(reason(one_layer(documents, Matrix(0, 0), {2})) == "no position table");
  CHECK(reason(one_layer(documents, Matrix::Ones(9, 4), {2})) == "the positions are all equal");
  CHECK(reason(one_layer(rounded_documents(2, 1, 3, 1), Matrix::Ones(1, 4), {2})) == "the positions are all equal");
  CHECK(undefined_reason(position_correlation({no_moments(9, 3)}, {0}, rounded_matrix(9, 5, 1),
                                              {.truncations = {2}})) == "no documents");
}

TEST_CASE("position correlations describe themselves") {
  const Matrix positions = rounded_matrix(9, 6, 121);
  const std::vector<StateMoments> layers{moments_of(rounded_documents(4, 9, 3, 122)),
                                         moments_of(rounded_documents(4, 9, 3, 123))};
  const std::vector<Field> fields =
      position_correlation(layers, {2, 5}, positions, {.truncations = {2, 4}, .draws = 3, .seed = 9});
  std::set<std::string> names;
  for (const Field& field : fields) {
    names.insert(field.name);
    CHECK(std::get<std::int64_t>(field.attributes.at("tokens")) == 36);
    CHECK(std::get<std::int64_t>(field.attributes.at("d_model")) == 3);
    CHECK(std::get<std::vector<std::int64_t>>(field.axis("layer").values) == std::vector<std::int64_t>{2, 5});
  }
  CHECK(names == std::set<std::string>{"position_correlation/correlation", "position_correlation/chance_mean",
                                       "position_correlation/chance_largest", "position_correlation/variables"});
  const Field& correlation = fields.front();
  CHECK(correlation.name == "position_correlation/correlation");
  CHECK(correlation.size() == 2 * 2 * 4);
  CHECK(std::get<std::vector<std::int64_t>>(correlation.axis("truncation").values) == std::vector<std::int64_t>{2, 4});
  CHECK(std::get<std::vector<std::int64_t>>(correlation.axis("component").values).front() == 1);
  CHECK(std::isnan(correlation.doubles()[2]));      // r = 2 has no third component
  CHECK(std::isnan(correlation.doubles()[4 + 3]));  // three columns have no fourth
  CHECK_FALSE(std::isnan(correlation.doubles()[4 + 2]));
  CHECK(correlation.attributes.count("undefined") == 1);
  CHECK(correlation.attributes.count("by_construction") == 1);
  CHECK(std::get<std::int64_t>(fields[1].attributes.at("seed")) == 9);
  // A layer beside others is what it is alone.
  const PositionCorrelation both(position_correlation(layers, {2, 5}, positions, {.truncations = {2, 4}}));
  const PositionCorrelation second(position_correlation({layers[1]}, {5}, positions, {.truncations = {2, 4}}));
  CHECK(both.correlation.row(3).head(3) == second.correlation.row(1).head(3));
  CHECK(both.chance_mean.row(3).head(3) == second.chance_mean.row(1).head(3));
}

TEST_CASE("position correlations refuse what is not finite") {
  const Matrix positions = rounded_matrix(9, 6, 131);
  const StateMoments layer = moments_of(rounded_documents(4, 9, 3, 132));
  Matrix broken = positions;
  broken(2, 2) = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(position_correlation({layer}, {0}, broken),
                    ContainsSubstring("position_components: an entry of the position table is not finite"));
}

TEST_CASE("the moments of two tokens are the ones on the page") {
  Matrix32 states(2, 2);
  states << 1, 2, 3, -4;
  const StateMoments found = state_moments(states);
  CHECK(found.position_sum == states.cast<double>());
  Matrix second(2, 2);
  second << 10, -10, -10, 20;
  CHECK(found.second_sum == second);
  CHECK(found.document_means() == Eigen::RowVector2d(2, -1));
  states(1, 1) = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_WITH(state_moments(states), ContainsSubstring("state_moments: a hidden state is not finite"));
}

TEST_CASE("second moments are summed in double: float32 would lose these digits") {
  Matrix32 states(2, 1);
  states << 4097.0F, 1.0F;  // 4097^2 = 16785409 needs 25 bits
  CHECK(state_moments(states).second_sum(0, 0) == 16785410.0);
}
