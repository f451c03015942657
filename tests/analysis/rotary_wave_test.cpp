#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <ranges>

#include "../../analysis/statistics/false_discovery.h"
#include "../../core/attention/attend.h"
#include "../../core/numbers/random.h"
#include "../catch.h"
#include "test_pass.h"

using namespace headwave;

namespace {

constexpr Index places = 129;  // of a document: offsets up to 64 are searched
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

/// Queries and keys of one document, the same for all tokens: (heads, d_head) each.
struct OneToken {
  Matrix query, key;
};

/// Queries of normal numbers, keys the same turned back by what pairs ask for, and noise for each document.
std::vector<OneToken> documents_of(Asked asked, Index count = 12, double noise = 0.02) {
  const Vector frequency = RotaryTerm(turning()).frequency(0);
  Random random(4);
  OneToken mean{Matrix::Zero(heads, head_channels), Matrix::Zero(heads, head_channels)};
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
  std::vector<OneToken> documents(static_cast<std::size_t>(count), mean);
  for (OneToken& document : documents)
    for (Matrix* part : {&document.query, &document.key})
      for (double& entry : part->reshaped()) entry += asked == Asked::nothing ? 0.0 : noise * random.normal();
  return documents;
}

/// The Fields of these heads.
class Wave {
 public:
  explicit Wave(const std::vector<OneToken>& documents, const RotaryOptions& turned = turning(),
                AttentionKind kind = AttentionKind::causal, double score_scale = 1) {
    TestPass pass{.grid = {{0}, heads}, .kind = kind};
    pass.stack.block.d_head = head_channels;
    pass.stack.block.score_scale = score_scale;
    pass.stack.position_term.turned = std::make_shared<RotaryTerm>(turned);
    std::vector<ShownDocument> shown;
    for (const OneToken& one : documents)
      shown.push_back(
          {document_of(places), [one, kind](Probe& probe) {
             const auto of_all = [](const Matrix& heads_of_one) -> Matrix32 {
               return heads_of_one.reshaped<Eigen::RowMajor>().transpose().replicate(places, 1).cast<float>();
             };
             const Matrix32 query = of_all(one.query), key = of_all(one.key);
             LayerProjections layer;
             layer.kind = kind;
             layer.query = query;
             layer.key = key;
             probe.see(layer);
           }});
    fields_ = pass.fields("rotary_wave", shown);
  }

  /// Numbers of a head, or of a head and a pair of channels.
  [[nodiscard]] double operator()(const std::string& name, Index row, Index entry = 0) const {
    const auto& all = field_of(fields_, "rotary_wave/" + name).doubles();
    return all[static_cast<std::size_t>(row * (std::ssize(all) / heads) + entry)];
  }
  [[nodiscard]] PredictedStatus status(Index row) const {
    const auto& all = std::get<std::vector<std::uint8_t>>(field_of(fields_, "rotary_wave/status").values);
    return static_cast<PredictedStatus>(all[static_cast<std::size_t>(row)]);
  }
  [[nodiscard]] std::complex<double> coefficient(Index row, Index pair) const {
    return {(*this)("coefficient_real", row, pair), (*this)("coefficient_imaginary", row, pair)};
  }
  /// (heads, 129)
  [[nodiscard]] Matrix kernel() const {
    return Eigen::Map<const Matrix>(field_of(fields_, "rotary_wave/kernel").doubles().data(), heads, places);
  }

 private:
  std::vector<Field> fields_;
};

}  // namespace

TEST_CASE("pairs that agree on an offset give it, with its interval", "[analysis]") {
  const Wave wave(documents_of(Asked::one));
  const Vector frequency = RotaryTerm(turning()).frequency(0);
  for (Index row = 0; row < heads; ++row) {
    CHECK(wave.status(row) == PredictedStatus::offset);
    CHECK(wave("predicted_offset", row) == -3);
    CHECK(wave("agreement", row) > 0.9);
    CHECK(wave("q_value", row) <= 0.05);
    CHECK(wave("lower", row) <= -3);
    CHECK(wave("upper", row) >= -3);
    CHECK(wave("predicted_weight", row) > 2.0 / 65);
    // Fast pairs whose mean is well above the noise ask for it too, modulo their period.
    for (Index m = 0; m < 4; ++m) {
      const double period = 2 * 3.14159265358979 / frequency[m];
      if (const auto c = wave.coefficient(row, m); std::abs(c) > 0.5)
        CHECK(std::abs(std::remainder(3 - std::arg(c) / frequency[m], period)) < 0.3);
    }
  }
}

TEST_CASE("pairs in conflict, and pairs without means, give no offset", "[analysis]") {
  const Wave conflict(documents_of(Asked::different)), nothing(documents_of(Asked::nothing));
  Index called = 0;
  double agreement = 0;
  for (Index row = 0; row < heads; ++row) {
    called += conflict.status(row) == PredictedStatus::offset ? 1 : 0;
    agreement += conflict("agreement", row) / heads;
    CHECK(nothing.status(row) == PredictedStatus::nothing);
    CHECK(std::isnan(nothing("predicted_offset", row)));
    CHECK(std::isnan(nothing("estimate", row)));
  }
  CHECK(called <= 1);
  CHECK(agreement < 0.75);
  CHECK(nothing.kernel().leftCols(65).cwiseAbs().maxCoeff() == 0);
}

TEST_CASE("a rotary kernel is the score of mean query and mean key where they stand", "[analysis]") {
  for (const RotaryPairing pairing : {RotaryPairing::halves, RotaryPairing::neighbours}) {
    RotaryOptions turned = turning(48, pairing);  // 16 channels stay
    turned.scaling = RotaryScaling::yarn;
    turned.factor = 4;
    turned.trained = 128;
    turned.attention_factor = 1.1;
    const auto documents = documents_of(Asked::one, 3);
    const Wave wave(documents, turned, AttentionKind::self, 0.125);
    const Matrix query = (documents[0].query + documents[1].query + documents[2].query) / 3;
    const Matrix key = (documents[0].key + documents[1].key + documents[2].key) / 3;
    const RotaryTerm term(turned);
    const Matrix kernel = wave.kernel();
    for (const Index head : {Index{0}, Index{7}}) {
      Matrix queries = query.row(head).replicate(places, 1), keys = key.row(head).replicate(places, 1);
      term.turn(queries, head_channels);
      term.turn(keys, head_channels);
      for (Index t = -20; t <= 20; ++t)
        CHECK(kernel(head, t + 64) == Approx(0.125 * queries.row(50).dot(keys.row(50 + t))).margin(1e-6));
    }
  }
}

TEST_CASE("keys turned by u more move the rotary kernel by -u", "[analysis]") {
  auto documents = documents_of(Asked::one, 6);
  const Wave before(documents);
  const Vector frequency = RotaryTerm(turning()).frequency(0);
  for (OneToken& document : documents)
    for (Index row = 0; row < heads; ++row)
      for (Index m = 0; m < half; ++m) {
        const std::complex<double> k =
            std::complex<double>(document.key(row, m), document.key(row, m + half)) * std::polar(1.0, 2 * frequency[m]);
        document.key(row, m) = k.real();
        document.key(row, m + half) = k.imag();
      }
  const Wave after(documents);
  CHECK((after.kernel().leftCols(60) - before.kernel().middleCols(2, 60)).cwiseAbs().maxCoeff() < 1e-4);
  CHECK(after("predicted_offset", 0) == -5);
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
