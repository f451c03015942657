#include "../../core/model/prediction.h"

#include <cmath>

#include "../../core/model/layer.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("probabilities are the softmax, however large the scores") {
  Vector32 scores(3);
  scores << 1000.0F, 1000.0F, 999.0F;
  const Vector chances = probabilities(scores);
  CHECK(chances[0] == Approx(1 / (2 + std::exp(-1.0))));
  CHECK(chances.sum() == Approx(1));
}

TEST_CASE("the likeliest words come in order, ties by id") {
  Vector chances(4);
  chances << 0.2, 0.3, 0.2, 0.3;
  const auto words = likeliest(chances, 3);
  REQUIRE(words.size() == 3);
  CHECK(words[0].id == 1);
  CHECK(words[1].id == 3);
  CHECK(words[2].id == 0);
  CHECK(words[2].probability == 0.2);
  CHECK(likeliest(chances, 9).size() == 4);
}

TEST_CASE("a model without a head predicts nothing, and says so") {
  Model model;
  model.family = "bert";
  CHECK_THROWS_WITH(logits(model, Matrix32(Matrix32::Zero(1, 4))),
                    ContainsSubstring("this bert checkpoint has no prediction head"));
  Document document;
  document.ids = {0, 1};
  const std::vector<Index> first{0};
  CHECK_THROWS_AS(masked_loss(model, document, first, 1), ShapeError);
  model.stack.block.causal = true;
  CHECK_THROWS_AS(causal_loss(model, document), ShapeError);
}

TEST_CASE("losses are refused of a model that reads both ways, and of places outside the document") {
  const Matrix32 words = Matrix32::Ones(3, 2);
  Model model;
  model.family = "bert";
  model.head.words.weight = words;
  CHECK_THROWS_WITH(logits(model, Matrix32(Matrix32::Zero(1, 4))), ContainsSubstring("width 4, the weights expect 2"));
  Document document;
  document.ids = {0, 1};
  CHECK_THROWS_WITH(causal_loss(model, document), ContainsSubstring("a bert does not predict the next token"));
  for (const Index place : {-1, 2}) {
    const std::vector<Index> places{0, place};
    CHECK_THROWS_AS(masked_loss(model, document, places, 1), ShapeError);
    CHECK_THROWS_WITH(masked_loss(model, document, places, 1), ContainsSubstring("outside a document of 2 tokens"));
  }
}

TEST_CASE("losses are refused of tokens that the model reads and does not predict, or does not know") {
  const Matrix32 words = Matrix32::Ones(4, 2), predicted = Matrix32::Ones(3, 2);
  Model model;
  model.family = "bert";
  model.stack.embedding.words = words;
  model.head.words.weight = predicted;
  Document document;
  document.ids = {0, 3};
  const std::vector<Index> last{1};
  CHECK_THROWS_WITH(masked_loss(model, document, last, 1), ContainsSubstring("id 3, outside the 3 words"));
  CHECK_THROWS_AS(masked_loss(model, document, last, 4), ShapeError);  // the mask
  model.stack.block.causal = true;
  CHECK_THROWS_WITH(causal_loss(model, document), ContainsSubstring("id 3, outside the 3 words"));
  document.ids = {4, 0};
  CHECK_THROWS_WITH(causal_loss(model, document), ContainsSubstring("id 4, outside the vocabulary of 4"));
}

TEST_CASE("losses are refused of a document whose states were stored without its token ids") {
  const Matrix32 words = Matrix32::Ones(3, 2);
  Model model;
  model.family = "bert";
  model.head.words.weight = words;
  Document document;
  document.stored.push_back({0, Matrix32::Zero(4, 2), {}, {}});
  REQUIRE(document.length() == 4);
  const std::vector<Index> places{3};
  CHECK_THROWS_WITH(masked_loss(model, document, places, 1), ContainsSubstring("0 of them for 4 tokens"));
  model.stack.block.causal = true;
  CHECK_THROWS_WITH(causal_loss(model, document), ContainsSubstring("0 of them for 4 tokens"));
}
