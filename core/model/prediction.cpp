#include "prediction.h"

#include <fmt/format.h>

#include "layer.h"

namespace headwave {

namespace {

void require_head(const Model& model) {
  if (model.head.words.empty())
    throw ShapeError(
        fmt::format("this {} checkpoint has no prediction head; give one that predicts tokens, such as a "
                    "masked-LM or causal-LM checkpoint",
                    model.family));
}

}  // namespace

Matrix32 logits(const Model& model, MatrixView32 states) {
  require_head(model);
  const std::shared_ptr<const PredictionHead> held = model.prediction();
  const PredictionHead& head = *held;
  Matrix32 x = head.transform.empty() ? Matrix32(states) : linear(states, head.transform);
  if (!head.transform.empty()) activate(x, head.activation);
  normalise(x, head.transform_norm);
  if (head.state_scale != 1.0F) x *= head.state_scale;
  Matrix32 scores = linear(x, head.words);
  if (head.soft_cap > 0) scores = head.soft_cap * (scores.array() / head.soft_cap).tanh();
  return scores;
}

}  // namespace headwave
