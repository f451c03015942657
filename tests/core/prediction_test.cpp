#include "../../core/model/prediction.h"

#include "../catch.h"

using namespace headwave;

TEST_CASE("a model without a head predicts nothing, and says so") {
  Model model;
  model.family = "bert";
  CHECK_THROWS_WITH(logits(model, Matrix32(Matrix32::Zero(1, 4))),
                    ContainsSubstring("this bert checkpoint has no prediction head"));
}

TEST_CASE("states of another width than the prediction head's are refused") {
  const Matrix32 words = Matrix32::Ones(3, 2);
  Model model;
  model.family = "bert";
  model.head.words.weight = words;
  CHECK_THROWS_WITH(logits(model, Matrix32(Matrix32::Zero(1, 4))), ContainsSubstring("width 4, the weights expect 2"));
}
