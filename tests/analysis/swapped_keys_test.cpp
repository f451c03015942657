#include <cmath>

#include "../../analysis/predictions/published_scores.h"
#include "../../core/attention/position_term.h"
#include "../catch.h"
#include "drawn_documents.h"

using namespace headwave;

namespace {

SwapScores scores_of(const Vector32& before, const Vector32& after, const std::vector<KeySwap>& swaps,
                     KeySpan open = {0, 4}, double temperature = 0.05) {
  return swap_scores(before, after, swaps, open, temperature);
}

/// One layer of documents of random queries and keys, about a mean.
struct RandomKeys {
  Stack stack;
  AccountSite site;
  AccountSums sums;

  RandomKeys(PositionTerm term, bool causal, Index documents, double query_mean, double query, double key_mean,
             double key) {
    const Index length = 64, width = 8;
    stack = drawn_stack(width, causal);
    stack.block.heads = 2;  // both read one key head
    stack.position_term = std::move(term);
    site = {{{0}, 2}, causal ? AttentionKind::causal : AttentionKind::self, length, 0, &stack};
    const Random random(11);
    for (Index number = 0; number < documents; ++number) {
      Random own = random.stream(static_cast<std::uint64_t>(number));
      AccountDocument document;
      document.number = number;
      document.query_stays.assign(static_cast<std::size_t>(length), 0);
      document.query_stays[0] = 1;
      document.key_stays = document.query_stays;
      LayerQueriesKeys layer{Matrix32(length, 2 * width), Matrix32(length, width)};
      for (float& entry : layer.query.reshaped()) entry = static_cast<float>(query_mean + query * own.normal());
      for (float& entry : layer.key.reshaped()) entry = static_cast<float>(key_mean + key * own.normal());
      document.layers = {layer};
      AccountHalf& half = sums.halves[static_cast<std::size_t>(number % 2)];
      ++half.documents;
      add_to(half.layers, std::vector<LayerQueriesKeys>(document.layers));
      half.to_deal.push_back(std::move(document));
    }
  }
  [[nodiscard]] SwappedKeys scores(SwappedKeysOptions options = {}) const {
    AccountSite here = site;
    here.stack = &stack;
    return swapped_keys(sums, here, options);
  }
};

PositionTerm rotary(double base) {
  RotaryOptions options;
  options.channels = 8;
  options.base = base;
  return {.turned = std::make_shared<RotaryTerm>(options)};
}

}  // namespace

TEST_CASE("swap scores are those of a page", "[analysis]") {
  const Vector32 before = (Vector32(4) << 0.6F, 0.2F, 0.1F, 0.1F).finished();
  const Vector32 stayed = before, moved = (Vector32(4) << 0.2F, 0.6F, 0.1F, 0.1F).finished();
  const double other = (0.6 * 0.2 + 0.2 * 0.6) / (0.36 + 0.04);
  SwapScores scores = scores_of(before, stayed, {{0, 1}});
  CHECK(scores.positional == Approx(1));
  CHECK(scores.symbolic == Approx(other));
  scores = scores_of(before, moved, {{0, 1}});
  CHECK(scores.positional == Approx(other));
  CHECK(scores.symbolic == Approx(1));

  // Two swaps: the one between unlike weights counts exp(0.4 / 0.05) times as much. Equal weights tell nothing apart.
  scores = scores_of(before, moved, {{0, 1}, {2, 3}}, {0, 4}, 0.2);
  const double weight = std::exp(0.4 / 0.2);
  CHECK(scores.positional == Approx((weight * other + 1) / (weight + 1)));
  CHECK(scores.symbolic == Approx(1));

  // Keys that a mask hides, and pairs without any weight, are left out.
  CHECK(scores_of(before, moved, {{0, 1}, {2, 3}}, {0, 3}).positional == Approx(other));
  CHECK(std::isnan(scores_of(before, moved, {{0, 1}}, {1, 3}).positional));
  CHECK(std::isnan(scores_of(Vector32::Zero(4), moved, {{0, 1}}).symbolic));
}

TEST_CASE("random swaps move every free place once", "[analysis]") {
  Random random(3);
  const auto swaps = random_swaps({1, 0, 0, 1, 0, 0, 0, 0}, random);
  REQUIRE(swaps.size() == 3);
  std::vector<int> moved(8, 0);
  for (const KeySwap& swap : swaps) {
    ++moved[static_cast<std::size_t>(swap.a)];
    ++moved[static_cast<std::size_t>(swap.b)];
  }
  CHECK(moved == std::vector<int>{0, 1, 1, 0, 1, 1, 1, 1});
  CHECK(random_swaps({1, 0, 0, 0}, random).size() == 1);
  CHECK(random_swaps({1, 0}, random).empty());
}

TEST_CASE("heads that go by places are positional, heads that go by words are symbolic", "[analysis]") {
  DrawnHead waves, self, next;
  waves.amplitudes = {1.2, 1.1, 1.0, 0.9};
  waves.offset = -3;
  waves.noise = 0.2;
  self.self = next.next = 5;
  self.followed = 0;
  const DrawnJob job({waves, self, next}, 24, Random(1));
  SwappedKeysOptions options;
  options.part = SwappedPart::contents;  // these positions are part of the keys
  const SwappedKeys found = swapped_keys(job.sums, job.site_here(), options);
  CHECK(found.documents == 24);
  CHECK(found.positional[0] > 0.95);
  CHECK(found.symbolic[0] < 0.6);
  for (const Index row : {1, 2}) {
    CHECK(found.symbolic[row] > 0.95);
    CHECK(found.positional[row] < 0.6);
  }
  // Whole keys carry their places along: nothing is left at the place, and every head is symbolic.
  const SwappedKeys whole = swapped_keys(job.sums, job.site_here());
  CHECK(whole.symbolic.minCoeff() == Approx(1).epsilon(1e-6));
}

TEST_CASE("rotary positions and biases stay where keys are swapped", "[analysis]") {
  const SwappedKeys turned = RandomKeys(rotary(20), true, 4, 2, 0.02, 2, 0.02).scores();
  CHECK(turned.positional.minCoeff() > 0.99);
  CHECK(turned.symbolic.maxCoeff() < 0.9);
  // Pairs that hardly turn know no places.
  const SwappedKeys still = RandomKeys(rotary(1e12), true, 4, 0, 1.5, 0, 1.5).scores();
  const SwappedKeys none = RandomKeys({}, true, 4, 0, 1.5, 0, 1.5).scores();
  CHECK(none.symbolic.minCoeff() == Approx(1).epsilon(1e-6));
  CHECK(none.positional.maxCoeff() < 0.7);
  CHECK(still.symbolic.minCoeff() < none.symbolic.minCoeff());
  const SwappedKeys biased = RandomKeys({.added = std::make_shared<LinearBias>(2)}, true, 4, 0, 0.01, 0, 0.01).scores();
  CHECK(biased.positional.minCoeff() > 0.999);
  CHECK(biased.symbolic.minCoeff() < 0.9);
  const SwappedKeys uniform = RandomKeys({}, false, 4, 0, 0.01, 0, 0.01).scores();
  CHECK(uniform.positional.minCoeff() > 0.999);
  CHECK(uniform.symbolic.minCoeff() > 0.999);
}

TEST_CASE("swaps made at once score as swaps made one by one", "[analysis]") {
  const RandomKeys keys(rotary(50), true, 1, 0.5, 1, 0.5, 1);
  const AccountDocument& document = keys.sums.halves[0].to_deal.front();
  const RotaryTerm* term = keys.stack.position_term.turned.get();
  const Index length = keys.site.length, width = 8;
  // Attention of head 1 in double, every weight by itself.
  const auto weights = [&](Matrix key) {
    Matrix query = document.layers[0].query.middleCols(width, width).cast<double>();
    term->turn(query, width);
    term->turn(key, width);
    Matrix result = Matrix::Zero(length, length);
    for (Index i = 0; i < length; ++i) {
      for (Index j = 0; j <= i; ++j) result(i, j) = std::exp(query.row(i).dot(key.row(j)));
      result.row(i) /= result.row(i).sum();
    }
    return result;
  };
  const Matrix key = document.layers[0].key.cast<double>(), before = weights(key);
  SwappedKeysOptions options;
  Random own = Random(options.seed).stream(0);
  const auto swaps = random_swaps(document.key_stays, own);
  Matrix all = Matrix::Zero(length, 3);  // sums of weights, of positional and of symbolic
  for (const KeySwap& swap : swaps) {
    Matrix other = key;
    other.row(swap.a).swap(other.row(swap.b));
    const Matrix after = weights(other);
    for (Index i = std::max(swap.a, swap.b); i < length; ++i) {
      const double a = before(i, swap.a), b = before(i, swap.b), c = after(i, swap.a), d = after(i, swap.b);
      const double weight = std::exp(std::abs(a - b) / options.temperature), size = std::hypot(a, b) * std::hypot(c, d);
      all(i, 0) += weight;
      all(i, 1) += weight * (a * c + b * d) / size;
      all(i, 2) += weight * (b * c + a * d) / size;
    }
  }
  double positional = 0, symbolic = 0, queries = 0;
  for (Index i = 1; i < length; ++i)
    if (all(i, 0) > 0) {
      positional += all(i, 1) / all(i, 0);
      symbolic += all(i, 2) / all(i, 0);
      ++queries;
    }
  const SwappedKeys found = keys.scores(options);
  CHECK(found.positional[1] == Approx(positional / queries).epsilon(1e-5));
  CHECK(found.symbolic[1] == Approx(symbolic / queries).epsilon(1e-5));
  CHECK(found.positional[1] != Approx(found.symbolic[1]).epsilon(0.01));
}

TEST_CASE("threads and the number of queries change little of swap scores", "[analysis]") {
  const RandomKeys keys(rotary(100), false, 6, 1, 1, 1, 1);
  SwappedKeysOptions options;
  const SwappedKeys one = keys.scores(options);
  options.threads = 2;
  CHECK(keys.scores(options).positional == one.positional);
  options.queries = 16;
  CHECK((keys.scores(options).positional - one.positional).cwiseAbs().maxCoeff() < 0.1);
  // One document has no other half to take mean keys from.
  options.part = SwappedPart::contents;
  CHECK(RandomKeys({}, false, 1, 1, 1, 1, 1).scores(options).positional.array().isNaN().all());
}
