#include <cmath>
#include <limits>

#include "../../core/attention/position_term.h"
#include "../../core/model/intervention.h"
#include "../catch.h"
#include "../test_numbers.h"
#include "tiny_rotary_model.h"

using namespace headwave;

namespace {

RotaryOptions rotary(RotaryPairing pairing, Index channels = 4) {
  RotaryOptions options;
  options.channels = channels;
  options.base = 50;
  options.pairing = pairing;
  return options;
}

/// Rotations of many kinds, all of which leave channels 4 and 5 of a head's six alone.
std::vector<RotaryOptions> rotations() {
  std::vector<RotaryOptions> all{rotary(RotaryPairing::halves), rotary(RotaryPairing::neighbours)};
  for (const RotaryScaling scaling : {RotaryScaling::linear, RotaryScaling::llama3, RotaryScaling::yarn}) {
    RotaryOptions scaled = rotary(RotaryPairing::halves);
    scaled.scaling = scaling;
    scaled.factor = 3;
    scaled.trained = 40;
    if (scaling == RotaryScaling::yarn) scaled.attention_factor = 1.3;
    all.push_back(scaled);
  }
  return all;
}

/// Pair (a, b) of query i and key j, turned by theta (j - i + u): Re conj(q) k e^{i theta (j - i + u)}.
double pair_score(const Eigen::RowVectorXd& q, const Eigen::RowVectorXd& k, Index a, Index b, double angle) {
  return (q[a] * k[a] + q[b] * k[b]) * std::cos(angle) + (q[b] * k[a] - q[a] * k[b]) * std::sin(angle);
}

/// Scores of a head from queries and keys before rotation, turned by u, without pairs first .. last.
Matrix scores_by_hand(const SeenAttention& seen, Index head, const RotaryOptions& options, Index u, Index first = 0,
                      Index last = -1) {
  const Vector theta = RotaryTerm(options).frequency(0);
  const double gain = options.attention_factor * options.attention_factor;
  Matrix scores(seen.query.rows(), seen.key.rows());
  for (Index i = 0; i < scores.rows(); ++i)
    for (Index j = 0; j < scores.cols(); ++j) {
      const Eigen::RowVectorXd q = seen.query.block(i, head * 6, 1, 6).cast<double>();
      const Eigen::RowVectorXd k = seen.key.block(j, head / 2 * 6, 1, 6).cast<double>();
      double sum = q.tail(6 - options.channels).dot(k.tail(6 - options.channels));
      for (Index m = 0; m < theta.size(); ++m) {
        if (m >= first && m <= last) continue;
        const bool halves = options.pairing == RotaryPairing::halves;
        sum += gain * pair_score(q, k, halves ? m : 2 * m, halves ? m + theta.size() : 2 * m + 1,
                                 theta[m] * static_cast<double>(j - i + u));
      }
      scores(i, j) = 0.3 * sum;
    }
  return scores;
}

const std::vector<std::int32_t> some_words{3, 7, 1, 9, 9, 14, 2, 0, 19, 5, 3, 7};

}  // namespace

TEST_CASE("a turned head has the scores that it would have u tokens further on, and no other head moves") {
  for (const RotaryOptions& options : rotations())
    for (const Index u : {2, -3, 100}) {
      const TinyRotaryModel tiny(options);
      const SeenAttention before(tiny.model, words(some_words), 0);
      // L0H2 and L0H3 read one key head.
      const SeenAttention after(turned(tiny.model, {{0, 2}, {1, 0}}, u), words(some_words), 0);
      for (const Index head : {0, 1, 3})
        CHECK(after.scores[static_cast<std::size_t>(head)] == before.scores[static_cast<std::size_t>(head)]);
      CHECK(after.key == before.key);
      const Matrix expected = scores_by_hand(before, 2, options, u);
      CHECK((after.scores[2].cast<double>() - expected).cwiseAbs().maxCoeff() <
            16 * float_eps * expected.cwiseAbs().maxCoeff());
    }
}

TEST_CASE("where every word is the same, turning by u moves the scores of any layer by -u") {
  const TinyRotaryModel tiny(rotary(RotaryPairing::neighbours));
  const Document same = words(std::vector<std::int32_t>(12, 7));
  for (const Index layer : {0, 1}) {
    const Index u = 3;
    const SeenAttention before(tiny.model, same, layer);
    const SeenAttention after(turned(tiny.model, {{0, 0}, {0, 3}, {1, 1}}, u), same, layer);
    const Matrix32& moved = after.scores[layer == 0 ? 3 : 1];
    const Matrix32& was = before.scores[layer == 0 ? 3 : 1];
    CHECK((moved.leftCols(12 - u) - was.rightCols(12 - u)).cwiseAbs().maxCoeff() <
          32 * static_cast<float>(float_eps) * was.cwiseAbs().maxCoeff());
    CHECK((moved - was).cwiseAbs().maxCoeff() > 0.1F);
  }
}

TEST_CASE("a head planted in the phases looks u tokens further back when it is turned by u") {
  for (const RotaryPairing pairing : {RotaryPairing::halves, RotaryPairing::neighbours}) {
    TinyRotaryModel tiny(rotary(pairing, 6));
    const RotaryOptions options = rotary(pairing, 6);
    // C_m = e^{-i theta_m t*} in every head: the same query and key for every word.
    constexpr Index offset = -4;
    const Vector theta = RotaryTerm(options).frequency(0);
    Vector32 query = Vector32::Zero(24), key = Vector32::Zero(12);
    for (Index m = 0; m < 3; ++m) {
      const auto [a, b] = channels_of(options, m);
      for (Index head = 0; head < 4; ++head) query[6 * head + a] = 5;
      for (Index head = 0; head < 2; ++head) {
        key[6 * head + a] = static_cast<float>(std::cos(theta[m] * -offset));
        key[6 * head + b] = static_cast<float>(std::sin(theta[m] * -offset));
      }
    }
    const Matrix32 nothing_of_query = Matrix32::Zero(24, 8), nothing_of_key = Matrix32::Zero(12, 8);
    tiny.model.stack.blocks[0].self.query = {nothing_of_query, query};
    tiny.model.stack.blocks[0].self.key = {nothing_of_key, key};
    const auto looks_at = [](const Matrix32& weights, Index row) {
      Index best = 0;
      weights.row(row).maxCoeff(&best);
      return best - row;
    };
    for (const Index u : {2, -3, 5}) {
      const SeenAttention after(turned(tiny.model, {{0, 1}}, u), words(some_words), 0);
      for (const Index row : {9, 10, 11}) {
        CHECK(looks_at(after.weights[1], row) == offset - u);
        CHECK(looks_at(after.weights[0], row) == offset);
      }
    }
  }
}

TEST_CASE("without pairs, scores are those of the other pairs, in all heads of all layers") {
  for (const RotaryOptions& options : rotations()) {
    const TinyRotaryModel tiny(options);
    const Model changed = without_pairs(tiny.model, 1, 1);
    const SeenAttention before(tiny.model, words(some_words), 0), after(changed, words(some_words), 0);
    for (Index head = 0; head < 4; ++head) {
      const Matrix expected = scores_by_hand(before, head, options, 0, 1, 1);
      CHECK((after.scores[static_cast<std::size_t>(head)].cast<double>() - expected).cwiseAbs().maxCoeff() <
            16 * float_eps * expected.cwiseAbs().maxCoeff());
    }
    const auto [a, b] = channels_of(options, 1);
    const SeenAttention second(changed, words(some_words), 1);
    for (Index head = 0; head < 4; ++head) {
      CHECK(second.query.col(6 * head + a).isZero(0));
      CHECK(second.query.col(6 * head + b).isZero(0));
      CHECK_FALSE(second.query.col(6 * head).isZero(0.1F));
    }
  }
}

TEST_CASE("without all pairs of a head that turns whole nothing is left to say") {
  const TinyRotaryModel tiny(rotary(RotaryPairing::halves, 6));
  const SeenAttention after(without_pairs(tiny.model, 0, 2), words(some_words), 1);
  for (const Matrix32& scores : after.scores) CHECK(scores.isZero(0));
}

TEST_CASE("what is not rotary, and what is not there, cannot be turned or left out") {
  const TinyRotaryModel tiny(rotary(RotaryPairing::halves));
  CHECK_THROWS_WITH(turned(tiny.model, {{0, 4}}, 1), ContainsSubstring("there is no L0H4; the model has 2"));
  CHECK_THROWS_WITH(turned(tiny.model, {{0, 1}}, 0), ContainsSubstring("by 0 tokens"));
  CHECK_THROWS_WITH(turned(tiny.model, {{0, 1}, {1, 1}, {0, 1}}, 1), ContainsSubstring("L0H1 is named twice"));
  CHECK_THROWS_WITH(without_pairs(tiny.model, 1, 2), ContainsSubstring("expected pairs within 0 to 1"));
  CHECK_THROWS_AS(without_pairs(tiny.model, -1, 0), ShapeError);
  CHECK_THROWS_AS(without_pairs(tiny.model, 1, 0), ShapeError);

  RotaryOptions dynamic = rotary(RotaryPairing::halves);
  dynamic.scaling = RotaryScaling::dynamic;
  dynamic.trained = 40;
  CHECK_THROWS_WITH(turned(TinyRotaryModel(dynamic).model, {{0, 1}}, 1), ContainsSubstring("dynamic scaling"));
  CHECK_NOTHROW(without_pairs(TinyRotaryModel(dynamic).model, 0, 1));
  const TinyRotaryModel wide(rotary(RotaryPairing::halves, 8));
  CHECK_THROWS_WITH(turned(wide.model, {{0, 1}}, 1), ContainsSubstring("turn 8 channels, but a head has 6"));
  CHECK_THROWS_AS(without_pairs(wide.model, 0, 0), ShapeError);

  Model other = tiny.model;
  other.stack.position_term = {.added = std::make_shared<LinearBias>(4)};
  CHECK_THROWS_WITH(turned(other, {{0, 1}}, 1), ContainsSubstring("no rotary positions; its positions are linear"));
  other.stack.position_term = {};
  CHECK_THROWS_WITH(without_pairs(other, 0, 0), ContainsSubstring("a tiny has no rotary positions"));
  other.stack.embedding.positions = other.stack.embedding.words.in_memory();
  CHECK_THROWS_WITH(turned(other, {{0, 1}}, 1), ContainsSubstring("are a table, which re-aim and without-band change"));
}

TEST_CASE("in an encoder-decoder the decoder's own attention is turned, and cross-attention cannot be") {
  TinyRotaryModel tiny(rotary(RotaryPairing::halves));
  tiny.model.stack.block.causal = false;
  tiny.model.decoder = tiny.stack(true);
  tiny.model.decoder->block.causal = true;
  tiny.model.decoder->position_term = tiny.model.stack.position_term;
  Document pair = words({3, 7, 1, 9});
  pair.target = words({4, 4, 8, 2, 6});
  const Model changed = turned(tiny.model, {{0, 1}}, 2, AttentionKind::causal);
  const SeenAttention was(tiny.model, pair, 0, AttentionKind::causal), is(changed, pair, 0, AttentionKind::causal);
  CHECK(is.scores[0] == was.scores[0]);
  CHECK_FALSE(is.scores[1].isApprox(was.scores[1], 0.01F));
  CHECK(SeenAttention(changed, pair, 1, AttentionKind::self).scores[1] ==
        SeenAttention(tiny.model, pair, 1, AttentionKind::self).scores[1]);
  CHECK_THROWS_WITH(turned(tiny.model, {{0, 1}}, 2, AttentionKind::cross),
                    ContainsSubstring("cross-attention has no positions to turn"));
}

TEST_CASE("queries that are turned themselves are those of the turned model") {
  for (const RotaryOptions& options : rotations()) {
    const TinyRotaryModel tiny(options);
    const SeenAttention before(tiny.model, words(some_words), 1);
    for (const Index u : {-3, 0, 2}) {
      const Matrix32 moved = turned_queries(before.query, {1, 3}, u, RotaryTerm(options), 6);
      if (u == 0) {
        CHECK(moved == before.query);
        continue;
      }
      const SeenAttention after(turned(tiny.model, {{1, 1}, {1, 3}}, u), words(some_words), 1);
      CHECK((moved - after.query).cwiseAbs().maxCoeff() < 1e-5F * before.query.cwiseAbs().maxCoeff());
    }
  }
  // The length is known: what dynamic scaling makes of the frequencies, too.
  RotaryOptions dynamic = rotary(RotaryPairing::halves);
  dynamic.scaling = RotaryScaling::dynamic;
  dynamic.factor = 2;
  dynamic.trained = 8;
  const RotaryTerm term(dynamic);
  const Matrix32 query = Matrix32::Ones(12, 6);
  const double angle = -2 * term.frequency(12)[1];
  CHECK(turned_queries(query, {0}, 2, term, 6)(5, 1) == Approx(std::cos(angle) - std::sin(angle)).epsilon(1e-6));
  CHECK_THROWS_WITH(turned_queries(query, {1}, 2, term, 6), ContainsSubstring("there is no head 1 among 1"));
  CHECK_THROWS_AS(turned_queries(query, {0}, 2, term, 5), ShapeError);
}
