// Heads that look for words, planted: a bigram head, and the pair of heads that continues a repeated text.

#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>

#include "../../analysis/attention/measured_offset.h"
#include "../../core/model/model_pass.h"
#include "../../core/model/random_documents.h"
#include "../catch.h"
#include "found_head_types.h"
#include "planted_waves.h"
#include "test_pass.h"

using namespace headwave;

namespace {

constexpr Index words = 40, waves = 6, longest = 128, d_head = 40;
constexpr Index d_model = 2 * waves + 2 * words;  // waves, the word, and what the first layer writes: the last word
constexpr Index first_word = 2 * waves, first_last_word = first_word + words;

Index follower(Index word) {
  return (word + 1) % words;
}

/// Ones where a head is to read, or write, one block of the stream in the order of the other.
Matrix picked(Index rows, Index columns, Index first_row, Index count, double gain) {
  Matrix made = Matrix::Zero(rows, columns);
  for (Index i = 0; i < count; ++i) made(first_row + i, i) = gain;
  return made;
}

/// S[i, j] = strength where word j follows word i in the list of words, 0 elsewhere.
struct Bigram {
  Matrix query, key;
  explicit Bigram(double strength) : query(picked(d_model, d_head, first_word, words, strength)) {
    key = Matrix::Zero(d_model, d_head);
    for (Index word = 0; word < words; ++word) key(first_word + follower(word), word) = 1;
  }
};

WaveSpec previous_token() {
  WaveSpec spec;
  spec.length = longest;
  spec.frequencies = {9.3, 10.4, 11.6, 12.6, 13.4, 15.4};
  return delayed(spec, -1);
}

/// Two layers of two heads without norms. Layer 0: every token's last token, by waves, whose word it writes down; the
/// bigram head. Layer 1: whose last word was mine? ; a head that does not care.
struct WordModel {
  Matrix32 table = Matrix32::Zero(words, d_model), positions = Matrix32::Zero(longest, d_model);
  std::array<Matrix32, 2> query, key, value, output;
  Matrix32 widen = Matrix32::Zero(1, d_model), narrow = Matrix32::Zero(d_model, 1);  ///< adds nothing
  Model model;

  explicit WordModel(bool writes_last_word) {
    for (Index word = 0; word < words; ++word) table(word, first_word + word) = 1;
    const WaveSpec spec = previous_token();
    positions.leftCols(first_word) = wave_columns(spec).cast<float>();
    for (std::size_t layer = 0; layer < 2; ++layer)
      for (Matrix32* weight : {&query[layer], &key[layer], &value[layer]})
        *weight = Matrix32::Zero(d_model, 2 * d_head);
    for (Matrix32& weight : output) weight = Matrix32::Zero(2 * d_head, d_model);

    query[0].topLeftCorner(first_word, first_word) = 6 * Matrix32::Identity(first_word, first_word);
    key[0].topLeftCorner(first_word, first_word) = turned_planes(spec).cast<float>();
    value[0].leftCols(d_head) = picked(d_model, d_head, first_word, words, 1).cast<float>();
    if (writes_last_word)
      output[0].topRows(d_head) = picked(d_model, d_head, first_last_word, words, 1).transpose().cast<float>();
    const Bigram bigram(12);
    query[0].rightCols(d_head) = bigram.query.cast<float>();
    key[0].rightCols(d_head) = bigram.key.cast<float>();
    query[1].leftCols(d_head) = picked(d_model, d_head, first_word, words, 12).cast<float>();
    key[1].leftCols(d_head) = picked(d_model, d_head, first_last_word, words, 1).cast<float>();

    model.longest = longest;
    model.stack.embedding.words = table;
    model.stack.embedding.positions = positions;
    model.stack.block.causal = true;
    model.stack.block.heads = model.stack.block.kv_heads = 2;
    model.stack.block.d_head = d_head;
    for (std::size_t layer = 0; layer < 2; ++layer) {
      Block block;
      for (Matrix32* weight : {&query[layer], &key[layer], &value[layer], &output[layer]})
        *weight = weight->transpose().eval();
      block.self = {{query[layer], {}}, {key[layer], {}}, {value[layer], {}}, {output[layer], {}}};
      block.feed_forward = {{widen, {}}, {}, {narrow, {}}};
      model.stack.blocks.push_back(block);
    }
  }
  WordModel(const WordModel&) = delete;
  WordModel& operator=(const WordModel&) = delete;
  ~WordModel() = default;
};

std::vector<std::int32_t> all_words() {
  std::vector<std::int32_t> ids(words);
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

constexpr Index period = 40;

HeadTypes types_on_repeated_words(const WordModel& planted) {
  const auto text = repeated_tokens(all_words(), {.documents = 8, .period = period});
  std::vector<ShownDocument> shown;
  for (Index d = 0; d < text->count(); ++d) {
    const Document document = text->document(d);
    shown.push_back({document, [&planted, document](Probe& probe) {
                       const std::array<Probe*, 1> probes{&probe};
                       model_pass(planted.model, document, probes);
                     }});
  }
  return HeadTypes(TestPass{.grid = {{0, 1}, 2}, .kind = planted.model.kinds().front()}.fields("head_types", shown));
}

enum Row : Index { previous_head, bigram_head, induction_head, careless_head };

}  // namespace

TEST_CASE("an induction pair: one head finds the last word, the next one what followed it in the copy before") {
  const HeadTypes types = types_on_repeated_words(WordModel(true));
  CHECK(types.types[previous_head] == "previous");
  CHECK(types.of(HeadScore::previous)[previous_head] > 0.99);
  CHECK(types.types[induction_head] == "induction");
  // One query in forty repeats the token before it and looks at itself, too: that is no earlier key.
  CHECK(types.of(HeadScore::induction)[induction_head] > 0.96);
  CHECK(types.of(HeadScore::previous)[induction_head] < 0.1);
  for (const Row row : {previous_head, careless_head})
    CHECK(types.of(HeadScore::induction)[row] < 2 * types.of(HeadScore::induction_baseline)[row]);
}

TEST_CASE("over repeated random tokens the offset of an induction head is found, not the end of the search") {
  const WordModel planted(true);
  const HeadGrid grid{{0, 1}, 2};
  const AttentionKind kind = planted.model.kinds().front();
  for (const Index each : {Index{24}, period}) {
    const auto text = repeated_tokens(all_words(), {.documents = 8, .period = each});
    const Index length = text->length(0);
    OffsetTraceSum sum;
    for (Index d = 0; d < text->count(); ++d) {
      const Document document = text->document(d);
      OffsetTraceProbe probe(grid, document, 64, kind, length);
      const std::array<Probe*, 1> probes{&probe};
      model_pass(planted.model, document, probes);
      add_to(sum, probe.taken());
    }
    const MeasuredOffsets measured = measured_offsets(offset_traces(std::move(sum), grid));
    CHECK(measured.status[0][induction_head] == OffsetStatus::offset);
    CHECK(measured.offset[0][induction_head] == static_cast<double>(1 - each));
  }
}

TEST_CASE("without the head before it an induction head copies nothing") {
  const HeadTypes types = types_on_repeated_words(WordModel(false));
  CHECK(types.of(HeadScore::previous)[previous_head] > 0.99);
  CHECK(types.types[induction_head] != "induction");
  CHECK(types.of(HeadScore::induction)[induction_head] ==
        Approx(types.of(HeadScore::induction_baseline)[induction_head]).epsilon(1e-5));
}

TEST_CASE("a bigram head looks at the words that follow its own, wherever they stand") {
  const WordModel planted(true);
  const auto text = repeated_tokens(all_words(), {.documents = 1, .period = longest, .repeats = 1});
  const Document document = text->document(0);

  /// Weight on followers, over queries that have one before them.
  class Followers : public Probe {
   public:
    explicit Followers(const Document& document) : document_(document) {}
    double least = 1;
    using Probe::see;
    void see(const Tile& tile) override {
      if (tile.layer != 0) return;
      for (Index i = 0; i < tile.rows(); ++i) {
        const Index query = tile.first_row + i;
        double weight = 0;
        bool any = false;
        for (Index j = 0; j <= query; ++j) {
          if (id(j) != follower(id(query))) continue;
          weight += static_cast<double>(tile.weights[1](i, j));
          any = true;
        }
        if (any) least = std::min(least, weight);
      }
    }

   private:
    [[nodiscard]] Index id(Index j) const { return document_.ids[static_cast<std::size_t>(j)]; }
    const Document& document_;
  } followers(document);
  const std::array<Probe*, 1> probes{&followers};
  model_pass(planted.model, document, probes);
  CHECK(followers.least > 0.99);

  const HeadTypes types = types_on_repeated_words(planted);
  CHECK(types.types[bigram_head] == "other");
  CHECK(types.of(HeadScore::duplicate)[bigram_head] < types.of(HeadScore::duplicate_baseline)[bigram_head]);
}

TEST_CASE("a bigram head turns words in a circle: eigenvalues on the unit circle, and yet no delay") {
  const Bigram bigram(12);
  Eigen::VectorXcd roots(words);
  for (Index j = 0; j < words; ++j) roots[j] = std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(j) / words);

  std::vector<Matrix32> documents;
  const auto text = repeated_tokens(all_words(), {.documents = 10, .period = longest, .repeats = 1});
  for (Index d = 0; d < text->count(); ++d) {
    Matrix32 states = Matrix32::Zero(longest, d_model);
    states.leftCols(first_word) = wave_columns(previous_token()).cast<float>();
    for (Index n = 0; n < longest; ++n) states(n, first_word + text->document(d).ids[static_cast<std::size_t>(n)]) = 1;
    documents.push_back(std::move(states));
  }
  const Followed head = followed(documents.front().cast<double>(), bigram.query, bigram.key);
  CHECK(head.head->rank == words);
  CHECK(apart(head.eigenvalues(), roots) < 1e-12);

  const WaveStack heads({bigram.query}, {bigram.key});
  std::vector<ShownDocument> shown;
  for (const Matrix32& states : documents) shown.push_back(shown_states(states));
  const TestPass pass{.grid = heads.grid(), .stack = heads.stack};
  CHECK(std::isnan(field_of(pass.fields("phase_delay", shown), "phase_delay/predicted_offset").doubles()[0]));
}
