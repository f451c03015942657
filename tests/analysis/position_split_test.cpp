#include "../../analysis/positions/position_split.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <numbers>

#include <nlohmann/json.hpp>

#include "../../core/algebra/decompositions.h"
#include "../../core/numbers/random.h"
#include "../catch.h"
#include "../reference/direct_dft.h"
#include "../test_numbers.h"
#include "golden_json.h"
#include "test_documents.h"

using namespace headwave;

namespace {

/// What is said of layers.
struct PositionSplit {
  explicit PositionSplit(std::vector<Field> found) : fields(std::move(found)), undefined(undefined_reason(fields)) {
    if (!undefined.empty()) return;
    const auto of = [&](const char* quantity) -> const Field& {
      return field_of(fields, std::string("position_split/") + quantity);
    };
    variance_share = matrix_of_field(of("variance_share"), 3);
    spectrum = matrix_of_field(of("spectrum"), of("spectrum").axis("frequency").size());
    noise_share = matrix_of_field(of("noise_share"), 1);
    low_frequency_share = matrix_of_field(of("low_frequency_share"), 1);
    effective_rank = matrix_of_field(of("effective_rank"), 1);
    components = matrix_of_field(of("components"), 1);
    context_overlap = matrix_of_field(of("context_overlap"), 1);
    residual_overlap = matrix_of_field(of("residual_overlap"), 1);
    chance_overlap = matrix_of_field(of("chance_overlap"), 1);
  }

  std::vector<Field> fields;
  std::string undefined;
  Matrix variance_share, spectrum;
  Vector noise_share, low_frequency_share, effective_rank, components, context_overlap, residual_overlap,
      chance_overlap;
};

PositionSplit split_of(const std::vector<StateMoments>& layers, const std::vector<Index>& numbers,
                       const PositionSplitOptions& options = {}) {
  return PositionSplit(position_split(layers, numbers, options));
}

// The parts of every token, in rows (c, t), as they are written: mean, position, context, residual.
std::array<Matrix, 4> direct_parts(const std::vector<Matrix>& documents) {
  const auto count = static_cast<Index>(documents.size());
  const Index length = documents.front().rows(), width = documents.front().cols();
  Matrix by_position = Matrix::Zero(length, width), by_document(count, width);
  for (Index c = 0; c < count; ++c) {
    by_position += documents[static_cast<std::size_t>(c)] / static_cast<double>(count);
    by_document.row(c) = documents[static_cast<std::size_t>(c)].colwise().mean();
  }
  const Eigen::RowVectorXd mean = by_document.colwise().mean();
  std::array<Matrix, 4> parts;
  parts.fill(Matrix(count * length, width));
  for (Index c = 0; c < count; ++c)
    for (Index t = 0; t < length; ++t) {
      const Index row = c * length + t;
      parts[0].row(row) = mean;
      parts[1].row(row) = by_position.row(t) - mean;
      parts[2].row(row) = by_document.row(c) - mean;
      parts[3].row(row) =
          documents[static_cast<std::size_t>(c)].row(t) - by_position.row(t) - by_document.row(c) + mean;
    }
  return parts;
}

// A wave of f cycles along two directions, (T, d): exactly without mean, of rank 2.
Matrix wave(Index length, Index width, double f, double amplitude) {
  Matrix positions = Matrix::Zero(length, width);
  for (Index t = 0; t < length; ++t) {
    const double angle = 2 * std::numbers::pi * f * static_cast<double>(t) / static_cast<double>(length);
    positions(t, 0) = amplitude * std::cos(angle);
    positions(t, 1) = amplitude * std::sin(angle);
  }
  return positions;
}

}  // namespace

TEST_CASE("the split is that of whole arrays in numpy") {
  std::ifstream file(repository_file("tests/golden/position_states.json"));
  const nlohmann::json dump = nlohmann::json::parse(file);
  REQUIRE(dump.size() == 2);
  for (const auto& one : dump) {
    std::vector<Matrix> documents;
    for (const auto& states : one.at("states")) documents.push_back(matrix_of(states));
    const PositionSplit found =
        split_of({moments_of(documents)}, {0}, {.low_frequency = one.at("low_frequency").get<Index>()});
    const auto& expected = one.at("split");
    const auto same = [&](double value, const char* name) {
      CAPTURE(name);
      CHECK(value == Approx(expected.at(name).get<double>()).epsilon(1e-9));
    };
    same(found.noise_share(0), "noise_share");
    same(found.low_frequency_share(0), "low_frequency_share");
    same(found.effective_rank(0), "effective_rank");
    same(found.components(0), "components");
    same(found.context_overlap(0), "context_overlap");
    same(found.residual_overlap(0), "residual_overlap");
    const auto same_row = [&](const Matrix& values, const char* name) {
      CAPTURE(name);
      const auto list = expected.at(name).get<std::vector<double>>();
      REQUIRE(values.cols() == static_cast<Index>(list.size()));
      for (std::size_t i = 0; i < list.size(); ++i)
        CHECK(values(0, static_cast<Index>(i)) == Approx(list[i]).epsilon(1e-9).margin(1e3 * eps));
    };
    same_row(found.variance_share, "variance_share");
    same_row(found.spectrum, "spectrum");
  }
}

TEST_CASE("the split is that of all tokens one by one, at any size") {
  for (const auto& [count, length, width] :
       {std::array<Index, 3>{2, 2, 1}, {3, 3, 4}, {2, 9, 5}, {7, 8, 3}, {5, 3, 8}}) {
    CAPTURE(count, length, width);
    std::vector<Matrix> documents = random_documents(count, length, width, 7);
    for (Matrix& states : documents) states = states.cast<float>().cast<double>();
    const PositionSplit found = split_of({moments_of(documents)}, {4});
    const std::array<Matrix, 4> parts = direct_parts(documents);
    const double total = parts[1].squaredNorm() + parts[2].squaredNorm() + parts[3].squaredNorm();
    for (Index part = 0; part < 3; ++part)
      CHECK(found.variance_share(0, part) ==
            Approx(parts[static_cast<std::size_t>(part) + 1].squaredNorm() / total).epsilon(1e-10).margin(1e3 * eps));
    CHECK(found.variance_share.row(0).sum() == Approx(1.0).epsilon(16 * eps));
    CHECK(found.noise_share(0) * static_cast<double>(count - 1) == Approx(found.variance_share(0, 2)));

    const Matrix position = parts[1].topRows(length);
    const MatrixOf<std::complex<double>> spectrum = direct_dft(position.cast<std::complex<double>>(), length);
    double low = 0, all = 0;
    for (Index f = 1; f < length; ++f) {
      all += spectrum.row(f).squaredNorm();
      if (std::min(f, length - f) <= 10) low += spectrum.row(f).squaredNorm();
    }
    for (Index f = 0; f <= length / 2; ++f)
      CHECK(found.spectrum(0, f) == Approx(spectrum.row(f).cwiseAbs().mean()).margin(1e3 * eps * position.norm()));
    CHECK(found.low_frequency_share(0) == Approx(low / all).epsilon(1e-10));

    Vector square = thin_svd(position).s.cwiseAbs2();
    CHECK(found.effective_rank(0) == Approx(square.sum() * square.sum() / square.squaredNorm()).epsilon(1e-10));
  }
}

TEST_CASE("planted parts come back: their shares, the wave's frequency and rank, and where the residual lies") {
  const Index length = 32, width = 8, count = 6;
  for (const double f : {3.0, 12.0}) {
    for (const bool inside : {false, true}) {
      CAPTURE(f, inside);
      const Matrix positions = wave(length, width, f, 2.0);  // |pos_t|^2 = 4
      std::vector<Matrix> documents;
      for (Index c = 0; c < count; ++c) {
        Matrix states = positions;
        states.rowwise() += Eigen::RowVectorXd::Constant(width, 10);
        states.col(2).array() += c % 2 == 0 ? 1.0 : -1.0;  // |ctx_c|^2 = 1
        // A residual that is balanced over both documents of a pair and positions of a pair; |res|^2 = 9.
        for (Index t = 0; t < length; ++t)
          states(t, inside ? 1 : 5) +=
              3.0 * ((c / 2 % 2 == 0) == (c % 2 == 0) ? 1.0 : -1.0) * (t % 2 == 0 ? 1.0 : -1.0);
        documents.push_back(states);
      }
      const PositionSplit found = split_of({moments_of(documents)}, {0});
      const double tolerance = 1e-6;  // of float32 states
      CHECK(found.variance_share(0, 0) == Approx(4.0 / 14.0).epsilon(tolerance));
      CHECK(found.variance_share(0, 1) == Approx(1.0 / 14.0).epsilon(tolerance));
      CHECK(found.variance_share(0, 2) == Approx(9.0 / 14.0).epsilon(tolerance));
      CHECK(found.noise_share(0) == Approx(9.0 / 14.0 / 5.0).epsilon(tolerance));
      CHECK(found.effective_rank(0) == Approx(2.0).epsilon(tolerance));
      CHECK(found.components(0) == 2);
      CHECK(found.chance_overlap(0) == 0.25);
      CHECK(found.context_overlap(0) == Approx(0.0).margin(tolerance));
      CHECK(found.residual_overlap(0) == Approx(inside ? 1.0 : 0.0).margin(tolerance));
      CHECK(found.low_frequency_share(0) == Approx(f <= 10 ? 1.0 : 0.0).margin(tolerance));
      // Two of eight columns have |DFT| = 2 T / 2 at f.
      CHECK(found.spectrum(0, static_cast<Index>(f)) == Approx(2.0 * 32.0 / 8.0).epsilon(tolerance));
      CHECK(found.spectrum(0, 5) <= 1e-4);
    }
  }
}

TEST_CASE("states that do not depend on their position have the position share expected of noise") {
  // Slowly changing states: dependent along a document, which the expectation does not mind.
  const Index length = 60, width = 20, count = 12;
  std::vector<Matrix> documents;
  for (Index c = 0; c < count; ++c) {
    Matrix states = random_matrix(length + 200, width, 300 + static_cast<std::uint64_t>(c));
    for (Index t = 1; t < states.rows(); ++t) states.row(t) = 0.9 * states.row(t - 1) + 0.5 * states.row(t);
    documents.push_back(states.bottomRows(length));
  }
  const PositionSplit found = split_of({moments_of(documents)}, {0});
  CHECK(found.variance_share(0, 0) == Approx(found.noise_share(0)).epsilon(0.15));
}

TEST_CASE("threads change no digit of a split, and every layer is split by itself") {
  const std::vector<StateMoments> layers{moments_of(random_documents(3, 5, 4, 21)),
                                         moments_of(random_documents(3, 5, 4, 22))};
  const PositionSplit found = split_of(layers, {3, 7}, {.threads = 3}),
                      alone = split_of({layers[1]}, {7}, {.threads = 1});
  CHECK(found.variance_share.row(1) == alone.variance_share.row(0));
  CHECK(found.spectrum.row(1) == alone.spectrum.row(0));
  CHECK(found.residual_overlap(1) == alone.residual_overlap(0));
}

TEST_CASE("where a part is missing what depends on it is undefined, and the rest is not") {
  const auto split = [](const std::vector<Matrix>& documents) { return split_of({moments_of(documents)}, {0}); };
  for (const Index length : {1, 2, 3, 97}) {  // all equal
    CAPTURE(length);
    for (const double value : {0.0, 0.1, 1e4}) {
      const PositionSplit equal = split({7, Matrix::Constant(length, 3, value)});
      CHECK(equal.variance_share.hasNaN());
      CHECK(std::isnan(equal.noise_share(0)));
      CHECK(std::isnan(equal.effective_rank(0)));
      CHECK(std::isnan(equal.low_frequency_share(0)));
      CHECK(std::isnan(equal.residual_overlap(0)));
      CHECK(equal.spectrum.cwiseAbs().maxCoeff() == 0.0);
    }
  }
  // One position: all is context.
  const PositionSplit short_ones = split(random_documents(5, 1, 3, 31));
  CHECK(short_ones.variance_share(0, 1) == 1.0);
  CHECK(short_ones.noise_share(0) == 0.0);
  CHECK(std::isnan(short_ones.components(0)));
  CHECK(short_ones.spectrum.cols() == 1);
  // One document: position would be all of it, whatever its words.
  const PositionSplit single = split(random_documents(1, 6, 3, 32));
  CHECK(single.undefined == "one document: its words cannot be told from its positions");
  // No residual: documents and positions add.
  const Matrix positions = (256 * random_matrix(6, 3, 33)).array().round().matrix();
  std::vector<Matrix> sums;
  for (Index c = 0; c < 4; ++c) sums.emplace_back(positions.array() + 100.0 * static_cast<double>(c));
  const PositionSplit added = split(sums);
  CHECK(added.variance_share(0, 2) == 0.0);
  CHECK(std::isnan(added.residual_overlap(0)));
  CHECK_FALSE(std::isnan(added.context_overlap(0)));

  const PositionSplit none = split_of({no_moments(4, 3)}, {0});
  CHECK(none.undefined == "no documents");
  CHECK(none.fields[0].name == "position_split/variance_share");
}

TEST_CASE("a mean a thousand times the rest costs no more than its digits") {
  std::vector<Matrix> documents = random_documents(6, 9, 4, 41);
  for (Matrix& states : documents) states = (256 * states).array().round() / 256;
  const PositionSplit before = split_of({moments_of(documents)}, {0});
  for (Matrix& states : documents) states.array() += 1024;
  const PositionSplit after = split_of({moments_of(documents)}, {0});
  CHECK((after.variance_share - before.variance_share).norm() <= 1e-8);
  CHECK(std::abs(after.residual_overlap(0) - before.residual_overlap(0)) <= 1e-8);
}

TEST_CASE("all of the variance asked for takes all components") {
  const std::vector<Matrix> documents = random_documents(4, 6, 9, 51);
  CHECK(split_of({moments_of(documents)}, {0}, {.subspace_share = 1.0}).components(0) == 5);
  CHECK(split_of({moments_of(documents)}, {0}, {.subspace_share = 1e-9}).components(0) == 1);
}

TEST_CASE("position splits describe themselves: what is undefined says why, what is not does not") {
  const std::vector<StateMoments> layers{moments_of(random_documents(3, 9, 4, 61)),
                                         moments_of({3, Matrix::Ones(9, 4)})};
  const std::vector<Field> fields = position_split(layers, {0, 5}, {.low_frequency = 3});
  for (const Field& field : fields) {
    CAPTURE(field.name);
    CHECK(field.group() == "position_split");
    CHECK(std::get<std::vector<std::int64_t>>(field.axis("layer").values) == std::vector<std::int64_t>{0, 5});
    CHECK(std::get<std::int64_t>(field.attributes.at("documents")) == 3);
    const auto& values = field.doubles();
    const bool undefined = std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); });
    REQUIRE(field.attributes.count("undefined") == (undefined ? 1 : 0));
  }
  CHECK(fields.front().quantity() == "variance_share");
  CHECK(std::get<std::vector<std::string>>(fields.front().axis("part").values) ==
        std::vector<std::string>{"position", "context", "residual"});
}
