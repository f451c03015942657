#include <algorithm>
#include <cmath>
#include <limits>

#include "../../core/model/model_pass.h"
#include "../../core/model/prediction.h"
#include "../../core/planted/planted.h"
#include "../catch.h"

using namespace headwave;

namespace {

/// Blocks hand their input on, words are orthonormal directions of one length and are read as they are: what a position
/// predicts is the word that stands there.
PlantedModel repeating_model(bool causal) {
  PlantedSpec spec;
  spec.length = 16;
  spec.d_model = 48;
  spec.d_head = 32;
  spec.words = 8;
  spec.frequencies = {1.3, 2.6};
  spec.heads = {{{PlantedKind::noise, 0, {}, 1.0}}};
  PlantedModel planted = planted_model(spec);
  planted.model.stack.block.causal = causal;
  planted.model.head.words.weight = planted.model.stack.embedding.words.in_memory();
  return planted;
}

Document document_of(std::vector<std::int32_t> ids) {
  Document document;
  document.ids = std::move(ids);
  return document;
}

/// Softmax of x . words, word by word.
std::vector<double> chances_by_hand(const Model& model, const Document& document, Index place) {
  const Matrix32 states = model_pass(model, document, {}, {.final_states = true});
  const MatrixView32& words = model.head.words.weight;
  std::vector<double> chances;
  double sum = 0;
  for (Index w = 0; w < words.rows(); ++w) {
    double score = 0;
    for (Index c = 0; c < words.cols(); ++c)
      score += static_cast<double>(states(place, c)) * static_cast<double>(words(w, c));
    chances.push_back(std::exp(score));
    sum += chances.back();
  }
  for (double& chance : chances) chance /= sum;
  return chances;
}

void check_words(const Guess& guess, const std::vector<double>& chances, std::size_t top) {
  REQUIRE(guess.words.size() == std::min(top, chances.size()));
  std::vector<double> sorted = chances;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  for (std::size_t i = 0; i < guess.words.size(); ++i) {
    CAPTURE(i);
    // Scores of size 10 in float32.
    CHECK(guess.words[i].probability == Approx(chances[static_cast<std::size_t>(guess.words[i].id)]).epsilon(1e-5));
    CHECK(guess.words[i].probability == Approx(sorted[i]).epsilon(1e-5));
  }
}

}  // namespace

TEST_CASE("every mask of a text is guessed at, in order, and nothing else") {
  const PlantedModel planted = repeating_model(false);
  const Document document = document_of({2, 7, 4, 9, 4, 3});
  const auto guesses = masked_guesses(planted.model, document, 4, 5);
  REQUIRE(guesses.size() == 2);
  CHECK(guesses[0].place == 2);
  CHECK(guesses[1].place == 4);
  for (const Guess& guess : guesses) {
    CHECK(guess.words.front().id == 4);
    check_words(guess, chances_by_hand(planted.model, document, guess.place), 5);
  }
  CHECK(masked_guesses(planted.model, document, 11, 5).empty());
  CHECK(masked_guesses(planted.model, document, -1, 5).empty());
}

TEST_CASE("a text is continued by the likeliest token each time") {
  const PlantedModel planted = repeating_model(true);
  Document document = document_of({2, 7, 9});
  const auto guesses = greedy_continuation(planted.model, document, 3, 100);
  REQUIRE(guesses.size() == 3);
  for (const Guess& guess : guesses) {
    CHECK(guess.place == document.length());
    CHECK(guess.words.front().id == 9);
    check_words(guess, chances_by_hand(planted.model, document, document.length() - 1), 100);
    document.ids.push_back(9);
  }
}

TEST_CASE("guesses are refused where there is nothing to guess with") {
  PlantedModel planted = repeating_model(false);
  const Document document = document_of({2, 4, 3});
  CHECK_THROWS_WITH(greedy_continuation(planted.model, document, 1, 1),
                    ContainsSubstring("does not predict the next token"));
  Vector32 bias = Vector32::Zero(planted.model.head.words.weight.rows());
  bias[5] = std::numeric_limits<float>::quiet_NaN();
  planted.model.head.words.bias = bias;
  CHECK_THROWS_AS(masked_guesses(planted.model, document, 4, 1), NumericError);
  planted.model.stack.block.causal = true;
  CHECK_THROWS_AS(greedy_continuation(planted.model, document, 1, 1), NumericError);
  CHECK_THROWS_AS(greedy_continuation(planted.model, document_of({2, 99}), 1, 1), ShapeError);  // no such word
  planted.model.head = {};
  CHECK_THROWS_WITH(greedy_continuation(planted.model, document, 1, 1), ContainsSubstring("no prediction head"));
  CHECK_THROWS_WITH(masked_guesses(planted.model, document, 4, 1), ContainsSubstring("no prediction head"));
}
