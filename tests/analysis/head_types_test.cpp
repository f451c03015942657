#include "../../analysis/attention/head_types.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "../../core/attention/attend.h"
#include "../../core/model/model_pass.h"
#include "../../core/model/random_documents.h"
#include "../../core/numbers/random.h"
#include "../../core/planted/planted.h"
#include "../catch.h"
#include "../test_numbers.h"
#include "found_head_types.h"
#include "test_pass.h"

using namespace headwave;

namespace {

Document document_of_ids(std::vector<std::int32_t> ids, const std::vector<std::size_t>& special = {}) {
  Document document;
  document.special.assign(ids.size(), 0);
  for (const std::size_t i : special) document.special[i] = 1;
  document.ids = std::move(ids);
  return document;
}

/// Random ids below `kinds`.
Document random_document(Index length, Index kinds, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::int32_t> ids;
  for (Index i = 0; i < length; ++i) ids.push_back(static_cast<std::int32_t>(random.below(kinds)));
  return document_of_ids(ids, {0, static_cast<std::size_t>(length - 1)});
}

Matrix32 random_weights(Index rows, Index cols, Random& random) {
  Matrix32 m(rows, cols);
  for (Index i = 0; i < m.size(); ++i) m.data()[i] = static_cast<float>(random.normal());
  return m;
}

HeadTypes types_of_documents(const std::vector<ShownDocument>& documents, Index heads,
                             AttentionKind kind = AttentionKind::self) {
  return HeadTypes(TestPass{.grid = {{0}, heads}, .kind = kind}.fields("head_types", documents));
}

/// @param documents  that many, all alike; fewer than 8 give no kind
HeadTypes types_of(const std::vector<Matrix32>& weights, const Document& document,
                   AttentionKind kind = AttentionKind::self, std::size_t documents = 1) {
  return types_of_documents(std::vector(documents, shown_weights(weights, document, kind)), std::ssize(weights), kind);
}

double score_of(const HeadTypes& types, HeadScore score, Index row = 0) {
  return types.scores(static_cast<Index>(score), row);
}

/// Every query gives its weight to the key that `target` names, what is left to all keys it may look at.
template <class Target>
Matrix32 looking_at(Index length, bool causal, float weight, Target target) {
  Matrix32 a = Matrix32::Zero(length, length);
  for (Index i = 0; i < length; ++i) {
    const Index allowed = causal ? i + 1 : length;
    a.row(i).head(allowed).setConstant((1 - weight) / static_cast<float>(allowed));
    a(i, target(i)) += weight;
  }
  return a;
}

/// Keeps what passes by.
class WeightRecorder : public Probe {
 public:
  using Probe::see;
  void see(const Tile& tile) override {
    weights.resize(tile.weights.size(), Matrix::Zero(tile.queries, tile.keys));
    for (std::size_t h = 0; h < weights.size(); ++h)
      weights[h].middleRows(tile.first_row, tile.rows()) = tile.weights[h].cast<double>();
  }
  std::vector<Matrix> weights;
};

/// A mean that is NaN of nothing.
struct Mean {
  double sum = 0, count = 0;
  void add(double value) { sum += value, count += 1; }
  [[nodiscard]] double value() const { return count > 0 ? sum / count : not_defined; }
};

/// The definitions written out, pair by pair.
Vector direct_scores(const Matrix& a, const Document& document, AttentionKind kind, Index window) {
  const Index queries = a.rows(), keys = a.cols();
  const std::vector<std::int32_t>& ids = document.ids;
  const auto allowed = [&](Index i, Index j) {
    return (kind != AttentionKind::causal || j <= i) && (window == 0 || std::abs(i - j) < window);
  };
  std::array<Mean, head_scores> mean;
  const auto add = [&](HeadScore score, double value) { mean[static_cast<std::size_t>(score)].add(value); };
  for (Index i = 0; i < queries; ++i) {
    double entropy = 0, open = 0, special = 0;
    for (Index j = 0; j < keys; ++j) {
      if (a(i, j) > 0) entropy -= a(i, j) * std::log(a(i, j));
      if (allowed(i, j)) open += 1;
      if (document.is_special(j)) special += a(i, j);
    }
    add(HeadScore::entropy, entropy);
    if (open > 1) add(HeadScore::entropy_share, entropy / std::log(open));
    if (!document.special.empty()) add(HeadScore::special_weight, special);
    if (kind == AttentionKind::cross) continue;
    if (i > 0) add(HeadScore::previous, a(i, i - 1));
    if (i + 1 < keys && kind != AttentionKind::causal) add(HeadScore::next, a(i, i + 1));
    if (ids.empty()) continue;
    for (const Index after : {0, 1}) {
      bool any = false;
      double weight = 0, uniform = 0;
      for (Index j = after; j < i; ++j) {
        if (ids[static_cast<std::size_t>(j - after)] != ids[static_cast<std::size_t>(i)]) continue;
        any = true;
        weight += a(i, j);
        uniform += allowed(i, j) ? 1 / open : 0;
      }
      if (!any) continue;
      add(after == 0 ? HeadScore::duplicate : HeadScore::induction, weight);
      add(after == 0 ? HeadScore::duplicate_baseline : HeadScore::induction_baseline, uniform);
    }
  }
  for (Index k = 0; k < keys; ++k) {
    const Index first = kind == AttentionKind::causal ? k : 0;
    if (static_cast<double>(queries - first) < static_cast<double>(queries) / 4) continue;
    double alpha = 0;
    for (Index i = first; i < queries; ++i) alpha += a(i, k) / static_cast<double>(queries - first);
    Mean& largest = mean[static_cast<std::size_t>(HeadScore::sink_weight)];
    if (k == 0) add(HeadScore::sink_first, alpha);
    largest = {std::max(largest.sum, alpha), 1};
  }
  Vector scores(head_scores);
  for (Index s = 0; s < head_scores; ++s) scores[s] = mean[static_cast<std::size_t>(s)].value();
  return scores;
}

}  // namespace

TEST_CASE("head scores of three tokens by hand") {
  Matrix32 a(3, 3);
  a << 0.5F, 0.25F, 0.25F, 0.125F, 0.75F, 0.125F, 1, 0, 0;
  const HeadTypes types = types_of({a}, document_of_ids({5, 5, 5}, {0, 2}), AttentionKind::self);
  CHECK(score_of(types, HeadScore::previous) == 0.0625);  // (0.125 + 0) / 2
  CHECK(score_of(types, HeadScore::next) == 0.1875);      // (0.25 + 0.125) / 2
  // Query 1 has key 0 before it, query 2 has keys 0 and 1; after a token of its own kind stands key 1 for query 2.
  CHECK(score_of(types, HeadScore::duplicate) == 0.5625);
  CHECK(score_of(types, HeadScore::duplicate_baseline) == Approx(0.5).epsilon(4 * eps));
  CHECK(score_of(types, HeadScore::induction) == 0);
  CHECK(score_of(types, HeadScore::induction_baseline) == Approx(1.0 / 3).epsilon(4 * eps));
  const double first = 1.5 * std::log(2.0), second = 0.25 * std::log(8.0) + 0.75 * std::log(4.0 / 3);
  CHECK(score_of(types, HeadScore::entropy) == Approx((first + second) / 3).epsilon(4 * float_eps));
  CHECK(score_of(types, HeadScore::entropy_share) ==
        Approx((first + second) / 3 / std::log(3.0)).epsilon(4 * float_eps));
  CHECK(score_of(types, HeadScore::sink_first) == Approx(1.625 / 3).epsilon(4 * eps));
  CHECK(score_of(types, HeadScore::sink_weight) == Approx(1.625 / 3).epsilon(4 * eps));
  CHECK(types.sink_position == std::vector<Index>{0});
  CHECK(score_of(types, HeadScore::special_weight) == Approx(2.0 / 3).epsilon(4 * eps));
  check_same(types.argmax_share.middleCols(6, 5), Eigen::RowVectorXd{{1.0 / 3, 0, 2.0 / 3, 0, 0}}, 0);
}

TEST_CASE("the sink under a causal mask by hand: each key is averaged over the queries that see it") {
  Matrix32 a = Matrix32::Zero(4, 4);
  a << 1, 0, 0, 0, 0.25F, 0.75F, 0, 0, 0.25F, 0.75F, 0, 0, 0, 0.5F, 0, 0.5F;
  const HeadTypes types = types_of({a}, document_of_ids({1, 2, 3, 4}), AttentionKind::causal);
  CHECK(score_of(types, HeadScore::sink_first) == 0.375);
  CHECK(score_of(types, HeadScore::sink_weight) == Approx(2.0 / 3).epsilon(4 * eps));
  CHECK(types.sink_position == std::vector<Index>{1});
  // At 5 tokens the last key is seen by less than a quarter of the queries.
  const Matrix32 own = Matrix32::Identity(5, 5);
  CHECK(types_of({own}, document_of_ids({1, 2, 3, 4, 5}), AttentionKind::causal).sink_position[0] == 3);
}

TEST_CASE("head scores are the definitions written out, for every mask, length and kind of text") {
  struct Setting {
    AttentionKind kind;
    Index window;
    Index kinds;  // of tokens
    double scale;
  };
  for (const Setting& setting : {Setting{AttentionKind::self, 0, 5, 0.3}, Setting{AttentionKind::self, 0, 1, 1.0},
                                 Setting{AttentionKind::causal, 0, 5, 0.3}, Setting{AttentionKind::causal, 4, 3, 1.0},
                                 Setting{AttentionKind::causal, 0, 1000, 6.0}, Setting{AttentionKind::self, 4, 3, 1.0},
                                 Setting{AttentionKind::cross, 0, 5, 0.3}})
    for (const Index length : {1, 2, 3, 17, 64, 131}) {
      const bool cross = setting.kind == AttentionKind::cross;
      const Index heads = 3, queries = cross ? length / 2 + 1 : length;
      Document document = random_document(length, setting.kinds, 3);
      if (cross) document.target = random_document(queries, setting.kinds, 4);
      std::vector<std::vector<Matrix>> layers;
      const auto attended = [&](Probe& probe) {
        Random random(9);
        for (const Index layer : {2, 7}) {
          const Matrix32 query = random_weights(queries, heads * 4, random),
                         key = random_weights(length, heads * 4, random);
          Mask<float> mask;
          mask.causal = setting.kind == AttentionKind::causal;
          mask.window = setting.window;
          WeightRecorder recorder;
          Probe* const probes[] = {&recorder, &probe};
          attend(HeadInputs<float>{query, key, {}, heads, heads, setting.scale, nullptr}, mask, {layer, setting.kind},
                 probes);
          layers.push_back(recorder.weights);
        }
      };
      const TestPass pass{.grid = {{2, 7}, heads}, .kind = setting.kind};
      const HeadTypes types(pass.fields("head_types", {{document, attended}}));
      CAPTURE(name_of(setting.kind), setting.window, setting.kinds, length);
      Matrix expected(head_scores, 2 * heads);
      for (Index layer = 0; layer < 2; ++layer) {
        const std::vector<Matrix>& weights = layers[static_cast<std::size_t>(layer)];
        for (Index head = 0; head < heads; ++head)
          expected.col(layer * heads + head) =
              direct_scores(weights[static_cast<std::size_t>(head)], document, setting.kind, setting.window);
      }
      // Logarithms are in float: entropies up to ln 131 = 5.
      check_same(types.scores.topRows(head_scores), expected, 8 * 5 * float_eps);
      const Index entropies = static_cast<Index>(HeadScore::entropy);
      check_same(types.scores.topRows(entropies), expected.topRows(entropies), 300 * eps);
      check_same(types.scores.middleRows(head_scores - 3, 3), expected.bottomRows(3), 300 * eps);
    }
}

TEST_CASE("the largest weight is found at its offset, of equal ones the nearest, then the left") {
  const Document document = document_of_ids({1, 2, 3, 4, 5});
  const Matrix32 even = Matrix32::Constant(5, 5, 0.2F);
  const HeadTypes same = types_of({even}, document);
  CHECK(same.argmax_share(0, 8) == 1);
  CHECK(same.positional_offset[0] == 0);
  CHECK(same.positional_share[0] == 1);
  Matrix32 sides = Matrix32::Zero(5, 5);  // both neighbours alike, at the ends the one there is
  for (Index i = 0; i < 5; ++i)
    for (const Index j : {i - 1, i + 1})
      if (j >= 0 && j < 5) sides(i, j) = 0.5F;
  const HeadTypes left = types_of({sides}, document);
  CHECK(left.argmax_share(0, 7) == Approx(0.8));
  CHECK(left.argmax_share(0, 9) == Approx(0.2));
  CHECK(left.positional_offset[0] == -1);
  // Beyond reach nothing is told apart: the share is 0 and there is no offset.
  const Matrix32 far = looking_at(30, false, 1.0F, [](Index i) { return (i + 15) % 30; });
  const HeadTypes none = types_of({far}, random_document(30, 5, 1));
  CHECK(none.positional_share[0] == 0);
  CHECK(std::isnan(none.positional_offset[0]));
  CHECK(field_of(none.fields, "head_types/positional_offset").attributes.contains("undefined"));
}

TEST_CASE("fewer than eight documents give no head a kind, and say how many there were") {
  const Document document = random_document(30, 90, 1);
  const std::vector<Matrix32> previous{looking_at(30, true, 0.9F, [](Index i) { return std::max<Index>(0, i - 1); })};
  for (std::size_t documents = 2; documents <= 8; ++documents) {
    const HeadTypes types = types_of(previous, document, AttentionKind::causal, documents);
    CHECK(types.types[0] == (documents < 8 ? "undefined" : "previous"));
    const Field& kind = types.fields.front();
    CHECK(std::get<std::int64_t>(kind.attributes.at("documents")) == static_cast<std::int64_t>(documents));
    CHECK(std::get<std::int64_t>(kind.attributes.at("least_documents")) == 8);
  }
}

TEST_CASE("uniform attention has the scores that chance gives, and is no sink in short documents either") {
  for (const AttentionKind kind : {AttentionKind::causal, AttentionKind::self}) {
    const bool causal = kind == AttentionKind::causal;
    const HeadTypes even = types_of({looking_at(8, causal, 0.0F, [](Index i) { return i; }),
                                     looking_at(8, causal, 0.9F, [](Index /*i*/) { return 0; })},
                                    random_document(8, 900, 1), kind, 8);
    const auto chance = [&](HeadScore score) { return score_of(even, score); };
    CHECK(chance(HeadScore::previous_baseline) == Approx(score_of(even, HeadScore::previous)).epsilon(1e-6));
    CHECK(chance(HeadScore::sink_baseline) == Approx(score_of(even, HeadScore::sink_weight)).epsilon(1e-6));
    if (!causal) CHECK(chance(HeadScore::next_baseline) == Approx(score_of(even, HeadScore::next)).epsilon(1e-6));
    CHECK(std::isnan(chance(HeadScore::next_baseline)) == causal);
    CHECK(even.types[0] != "sink");
  }
  // Under a causal mask the first of eight keys gets 0.34 from uniform attention, more than a sink needs.
  Matrix32 nearly = looking_at(8, true, 0.0F, [](Index i) { return i; });
  for (Index i = 1; i < 8; ++i) nearly(i, i % 2) += 1e-6F;  // the largest weights are at many offsets
  const HeadTypes causal = types_of({nearly}, random_document(8, 900, 1), AttentionKind::causal, 8);
  CHECK(score_of(causal, HeadScore::sink_weight) > 0.3);
  CHECK(causal.types[0] == "other");
}

TEST_CASE("the scores of uniform attention are those of its weights written out, under every mask") {
  const Document document = document_of_ids(std::vector<std::int32_t>(13, 1));
  for (const AttentionKind kind : {AttentionKind::causal, AttentionKind::self})
    for (const Index window : {0, 1, 4, 40}) {
      CAPTURE(name_of(kind), window);
      Matrix weights = Matrix::Zero(13, 13);
      for (Index i = 0; i < 13; ++i) {
        const KeySpan open = allowed_keys(i, 13, kind == AttentionKind::causal, window);
        weights.row(i).segment(open.first, open.count).setConstant(1 / static_cast<double>(open.count));
      }
      const Vector direct = direct_scores(weights, document, kind, window);
      const Vector even = even_attention(13, 13, kind, window);
      for (const auto& [one, score] :
           {std::pair(0, HeadScore::previous), {1, HeadScore::next}, {2, HeadScore::sink_weight}}) {
        const double expected = direct[static_cast<Index>(score)], found = even[one];
        CHECK((std::isnan(expected) ? std::isnan(found) : std::abs(found - expected) <= 30 * eps));
      }
    }
}

TEST_CASE("heads are called what they do, in the order that is documented") {
  RepeatedTokensOptions repeated;
  repeated.period = 40;
  repeated.repeats = 2;
  repeated.opening = 0;
  std::vector<std::int32_t> ids;
  for (std::int32_t id = 1; id < 4000; ++id) ids.push_back(id);
  const Document document = repeated_tokens(ids, repeated)->document(0);
  const Index length = document.length();
  const auto at = [&](Index first, auto target) { return [=](Index i) { return i < first ? 0 : target(i); }; };
  const auto back = [&](Index steps, Index first) {
    return looking_at(length, true, 0.8F, at(first, [=](Index i) { return i - steps; }));
  };
  const HeadTypes types = types_of(
      {back(1, 1), back(3, 3), back(40, 41), back(39, 41), looking_at(length, true, 0.6F, [](Index) { return 0; }),
       looking_at(length, true, 0.0F, [](Index i) { return i; })},
      document, AttentionKind::causal, 8);
  // All alike: the largest weight is the nearest, at t = 0, which is as positional as can be.
  const std::string one_offset = "one offset (Voita)";
  CHECK(types.types == std::vector<std::string>{"previous", one_offset, "duplicate", "induction", "sink", one_offset});
  CHECK(types.positional_offset[1] == -3);
  // 40 different tokens twice: the duplicate stands 40 back, the token after it 39.
  CHECK(types.of(HeadScore::duplicate)[2] > 0.8);
  CHECK(types.of(HeadScore::induction)[2] < 0.03);
  CHECK(types.of(HeadScore::induction)[3] > 0.8);
  CHECK(types.of(HeadScore::duplicate)[3] < 0.03);
  CHECK(types.of(HeadScore::sink_first)[4] > 0.6);

  const HeadTypes both =
      types_of({looking_at(length, false, 0.8F, [&](Index i) { return std::min(i + 1, length - 1); }),
                looking_at(length, false, 0.4F, [](Index i) { return (i * 7) % 81; })},
               document, AttentionKind::self, 8);
  CHECK(both.types == std::vector<std::string>{"next", "other"});
}

TEST_CASE("heads of the planted bank are called what they were planted as") {
  const PlantedModel planted = planted_model(planted_bank());
  const Document document = planted_documents(planted, 1, 512, 1)->document(0);
  const auto passed = [&](Probe& probe) {
    Probe* const probes[] = {&probe};
    model_pass(planted.model, document, probes);
  };
  const TestPass pass{.grid = {{0, 1, 2, 3}, 8}};
  const HeadTypes types(pass.fields("head_types", std::vector(8, ShownDocument{document, passed})));
  Index row = 0;
  for (const auto& layer : planted.spec.heads)
    for (const PlantedHead& head : layer) {
      CAPTURE(row, name_of(head.kind));
      const std::string& type = types.types[static_cast<std::size_t>(row)];
      if (head.positional()) {
        CHECK(types.positional_share[row] >= 0.9);
        CHECK(types.positional_offset[row] == head.offset);
        CHECK(type == (head.offset == -1 ? "previous" : head.offset == 1 ? "next" : "one offset (Voita)"));
      } else {
        CHECK(type == (head.kind == PlantedKind::sink ? "sink" : "other"));
      }
      ++row;
    }
}

TEST_CASE("on a text of one token duplicates are no news: the baseline is as high as the score") {
  const Document document = document_of_ids(std::vector<std::int32_t>(50, 3));
  const Matrix32 early = looking_at(50, false, 0.5F, [](Index i) { return i / 9 * 4; });
  const HeadTypes types = types_of({early}, document, AttentionKind::self, 8);
  CHECK(types.of(HeadScore::duplicate)[0] > 0.4);
  CHECK(types.types[0] == "other");
}

TEST_CASE("on repeated random tokens the induction score is the mean along one diagonal") {
  Random random(2);
  std::vector<std::int32_t> ids;
  for (std::int32_t copy = 0; copy < 2; ++copy)
    for (std::int32_t id = 0; id < 20; ++id) ids.push_back(id);
  Matrix32 a = random_weights(40, 40, random).cwiseAbs();
  for (Index i = 0; i < 40; ++i) a.row(i) /= a.row(i).sum();
  const HeadTypes types = types_of({a}, document_of_ids(ids));
  // Keys 1 .. 20 of queries 20 .. 39: the diagonal t = -19 but for its first entry.
  const double diagonal = a.cast<double>().diagonal(-19).tail(20).mean();
  CHECK(score_of(types, HeadScore::induction) == Approx(diagonal).epsilon(20 * eps));
  CHECK(score_of(types, HeadScore::duplicate) == Approx(a.cast<double>().diagonal(-20).mean()).epsilon(20 * eps));
}

TEST_CASE("heads that look at one key each have no entropy, heads that do not care all of it") {
  const Index length = 33;
  const Document document = random_document(length, 9, 1);
  const HeadTypes types = types_of(
      {Matrix32::Identity(length, length), Matrix32::Constant(length, length, 1.0F / static_cast<float>(length))},
      document);
  CHECK(score_of(types, HeadScore::entropy, 0) == 0);
  CHECK(score_of(types, HeadScore::entropy, 1) == Approx(std::log(33.0)).epsilon(8 * float_eps));
  CHECK(score_of(types, HeadScore::entropy_share, 1) == Approx(1).epsilon(8 * float_eps));
}

TEST_CASE("weights near the smallest numbers of float still count") {
  Matrix32 a = Matrix32::Constant(3, 3, 1e-30F);
  const HeadTypes types = types_of({a, a}, document_of_ids({1, 2, 3}));
  const auto tiny = static_cast<double>(1e-30F);
  CHECK(score_of(types, HeadScore::entropy) == Approx(-3 * tiny * std::log(tiny)).epsilon(8 * float_eps));
}

TEST_CASE("one token alone has few properties, and the rest is undefined") {
  for (const AttentionKind kind : {AttentionKind::self, AttentionKind::causal}) {
    const HeadTypes types = types_of({Matrix32::Ones(1, 1)}, document_of_ids({4}), kind);
    for (const HeadScore score : {HeadScore::previous, HeadScore::next, HeadScore::duplicate,
                                  HeadScore::duplicate_baseline, HeadScore::induction, HeadScore::entropy_share})
      CHECK(std::isnan(score_of(types, score)));
    CHECK(score_of(types, HeadScore::entropy) == 0);
    CHECK(score_of(types, HeadScore::sink_weight) == 1);
    CHECK(score_of(types, HeadScore::special_weight) == 0);
  }
}

TEST_CASE("in cross-attention what compares positions or tokens is undefined, and says why") {
  Document document = random_document(6, 3, 1);
  document.target = random_document(4, 3, 2);
  Matrix32 a = Matrix32::Constant(4, 6, 0.04F);
  a.col(2).setConstant(0.8F);
  const HeadTypes types = types_of({a}, document, AttentionKind::cross, 8);
  CHECK(types.types == std::vector<std::string>{"sink"});
  CHECK(types.sink_position == std::vector<Index>{2});
  CHECK(types.of(HeadScore::sink_first)[0] == Approx(0.04).epsilon(4 * float_eps));
  for (const Field& field : types.fields) {
    if (!std::holds_alternative<std::vector<double>>(field.values)) continue;
    CAPTURE(field.name);
    const std::string quantity = field.quantity();
    const bool given = quantity.starts_with("entropy") || quantity.starts_with("sink") || quantity == "special_weight";
    for (const double value : field.doubles()) CHECK(std::isnan(value) != given);
    CHECK(field.attributes.contains("undefined") != given);
    if (!given)
      CHECK(std::get<std::string>(field.attributes.at("undefined")) ==
            (quantity == "learned_sink" ? "the model's heads have no learned sinks"
                                        : "queries and keys are different sequences"));
  }
}

TEST_CASE("of stored states nobody knows the tokens: their scores are undefined") {
  Document document;
  document.stored.push_back({0, Matrix32::Zero(5, 2), {}, {}});
  const HeadTypes types = types_of({Matrix32::Constant(5, 5, 0.2F)}, document, AttentionKind::self);
  for (const HeadScore score : {HeadScore::duplicate, HeadScore::induction, HeadScore::special_weight})
    CHECK(std::isnan(types.of(score)[0]));
  CHECK(types.of(HeadScore::previous)[0] == Approx(0.2).epsilon(4 * float_eps));
}

TEST_CASE("queries for which everything is masked are left out") {
  Matrix32 a = Matrix32::Zero(4, 4);
  a.row(1) << 0.5F, 0.5F, 0, 0;
  a.row(2) << 0.25F, 0.75F, 0, 0;
  const HeadTypes types = types_of({a}, document_of_ids({1, 1, 1, 1}));
  CHECK(score_of(types, HeadScore::previous) == 0.625);
  CHECK(score_of(types, HeadScore::next) == 0);
  CHECK(types.argmax_share(0, 8) == 0.5);
  CHECK(score_of(types, HeadScore::duplicate) == 0.75);
  const HeadTypes none = types_of({Matrix32::Zero(4, 4)}, document_of_ids({1, 1, 1, 1}));
  CHECK(none.scores.topRows(head_scores).array().isNaN().all());
  CHECK(none.sink_position[0] == -1);
}

TEST_CASE("tiles of any height give the same digits") {
  Random random(4);
  const Document document = random_document(37, 6, 5);
  std::vector<Matrix32> weights(3, Matrix32(37, 37));
  for (Matrix32& a : weights) {
    a = random_weights(37, 37, random).array().exp();
    for (Index i = 0; i < 37; ++i) a.row(i) /= a.row(i).sum();
  }
  const HeadTypes whole = types_of(weights, document);
  for (const Index rows : {1, 5, 36}) {
    const auto shown = [&](Probe& probe) {
      show_heads(probe, weights, AttentionKind::causal, rows);  // another kind: passes unseen
      show_heads(probe, weights, AttentionKind::self, rows);
    };
    const HeadTypes types = types_of_documents({{document, shown}}, 3);
    check_same(types.scores, whole.scores, 0);
    check_same(types.argmax_share, whole.argmax_share, 0);
  }
}

TEST_CASE("documents are averaged where they say something, the sink's place is the first one's") {
  const Document first = document_of_ids({1, 2, 3}), second = document_of_ids({1, 1, 1, 1});
  const Matrix32 small = Matrix32::Identity(3, 3);
  const Matrix32 large = looking_at(4, false, 1.0F, [](Index i) { return i == 0 ? 3 : i - 1; });
  const HeadTypes types = types_of_documents({shown_weights({small}, first), shown_weights({large}, second)}, 1);
  CHECK(types.of(HeadScore::previous)[0] == 0.5);
  CHECK(types.of(HeadScore::duplicate)[0] == 1);  // the first has none
  CHECK(types.argmax_share(0, 8) == 0.5);
  CHECK(types.argmax_share(0, 7) == 0.375);
  CHECK(types.sink_position[0] == 0);
}

TEST_CASE("head types are described with axes, thresholds, sources and reasons") {
  const HeadTypes types = types_of({looking_at(6, true, 0.9F, [](Index i) { return std::max<Index>(0, i - 1); })},
                                   random_document(6, 90, 1), AttentionKind::causal, 8);
  const std::vector<Field>& fields = types.fields;
  CHECK(std::ssize(fields) == 4 + head_scores + even_scores + 1);
  const Field& kind = fields.front();
  CHECK(kind.name == "head_types/kind");
  CHECK(kind.flag_meanings[std::get<std::vector<std::uint8_t>>(kind.values)[0]] == "previous");
  CHECK(kind.attributes.contains("rule"));
  CHECK(field_of(fields, "head_types/argmax_share").axis("offset").size() == 17);
  CHECK(std::get<double>(field_of(fields, "head_types/sink_weight").attributes.at("threshold")) == 0.3);
  CHECK(std::get<double>(field_of(fields, "head_types/positional_share").attributes.at("threshold")) == 0.9);
  CHECK(std::get<double>(field_of(fields, "head_types/induction").attributes.at("baseline_ratio")) == 3);
  CHECK_THAT(std::get<std::string>(field_of(fields, "head_types/next").attributes.at("undefined")),
             ContainsSubstring("causal"));
  for (const Field& field : fields) {
    CAPTURE(field.name);
    CHECK(field.group() == "head_types");
    if (!std::holds_alternative<std::vector<double>>(field.values)) continue;
    const std::vector<double>& values = field.doubles();
    const bool undefined = std::any_of(values.begin(), values.end(), [](double x) { return std::isnan(x); });
    CHECK(field.attributes.contains("undefined") == undefined);
  }
}

TEST_CASE("head types refuse weights that are no numbers") {
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()})
    for (const Index place : {0, 6, 15}) {
      Matrix32 a = Matrix32::Zero(4, 4);
      a.data()[place] = bad;
      CHECK_THROWS_WITH(types_of({a}, document_of_ids({1, 2, 3, 4})), ContainsSubstring("is not finite"));
    }
}
