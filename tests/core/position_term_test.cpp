#include "../../core/attention/position_term.h"

#include <array>
#include <cmath>

#include "../../core/attention/attend.h"
#include "../../core/errors/error.h"
#include "../../core/numbers/random.h"
#include "../catch.h"
#include "../test_numbers.h"

using namespace headwave;

namespace {

/// Keeps the unmasked scores and the weights of every head of one layer.
class KeptScores : public Probe {
 public:
  using Probe::see;
  [[nodiscard]] bool wants_scores() const override { return true; }
  void see(const Tile&) override {}
  void see(const Tile64& tile) override {
    if (tile.first_row == 0) {
      scores.assign(tile.weights.size(), Matrix::Zero(tile.queries, tile.keys));
      weights = scores;
    }
    for (std::size_t h = 0; h < tile.weights.size(); ++h) {
      scores[h].middleRows(tile.first_row, tile.rows()) = tile.scores[h];
      weights[h].middleRows(tile.first_row, tile.rows()) = tile.weights[h];
    }
  }
  std::vector<Matrix> scores, weights;
};

}  // namespace

TEST_CASE("rotary scores depend on the offset alone") {
  for (const RotaryPairing pairing : {RotaryPairing::halves, RotaryPairing::neighbours}) {
    // The same query and the same key at every position.
    const Index length = 40;
    Matrix query = random_matrix(1, 16, 1).replicate(length, 1);
    Matrix key = random_matrix(1, 16, 2).replicate(length, 1);
    RotaryOptions options;
    options.channels = 8;
    options.base = 100;
    options.pairing = pairing;
    const RotaryTerm term(options);
    term.turn(query, 8);
    term.turn(key, 8);
    for (Index head = 0; head < 2; ++head) {
      const Matrix scores = query.middleCols(8 * head, 8) * key.middleCols(8 * head, 8).transpose();
      for (Index t = 1 - length; t < length; ++t) {
        const auto diagonal = scores.diagonal(t);
        CHECK((diagonal.array() - diagonal[0]).abs().maxCoeff() < 64 * 1e-15 * scores.cwiseAbs().maxCoeff());
      }
      CHECK(std::abs(scores(0, 0) - scores(0, 7)) > 1e-3);
    }
  }
}

TEST_CASE("rotary positions by hand") {
  // One pair, base irrelevant: f = 1. (1, 0) at position 2 becomes (cos 2, sin 2); what lies beyond the pair stays.
  RotaryOptions options;
  options.channels = 2;
  const RotaryTerm term(options);
  Matrix rows(3, 3);
  rows << 1, 0, 5, 1, 0, 5, 1, 0, 5;
  term.turn(rows, 3);
  CHECK(rows(2, 0) == Approx(std::cos(2.0)));
  CHECK(rows(2, 1) == Approx(std::sin(2.0)));
  CHECK(rows(2, 2) == 5);
  CHECK(term.kernel(2)[4] == Approx(std::cos(2.0)));
  CHECK_THROWS_WITH(term.turn(rows, 2),
                    ContainsSubstring("RotaryTerm: 2 channels turn from channel 0 on, which needs heads of at"));
  options.channels = 3;
  CHECK_THROWS_WITH(RotaryTerm(options), ContainsSubstring("3 channels cannot turn in pairs"));
}

TEST_CASE("longrope divides the frequency of each pair by a factor of its own") {
  RotaryOptions options;
  options.channels = 6;
  options.base = 1000;
  options.scaling = RotaryScaling::longrope;
  options.trained = 10;
  options.short_factors = options.long_factors = {1, 2, 8};
  const Vector frequency = RotaryTerm(options).frequency(10);
  CHECK(frequency[0] == 1);
  CHECK(frequency[1] == Approx(0.1 / 2));
  CHECK(frequency[2] == Approx(0.01 / 8));
  options.long_factors[2] = 16;
  CHECK(RotaryTerm(options).frequency(11)[2] == Approx(0.01 / 16));
  options.short_factors.pop_back();
  CHECK_THROWS_WITH(RotaryTerm(options),
                    ContainsSubstring("RotaryTerm: 2 factors of longrope, but 3 pairs of channels turn"));
}

TEST_CASE("linear biases: slopes of eight heads are halves, of twelve the eight and every second of sixteen") {
  const LinearBias eight(8);
  for (Index h = 0; h < 8; ++h) CHECK(eight.kernel(h, 3)[0] == -3 * std::exp2(-static_cast<double>(h + 1)));
  const LinearBias twelve(12);
  CHECK(twelve.kernel(7, 1)[2] == std::exp2(-8.0));
  CHECK(twelve.kernel(8, 1)[2] == std::exp2(-0.5));
  CHECK(twelve.kernel(11, 1)[2] == std::exp2(-3.5));
}

TEST_CASE("buckets: near distances have their own, far ones share, right and left are told apart") {
  const Matrix32 bias = random_matrix(32, 2, 3).cast<float>();
  const BucketBias both(bias, {128, true});
  CHECK(both.bucket(0) == 0);
  CHECK(both.bucket(-7) == 7);
  CHECK(both.bucket(7) == 23);
  CHECK(both.bucket(-8) == 8);
  CHECK(both.bucket(-128) == 15);
  CHECK(both.bucket(-100000) == 15);
  CHECK(both.bucket(100000) == 31);
  const BucketBias back(bias, {128, false});
  CHECK(back.bucket(5) == 0);
  CHECK(back.bucket(-15) == 15);
  CHECK(back.bucket(-127) == 31);
  for (Index t = -200; t < 200; ++t) CHECK(both.bucket(-std::abs(t) - 1) >= both.bucket(-std::abs(t)));
  CHECK_THROWS_WITH(BucketBias(bias, {8, true}),
                    ContainsSubstring("BucketBias: 16 buckets per side for distances up to 8"));
}

TEST_CASE("what an additive term adds to the scores is its kernel, an exact Toeplitz matrix") {
  const Index length = 90;  // more than one tile
  const Matrix query = random_matrix(length, 8, 4), key = random_matrix(length, 8, 5),
               value = random_matrix(length, 6, 6);
  const Matrix32 bias = random_matrix(8, 2, 7).cast<float>();
  const auto linear = std::make_shared<LinearBias>(2);
  const auto buckets = std::make_shared<BucketBias>(bias, BucketOptions{20, true});
  for (const PositionTerm& term : {PositionTerm{.added = linear}, PositionTerm{.added = buckets}}) {
    KeptScores plain, with;
    const std::array<Probe*, 1> see_plain{&plain}, see_with{&with};
    HeadInputs<double> inputs{query, key, value, 2, 2, 0.5};
    attend<double>(inputs, {}, {}, see_plain);
    inputs.position_term = term;
    const Matrix came = attend<double>(inputs, {}, {}, see_with);
    for (Index h = 0; h < 2; ++h) {
      const auto head = static_cast<std::size_t>(h);
      Matrix toeplitz(length, length);
      const Vector kernel = term.added->kernel(h, length - 1);
      for (Index i = 0; i < length; ++i) toeplitz.row(i) = kernel.segment(length - 1 - i, length);
      const double size = with.scores[head].cwiseAbs().maxCoeff();
      CHECK((with.scores[head] - plain.scores[head] - toeplitz).cwiseAbs().maxCoeff() < 16 * 1e-16 * size);
      // And the softmax is that of the sum: the same as an additive mask that holds the kernel.
      const Matrix q = query.middleCols(4 * h, 4), k = key.middleCols(4 * h, 4), v = value.middleCols(3 * h, 3);
      Mask<double> mask;
      mask.additive = toeplitz;
      const Matrix expected = attend<double>({q, k, v, 1, 1, 0.5}, mask, {}, {});
      CHECK((came.middleCols(3 * h, 3) - expected).cwiseAbs().maxCoeff() < 64 * 1e-16 * length);
    }
  }
}

TEST_CASE("a window forbids what lies further back") {
  const Matrix query = random_matrix(70, 4, 8), key = random_matrix(70, 4, 9);
  KeptScores kept;
  const std::array<Probe*, 1> probes{&kept};
  Mask<double> mask;
  mask.causal = true;
  mask.window = 3;
  attend<double>({query, key, {}, 1, 1, 1.0}, mask, {}, probes);
  for (Index i = 0; i < 70; ++i)
    for (Index j = 0; j < 70; ++j) CHECK((kept.weights[0](i, j) > 0) == (j <= i && i - j < 3));
  CHECK((kept.weights[0].rowwise().sum().array() - 1).abs().maxCoeff() < 8 * 1e-16);
}

TEST_CASE("sinusoids: the paper's layout, and the concatenated one with its own spacing") {
  const Matrix32 paper = sinusoids(20, 6);
  for (Index n = 0; n < 20; ++n)
    for (Index i = 0; i < 3; ++i) {
      const double angle = static_cast<double>(n) / std::pow(10000.0, 2.0 * static_cast<double>(i) / 6.0);
      CHECK(paper(n, 2 * i) == Approx(std::sin(angle)).margin(1e-7));
      CHECK(paper(n, 2 * i + 1) == Approx(std::cos(angle)).margin(1e-7));
    }
  const Matrix32 other = sinusoids(5, 6, {SinusoidLayout::concatenated, 10000, 1, true});
  CHECK(other(0, 0) == Approx(std::sin(1.0)));
  CHECK(other(0, 3) == Approx(std::cos(1.0)));
  CHECK(other(4, 2) == Approx(std::sin(5e-4)));
  CHECK_THROWS_WITH(sinusoids(5, 3),
                    ContainsSubstring("sinusoids: expected an even width of at least 2, since each sine has a"));
}
