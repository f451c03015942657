#include "../../analysis/why/rotary_wave.h"

#include <array>
#include <cmath>
#include <complex>
#include <numbers>

#include "../../core/attention/attend.h"
#include "../../core/numbers/random.h"
#include "../catch.h"
#include "test_pass.h"

using namespace headwave;

namespace {

constexpr Index heads = 12, head_channels = 64, half = head_channels / 2;

RotaryOptions turning(Index channels = head_channels, RotaryPairing pairing = RotaryPairing::halves) {
  RotaryOptions options;
  options.channels = channels;
  options.pairing = pairing;
  return options;
}

/// What every head's pairs ask for.
enum class Asked {
  one,        ///< all pairs for the offset -3
  different,  ///< every pair for an offset of its own
  nothing,    ///< mean queries and keys are zero
};

/// Mean queries of normal numbers, mean keys the same turned back by what pairs ask for, and noise for each document.
std::vector<DocumentRotary> documents_of(Asked asked, Index count = 12, double noise = 0.02) {
  const Vector frequency = RotaryTerm(turning()).frequency(0);
  Random random(4);
  DocumentRotary mean{Matrix::Zero(heads, head_channels), Matrix::Zero(heads, head_channels), Matrix::Ones(heads, half),
                      Matrix::Ones(heads, half)};
  for (Index row = 0; row < heads && asked != Asked::nothing; ++row)
    for (Index m = 0; m < half; ++m) {
      const double offset = asked == Asked::one ? -3 : 40 * (random.uniform() - 0.5);
      const std::complex<double> q(random.normal(), random.normal());
      const std::complex<double> k =
          q * std::polar(1.0, asked == Asked::one ? -frequency[m] * offset : 6.3 * random.uniform());
      mean.query(row, m) = q.real();
      mean.query(row, m + half) = q.imag();
      mean.key(row, m) = k.real();
      mean.key(row, m + half) = k.imag();
    }
  std::vector<DocumentRotary> documents(static_cast<std::size_t>(count), mean);
  for (DocumentRotary& document : documents)
    for (Matrix* part : {&document.query, &document.key})
      for (double& entry : part->reshaped()) entry += asked == Asked::nothing ? 0.0 : noise * random.normal();
  return documents;
}

/// Where all layers turn alike.
RotaryWave wave_of(const std::vector<DocumentRotary>& documents, const HeadGrid& grid, const RotaryTerm& term,
                   const RotaryWaveOptions& options) {
  return rotary_wave(documents, grid, std::vector<const RotaryTerm*>(grid.layers.size(), &term), options);
}

RotaryWave wave_of(Asked asked, const RotaryWaveOptions& options = {}) {
  return wave_of(documents_of(asked), {{0}, heads}, RotaryTerm(turning()), options);
}

}  // namespace

TEST_CASE("pairs that agree on an offset give it, with its interval", "[analysis]") {
  const RotaryWave wave = wave_of(Asked::one);
  for (Index row = 0; row < heads; ++row) {
    CHECK(wave.status[static_cast<std::size_t>(row)] == PredictedStatus::offset);
    CHECK(wave.offset[row] == -3);
    CHECK(wave.agreement[row] > 0.9);
    CHECK(wave.q_value[row] <= 0.05);
    CHECK(wave.lower[row] <= -3);
    CHECK(wave.upper[row] >= -3);
    CHECK(wave.weight[row] > 2.0 / 65);
    // Fast pairs whose mean is well above the noise ask for it too, modulo their period.
    for (Index m = 0; m < 4; ++m) {
      const double period = 2 * 3.14159265358979 / wave.frequency[m];
      if (std::abs(wave.coefficient(row, m)) > 0.5)
        CHECK(std::abs(std::remainder(3 - std::arg(wave.coefficient(row, m)) / wave.frequency[m], period)) < 0.3);
    }
  }
}

TEST_CASE("pairs in conflict, and pairs without means, give no offset", "[analysis]") {
  const RotaryWave conflict = wave_of(Asked::different);
  Index called = 0;
  for (const PredictedStatus status : conflict.status) called += status == PredictedStatus::offset ? 1 : 0;
  CHECK(called <= 1);
  CHECK(conflict.agreement.mean() < 0.75);
  const RotaryWave nothing = wave_of(Asked::nothing);
  for (Index row = 0; row < heads; ++row) {
    CHECK(nothing.status[static_cast<std::size_t>(row)] == PredictedStatus::nothing);
    CHECK(std::isnan(nothing.offset[row]));
    CHECK(std::isnan(nothing.estimate[row]));
    CHECK(nothing.kernel.row(row).head(65).cwiseAbs().maxCoeff() == 0);
  }
}

TEST_CASE("a rotary kernel is the score of mean query and mean key where they stand", "[analysis]") {
  for (const RotaryPairing pairing : {RotaryPairing::halves, RotaryPairing::neighbours}) {
    RotaryOptions turned = turning(48, pairing);  // 16 channels stay
    turned.scaling = RotaryScaling::yarn;
    turned.factor = 4;
    turned.trained = 128;
    turned.attention_factor = 1.1;
    const RotaryTerm term(turned);
    const auto documents = documents_of(Asked::one, 3);
    RotaryWaveOptions options;
    options.reach = 20;
    options.causal = false;
    options.score_scale = 0.125;
    options.length = 100;
    const RotaryWave wave = wave_of(documents, {{0}, heads}, term, options);
    const Matrix query = (documents[0].query + documents[1].query + documents[2].query) / 3;
    const Matrix key = (documents[0].key + documents[1].key + documents[2].key) / 3;
    for (const Index head : {Index{0}, Index{7}}) {
      Matrix queries = query.row(head).replicate(100, 1), keys = key.row(head).replicate(100, 1);
      term.turn(queries, head_channels);
      term.turn(keys, head_channels);
      for (Index t = -20; t <= 20; ++t)
        CHECK(wave.kernel(head, t + 20) == Approx(0.125 * queries.row(50).dot(keys.row(50 + t))).margin(1e-10));
    }
  }
}

TEST_CASE("keys turned by u more move the rotary kernel by -u", "[analysis]") {
  auto documents = documents_of(Asked::one, 6);
  const RotaryTerm term(turning());
  const RotaryWave before = wave_of(documents, {{0}, heads}, term, {});
  const Vector frequency = term.frequency(0);
  for (DocumentRotary& document : documents)
    for (Index row = 0; row < heads; ++row)
      for (Index m = 0; m < half; ++m) {
        const std::complex<double> k =
            std::complex<double>(document.key(row, m), document.key(row, m + half)) * std::polar(1.0, 2 * frequency[m]);
        document.key(row, m) = k.real();
        document.key(row, m + half) = k.imag();
      }
  const RotaryWave after = wave_of(documents, {{0}, heads}, term, {});
  CHECK((after.kernel.leftCols(60) - before.kernel.middleCols(2, 60)).cwiseAbs().maxCoeff() < 1e-10);
  CHECK(after.offset[0] == -5);
}

TEST_CASE("a rotary probe averages what stands before the turn, the first token left out", "[analysis]") {
  const Index length = 9, small = 4;
  Random random(2);
  Matrix32 query(length, 2 * small), key(length, small);
  for (float& entry : query.reshaped()) entry = static_cast<float>(random.normal());
  for (float& entry : key.reshaped()) entry = static_cast<float>(random.normal());
  RotaryOptions two_pairs = turning(small);
  const auto term = std::make_shared<RotaryTerm>(two_pairs);
  Stack stack;
  stack.block.d_head = small;
  stack.block.kv_heads = 1;
  stack.block.score_scale = 0.5;
  stack.position_term.turned = term;
  const auto shown = [&](Probe& probe) {
    std::array<Probe*, 1> probes{&probe};
    attend<float>({query, key, {}, 2, 1, 0.5, {.turned = term}}, {true, {}, 0}, {3, AttentionKind::causal}, probes);
  };
  const TestPass pass{.grid = {{3}, 2}, .kind = AttentionKind::causal, .stack = stack};
  const std::vector<Field> found = pass.fields("rotary_wave", {{document_of(length), shown}});
  const Matrix wide_query = query.bottomRows(length - 1).cast<double>(),
               wide_key = key.bottomRows(length - 1).cast<double>();
  const auto pair = [](const Matrix& rows, Index m) {
    return std::complex<double>(rows.col(m).mean(), rows.col(m + 2).mean());
  };
  const auto modulus = [](const Matrix& rows, Index m) {
    return (rows.col(m).cwiseAbs2() + rows.col(m + 2).cwiseAbs2()).cwiseSqrt().mean();
  };
  for (Index head = 0; head < 2; ++head)
    for (Index m = 0; m < 2; ++m) {
      const Matrix own = wide_query.middleCols(head * small, small);  // both read the one key head
      const std::complex<double> expected = 0.5 * std::conj(pair(own, m)) * pair(wide_key, m);
      const auto at = static_cast<std::size_t>(2 * head + m);
      CHECK(field_of(found, "rotary_wave/coefficient_real").doubles()[at] == Approx(expected.real()).margin(1e-12));
      CHECK(field_of(found, "rotary_wave/coefficient_imaginary").doubles()[at] ==
            Approx(expected.imag()).margin(1e-12));
      CHECK(field_of(found, "rotary_wave/use").doubles()[at] == Approx(0.5 * modulus(own, m) * modulus(wide_key, m)));
    }
}

TEST_CASE("a rotary wave of no document is refused", "[analysis]") {
  CHECK_THROWS_AS(wave_of({}, {{0}, 1}, RotaryTerm(turning()), {}), ShapeError);
}
