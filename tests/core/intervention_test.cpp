#include "../../core/model/intervention.h"

#include <algorithm>
#include <array>
#include <set>

#include "../../core/attention/position_term.h"
#include "../../core/model/model_pass.h"
#include "../../core/model/random_documents.h"
#include "../../core/numbers/random.h"
#include "../catch.h"

using namespace headwave;

namespace {

/// A tiny pre-norm or post-norm model with weights of its own.
struct TinyModel {
  std::vector<Matrix32> matrices;
  std::vector<Vector32> vectors;
  Model model;

  explicit TinyModel(NormPlace place) {
    Random random(7);
    matrices.reserve(32);
    const auto matrix = [&](Index rows, Index cols) {
      Matrix32 m(rows, cols);
      for (Index i = 0; i < m.size(); ++i) m.data()[i] = static_cast<float>(random.normal());
      matrices.push_back(std::move(m));
      return MatrixView32(matrices.back());
    };
    vectors = {Vector32::Ones(8), Vector32::Zero(8)};
    const Norm norm{vectors[0], vectors[1], 1e-5F, NormKind::layer};
    model.family = "tiny";
    model.longest = 12;
    model.stack.block.norm_place = place;
    model.stack.block.heads = model.stack.block.kv_heads = 2;
    model.stack.block.d_head = 4;
    model.stack.block.score_scale = 0.5;
    model.stack.embedding = {matrix(20, 8), 1.0F, matrix(12, 8), {}, norm};
    for (int layer = 0; layer < 2; ++layer) {
      Block block;
      const auto linear = [&](Index out, Index in) { return Linear{matrix(out, in), {}}; };
      block.self = {linear(8, 8), linear(8, 8), linear(8, 8), linear(8, 8)};
      block.feed_forward = {linear(16, 8), {}, linear(8, 16)};
      block.self_norm = block.feed_forward_norm = norm;
      model.stack.blocks.push_back(block);
    }
  }
};

Document document_of_words(std::vector<std::int32_t> ids) {
  Document document;
  document.ids = std::move(ids);
  return document;
}

Matrix32 states(const Model& model, const Document& document) {
  return model_pass(model, document, {}, {.final_states = true});
}

class OneDocument : public Source {
 public:
  explicit OneDocument(Document document) : document_(std::move(document)) {}
  [[nodiscard]] Index count() const override { return 2; }
  [[nodiscard]] Document document(Index) const override { return document_; }
  [[nodiscard]] Index length(Index) const override { return document_.length(); }
  [[nodiscard]] Attributes provenance() const override { return {}; }

 private:
  Document document_;
};

}  // namespace

TEST_CASE("words only: a permutation of the words permutes the states, since no position is left") {
  for (const NormPlace place : {NormPlace::post, NormPlace::pre}) {
    const TinyModel tiny(place);
    const Model model = words_only(tiny.model);
    const Matrix32 forward = states(model, document_of_words({3, 7, 1, 9}));
    const Matrix32 backward = states(model, document_of_words({9, 1, 7, 3}));
    // The softmax sums in another order: float32 rounding.
    CHECK((forward - backward.colwise().reverse()).cwiseAbs().maxCoeff() <
          64 * 1.2e-7F * forward.cwiseAbs().maxCoeff());
    CHECK((states(tiny.model, document_of_words({3, 7, 1, 9})) -
           states(tiny.model, document_of_words({9, 1, 7, 3})).colwise().reverse())
              .cwiseAbs()
              .maxCoeff() > 0.1F);
  }
}

TEST_CASE("positions only: the words do not matter") {
  const TinyModel tiny(NormPlace::post);
  const Model model = positions_only(tiny.model);
  CHECK(states(model, document_of_words({3, 7, 1, 9})) == states(model, document_of_words({0, 0, 5, 2})));
  CHECK(states(model, document_of_words({3, 7})) != states(tiny.model, document_of_words({3, 7})));
  CHECK_THROWS_WITH(states(model, document_of_words({3, 20})),
                    ContainsSubstring("id 20, outside the vocabulary of 20 tokens"));
  Model without = tiny.model;
  without.stack.embedding.positions = {};
  CHECK_THROWS_WITH(positions_only(without), ContainsSubstring("without words its input would be zero"));
  without.stack.position_term = {.added = std::make_shared<LinearBias>(2)};
  CHECK_THROWS_WITH(positions_only(without), ContainsSubstring("without words its input would be zero"));
}

TEST_CASE("a pruned head adds nothing") {
  TinyModel tiny(NormPlace::post);
  const Model pruned = without_heads(tiny.model, {{1, 0}});
  const Document document = document_of_words({3, 7, 1, 9, 9});
  // By hand: the same as zero values of that head.
  Matrix32 value = tiny.model.stack.blocks[1].self.value.weight;
  value.topRows(4).setZero();
  Model expected = tiny.model;
  expected.stack.blocks[1].self.value.weight = value;
  CHECK(states(pruned, document).isApprox(states(expected, document), 8 * 1.2e-7F));
  CHECK_FALSE(states(pruned, document).isApprox(states(tiny.model, document), 1e-3F));
  // Both at once, and those that are not there.
  CHECK_NOTHROW(without_heads(tiny.model, {{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
  CHECK_THROWS_WITH(without_heads(tiny.model, {{2, 0}}), ContainsSubstring("there is no L2H0; the model has 2 layers"));
  CHECK_THROWS_WITH(without_heads(tiny.model, {{0, 2}}),
                    ContainsSubstring("there is no L0H2; the model has 2 layers of 2 heads (counted from 0)"));
}

TEST_CASE("a changed model outlives the one it was made from") {
  Model changed;
  {
    auto tiny = std::make_shared<TinyModel>(NormPlace::pre);
    tiny->model.storage = std::shared_ptr<const void>(tiny, tiny.get());
    changed = without_heads(positions_only(tiny->model), {{0, 1}});
    tiny->model.storage.reset();
  }
  CHECK(states(changed, document_of_words({1, 2, 3})).allFinite());
}

TEST_CASE("shuffled words keep special tokens in their places and words in number") {
  Document document = document_of_words({2, 10, 11, 12, 13, 14, 15, 16, 3});
  document.special = {1, 0, 0, 0, 0, 0, 0, 0, 1};
  document.tokens = {"[CLS]", "a", "b", "c", "d", "e", "f", "g", "[SEP]"};
  const auto source = shuffled_words(std::make_unique<OneDocument>(document), 5, 3);
  REQUIRE(source->count() == 6);
  std::set<std::vector<std::int32_t>> orders;
  for (Index i = 0; i < 6; ++i) {
    const Document shuffled = source->document(i);
    CHECK(shuffled.ids == source->document(i).ids);
    CHECK(shuffled.ids.front() == 2);
    CHECK(shuffled.ids.back() == 3);
    for (std::size_t n = 1; n < 8; ++n) CHECK(shuffled.tokens[n][0] == static_cast<char>('a' + shuffled.ids[n] - 10));
    std::vector<std::int32_t> sorted = shuffled.ids;
    std::sort(sorted.begin() + 1, sorted.end() - 1);
    CHECK(sorted == document.ids);
    orders.insert(shuffled.ids);
  }
  CHECK(orders.size() == 6);
  CHECK(shuffled_words(std::make_unique<OneDocument>(document), 6, 3)->document(0).ids != source->document(0).ids);
  CHECK_THROWS_WITH(shuffled_words(std::make_unique<OneDocument>(document), 6, 0),
                    ContainsSubstring("expected at least 1 shuffle of each document, found 0"));
  Document stored;
  stored.name = "states.h5, document 0";
  CHECK_THROWS_WITH(shuffled_words(std::make_unique<OneDocument>(stored), 6, 1)->document(0),
                    ContainsSubstring("states.h5, document 0: holds stored states"));
}

TEST_CASE("a text that is moved reads the rows of tokens further on, and the last where there is none") {
  const TinyModel tiny(NormPlace::post);
  const Matrix32 table = tiny.model.stack.embedding.positions;
  const Model on = moved_text(tiny.model, 2), back = moved_text(tiny.model, -1);
  for (Index n = 0; n < 12; ++n) {
    CHECK(on.stack.embedding.positions.row(n) == table.row(std::min<Index>(n + 2, 11)));
    CHECK(back.stack.embedding.positions.row(n) == table.row(std::max<Index>(n - 1, 0)));
  }
  CHECK(Matrix32(moved_text(tiny.model, 0).stack.embedding.positions) == table);
  Model other = tiny.model;
  other.decoder = other.stack;
  const Model written = moved_text(other, 1, AttentionKind::causal);
  CHECK(Matrix32(written.stack.embedding.positions) == table);
  CHECK(written.decoder->embedding.positions.row(3) == table.row(4));
  other.stack.embedding.positions = {};
  CHECK_THROWS_WITH(moved_text(other, 1), ContainsSubstring("a tiny model has no position table"));
}

TEST_CASE("repeated random tokens repeat, and differ between documents and seeds") {
  RepeatedTokensOptions options;
  options.documents = 3;
  options.period = 20;
  options.repeats = 3;
  options.opening = 2;
  const auto source = repeated_tokens({5, 6, 7, 8, 9}, options);
  const Document first = source->document(0);
  REQUIRE(first.length() == 61);
  CHECK(source->length(0) == 61);
  CHECK(first.ids[0] == 2);
  CHECK(first.is_special(0));
  for (std::size_t i = 1; i <= 40; ++i) CHECK(first.ids[i] == first.ids[i + 20]);
  for (std::size_t i = 1; i <= 60; ++i) CHECK((first.ids[i] >= 5 && first.ids[i] <= 9));
  CHECK(first.ids != source->document(1).ids);
  options.seed = 2;
  CHECK(first.ids != repeated_tokens({5, 6, 7, 8, 9}, options)->document(0).ids);
  CHECK_THROWS_WITH(repeated_tokens({}, options),
                    ContainsSubstring("repeated_tokens: expected at least 1 document, 1 token, 1 repeat and 1 id"));
}
