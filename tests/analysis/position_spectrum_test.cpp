#include "../../analysis/positions/position_spectrum.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <numbers>
#include <set>

#include <nlohmann/json.hpp>

#include "../../core/numbers/random.h"
#include "../catch.h"
#include "../test_numbers.h"
#include "found_field.h"
#include "golden_json.h"

using namespace headwave;

namespace {

double difference(const Vector& found, const nlohmann::json& expected) {
  const Vector other = vector_of(expected);
  REQUIRE(found.size() == other.size());
  return (found - other).cwiseAbs().maxCoeff();
}

// rows x columns float32 numbers that begin `first` bytes into the file.
Matrix floats_of(const std::filesystem::path& path, std::streamoff first, Index rows, Index columns) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(first);
  Matrix32 values(rows, columns);
  file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * 4));
  REQUIRE(file.good());
  return values.cast<double>();
}

Matrix minilm_positions() {
  const auto path = shared_file("minilm-positions/positions.npy");
  return floats_of(path, static_cast<std::streamoff>(std::filesystem::file_size(path)) - 512 * 384 * 4, 512, 384);
}

Matrix gpt2_positions() {
  const auto path = shared_file("gpt2-small-attention/model.safetensors");
  std::ifstream file(path, std::ios::binary);
  std::uint64_t header_size = 0;
  file.read(reinterpret_cast<char*>(&header_size), 8);
  std::string header(static_cast<std::size_t>(header_size), ' ');
  file.read(header.data(), static_cast<std::streamsize>(header_size));
  const auto first =
      nlohmann::json::parse(header).at("transformer.wpe.weight").at("data_offsets")[0].get<std::uint64_t>();
  return floats_of(path, static_cast<std::streamoff>(8 + header_size + first), 1024, 768);
}

void check_against(const PositionSpectrum& found, const nlohmann::json& expected) {
  const double tolerance = 64 * eps * found.amplitude.maxCoeff();
  CHECK(difference(found.positions.mean, expected.at("mean")) <= tolerance);
  CHECK(difference(found.positions.lower, expected.at("lower")) <= tolerance);
  CHECK(difference(found.positions.upper, expected.at("upper")) <= tolerance);
  CHECK(difference(found.cumulative_energy, expected.at("cumulative_energy")) <= 256 * eps);
}

// Columns cos and sin of the given frequencies in cycles per T.
Matrix columns_of_waves(Index length, const std::vector<double>& frequencies) {
  Matrix positions(length, 2 * static_cast<Index>(frequencies.size()));
  for (Index n = 0; n < length; ++n)
    for (std::size_t m = 0; m < frequencies.size(); ++m) {
      const double angle =
          2.0 * std::numbers::pi * frequencies[m] * static_cast<double>(n) / static_cast<double>(length);
      positions(n, 2 * static_cast<Index>(m)) = std::cos(angle);
      positions(n, 2 * static_cast<Index>(m) + 1) = std::sin(angle);
    }
  return positions;
}

}  // namespace

TEST_CASE("the spectrum of two waves is the one on the page") {
  // Four columns with |DFT| = T/2 = 16 at 3, 3, 7, 7: the mean is 8 at each; half the energy lies at 3.
  const PositionSpectrum found = position_spectrum(columns_of_waves(32, {3, 7}));
  REQUIRE(found.positions.mean.size() == 17);
  CHECK(found.positions.mean(3) == Approx(8.0).epsilon(64 * eps));
  CHECK(found.positions.mean(7) == Approx(8.0).epsilon(64 * eps));
  CHECK(found.positions.upper(3) == Approx(16.0).epsilon(64 * eps));  // of 0, 0, 16, 16
  CHECK(found.positions.lower(3) <= 64 * eps * 16);
  CHECK(found.cumulative_energy(2) <= 64 * eps);
  CHECK(found.cumulative_energy(3) == Approx(0.5).epsilon(64 * eps));
  CHECK(found.cumulative_energy(6) == Approx(0.5).epsilon(64 * eps));
  CHECK(found.cumulative_energy(16) == 1.0);
  REQUIRE(found.peaks.size() == 2);
  std::set<Index> where{found.peaks[0].frequency, found.peaks[1].frequency};
  CHECK(where == std::set<Index>{3, 7});
  CHECK(found.peaks[0].prominence == Approx(8.0).epsilon(64 * eps));
}

TEST_CASE("the highest frequency counts once in the energy, all others twice") {
  // A unit wave at T/2 has |DFT| = T, one at 2 has T/2 at both signs: energies T^2 and 2 (T/2)^2.
  Matrix positions(8, 2);
  for (Index n = 0; n < 8; ++n) {
    positions(n, 0) = n % 2 == 0 ? 1.0 : -1.0;
    positions(n, 1) = std::cos(std::numbers::pi * static_cast<double>(n) / 2.0) + 5.0;  // a constant does not count
  }
  const PositionSpectrum found = position_spectrum(positions);
  CHECK(found.cumulative_energy(2) == Approx(1.0 / 3.0).epsilon(64 * eps));
  CHECK(found.cumulative_energy(3) == Approx(1.0 / 3.0).epsilon(64 * eps));
  CHECK(found.cumulative_energy(0) == 0.0);
}

TEST_CASE("small spectra are numpy's, with every way to prepare columns") {
  const nlohmann::json dump = golden_json("spectra.json");
  REQUIRE(dump.at("small").size() == 2);
  for (const auto& one : dump.at("small")) {
    REQUIRE(one.at("cases").size() == 5);
    const Matrix x = matrix_of(one.at("x"));
    check_against(position_spectrum(x), one.at("summary"));
    for (const auto& expected : one.at("cases")) {
      PositionSpectrumOptions options;
      options.spectrum.demean = expected.at("demean").get<bool>();
      options.spectrum.detrend = expected.at("detrend").get<bool>();
      options.spectrum.window = expected.at("window") == "hann" ? Window::hann : Window::rectangular;
      const SpectrumQuartiles found = position_spectrum(x, {}, options).positions;
      CHECK(difference(found.mean, expected.at("mean")) <= 64 * eps * x.norm());
      CHECK(difference(found.lower, expected.at("lower")) <= 64 * eps * x.norm());
      CHECK(difference(found.upper, expected.at("upper")) <= 64 * eps * x.norm());
    }
  }
}

TEST_CASE("MiniLM's positions peak at 1, 3, 10, 30 and 88 cycles per 512") {
  NEEDS_SHARED("minilm-positions/positions.npy");
  const auto expected = golden_json("spectra.json").at("minilm");
  const PositionSpectrum found = position_spectrum(minilm_positions());
  check_against(found, expected);
  REQUIRE(found.peaks.size() == 8);
  std::set<Index> first;
  for (std::size_t i = 0; i < 5; ++i) first.insert(found.peaks[i].frequency);
  CHECK(first == std::set<Index>{1, 3, 10, 30, 88});
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(found.peaks[i].frequency == expected.at("peaks").at("frequency")[i].get<Index>());
    CHECK(found.peaks[i].prominence ==
          Approx(expected.at("peaks").at("prominence")[i].get<double>()).epsilon(256 * eps));
  }
  PositionSpectrumOptions every;
  every.peaks = 100;
  CHECK(position_spectrum(minilm_positions(), {}, every).peaks.size() == expected.at("peaks").at("frequency").size());
}

TEST_CASE("GPT-2's positions have 96.4 % of their energy at 10 cycles per 1024 or fewer, 95.6 % per 512") {
  NEEDS_SHARED("gpt2-small-attention/model.safetensors");
  const auto expected = golden_json("spectra.json").at("gpt2");
  const Matrix positions = gpt2_positions();
  const PositionSpectrum whole = position_spectrum(positions);
  CHECK(whole.cumulative_energy(10) == Approx(0.964).margin(0.0005));
  CHECK(difference(whole.cumulative_energy, expected.at("1024")) <= 256 * eps);
  REQUIRE(whole.peaks.size() == 1);  // only low frequencies, as published
  CHECK(whole.peaks[0].frequency == 2);
  const PositionSpectrum half = position_spectrum(positions.topRows(512));
  CHECK(half.cumulative_energy(10) == Approx(0.956).margin(0.0005));
  CHECK(difference(half.cumulative_energy, expected.at("512")) <= 256 * eps);
}

TEST_CASE("peaks stand out by what must be descended before higher ground") {
  // One column whose |DFT| is given: zero-phase cosines of these heights at f = 0 .. 9, T = 18.
  const std::vector<double> heights{50, 4, 1, 6, 5, 5.5, 2, 9, 9, 3};
  Matrix positions = Matrix::Zero(18, 1);
  for (Index n = 0; n < 18; ++n)
    for (std::size_t f = 0; f < heights.size(); ++f)
      positions(n, 0) += (f == 0 || f == 9 ? 1.0 : 2.0) * heights[f] / 18.0 *
                         std::cos(2.0 * std::numbers::pi * static_cast<double>(f) * static_cast<double>(n) / 18.0);
  PositionSpectrumOptions options;
  options.minimum_prominence = 0.0;
  // 7 or 8: 9 - 1 (one of the two may be higher by rounding); 3: 6 - 2; 1: 4 - 1; 5: 5.5 - 5.
  const auto peaks = position_spectrum(positions, {}, options).peaks;
  REQUIRE(peaks.size() >= 4);
  CHECK((peaks[0].frequency == 7 || peaks[0].frequency == 8));
  CHECK(peaks[0].prominence == Approx(8.0).epsilon(256 * eps));
  CHECK(peaks[1].frequency == 3);
  CHECK(peaks[1].prominence == Approx(4.0).epsilon(256 * eps));
  CHECK(peaks[2].frequency == 1);
  CHECK(peaks[2].prominence == Approx(3.0).epsilon(256 * eps));
  CHECK(peaks[3].frequency == 5);
  CHECK(peaks[3].prominence == Approx(0.5).epsilon(1e4 * eps));
  options.minimum_prominence = 0.4;  // of 9: 3.6
  CHECK(position_spectrum(positions, {}, options).peaks.size() == 2);
  options.peaks = 1;
  CHECK(position_spectrum(positions, {}, options).peaks.size() == 1);
}

TEST_CASE("words without a rhythm have no peak beside positions that do") {
  Random random(6);
  const Matrix words = Matrix::NullaryExpr(128, 64, [&] { return random.normal(); });
  const PositionSpectrum found = position_spectrum(columns_of_waves(128, {12, 20}), words);
  REQUIRE(found.words.mean.size() == 65);
  const double middle = found.words.mean.segment(1, 63).mean();
  CHECK(found.words.mean.segment(1, 63).maxCoeff() < 1.4 * middle);
  CHECK((found.words.lower.array() <= found.words.upper.array()).all());
  CHECK(found.positions.mean(12) > 10.0 * found.positions.mean.segment(1, 63).mean());
}

TEST_CASE("position spectra describe themselves") {
  Random random(6);
  const Matrix words = Matrix::NullaryExpr(32, 3, [&] { return random.normal(); });
  PositionSpectrumOptions options;
  options.spectrum.detrend = true;
  const std::vector<Field> fields = describe(position_spectrum(columns_of_waves(32, {3, 7}), words, options));
  CHECK(fields.front().name == "position_spectrum/mean");
  for (const Field& one : fields) {
    CHECK(one.group() == "position_spectrum");
    CHECK(std::get<std::string>(one.attributes.at("window")) == "rectangular");
    CHECK(std::get<std::string>(one.attributes.at("detrend")) == "linear");
    CHECK(std::get<std::int64_t>(one.attributes.at("T")) == 32);
  }
  const Axis& frequency = field_of(fields, "position_spectrum/mean").axis("frequency");
  CHECK(frequency.unit == "cycles/T");
  CHECK(std::get<std::vector<std::int64_t>>(frequency.values).back() == 16);
  CHECK(field_of(fields, "position_spectrum/amplitude").axis("column").size() == 4);
  CHECK(field_of(fields, "position_spectrum/amplitude").doubles()[3 * 4 + 0] == Approx(16.0).epsilon(0.1));
  const std::vector<double> peaks = field_of(fields, "position_spectrum/peak_frequency").doubles();
  CHECK(std::set<double>(peaks.begin(), peaks.end()).count(3.0) == 1);
  for (const Field& one : describe(position_spectrum(columns_of_waves(32, {3}))))
    CHECK(one.quantity().find("word") == std::string::npos);
}

TEST_CASE("no positions, no spectrum, and the reason") {
  for (const Matrix& positions : {Matrix(0, 0), Matrix(0, 768), Matrix(Matrix::Ones(1, 4))}) {
    const PositionSpectrum none = position_spectrum(positions);
    CHECK_THAT(none.undefined, ContainsSubstring("position"));
    const std::vector<Field> fields = describe(none);
    REQUIRE(fields.size() == 1);
    CHECK(fields[0].name == "position_spectrum/mean");
    CHECK(std::isnan(fields[0].doubles()[0]));
    CHECK(std::get<std::string>(fields[0].attributes.at("undefined")) == none.undefined);
  }
  CHECK(position_spectrum(Matrix(0, 0)).undefined == "no position table");

  for (const double constant : {0.0, 0.1, 1e5}) {
    for (const bool demean : {false, true}) {
      PositionSpectrumOptions options;
      options.spectrum.demean = demean;
      const std::vector<Field> flat =
          describe(position_spectrum(Matrix(Matrix::Constant(97, 3, constant)), {}, options));
      CHECK(std::isnan(field_of(flat, "position_spectrum/cumulative_energy").doubles()[3]));
      CHECK(field_of(flat, "position_spectrum/cumulative_energy").attributes.count("undefined") == 1);
      CHECK(std::isnan(field_of(flat, "position_spectrum/peak_frequency").doubles()[0]));
      CHECK(field_of(flat, "position_spectrum/peak_frequency").attributes.count("undefined") == 1);
    }
  }
}

TEST_CASE("position spectra refuse what does not fit or is not finite") {
  const Matrix positions = columns_of_waves(32, {3, 7});
  CHECK_THROWS_WITH(position_spectrum(positions, positions.topRows(31)),
                    ContainsSubstring("position_spectrum: found 32 positions but 31 words"));
  Matrix broken = positions;
  broken(5, 1) = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH(position_spectrum(broken), ContainsSubstring("a Fourier transform: an entry is not finite"));
  CHECK_THROWS_WITH(position_spectrum(positions, broken),
                    ContainsSubstring("a Fourier transform: an entry is not finite"));
  CHECK_THROWS_WITH(position_spectrum(Matrix(1e200 * positions)), ContainsSubstring("too large"));
}
