#include "prediction.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "layer.h"

namespace headwave {

Matrix32 logits(const PredictionHead& head, MatrixView32 states) {
  Matrix32 x = states;
  if (!head.transform.empty()) {
    x = linear(states, head.transform);
    activate(x, head.activation);
  }
  normalise(x, head.transform_norm);
  if (head.state_scale != 1.0F) x *= head.state_scale;
  Matrix32 scores = linear(x, head.words);
  if (head.soft_cap > 0) scores = head.soft_cap * (scores.array() / head.soft_cap).tanh();
  return scores;
}

double next_token_loss(const PredictionHead& head, MatrixView32 states, const std::vector<std::int32_t>& ids) {
  constexpr Index at_once = 64;  // rows, since a vocabulary may have 256,000 words
  const Index count = states.rows() - 1;
  double sum = 0;
  for (Index first = 0; first < count; first += at_once) {
    const Matrix32 scores = logits(head, states.middleRows(first, std::min(at_once, count - first)));
    for (Index i = 0; i < scores.rows(); ++i) {
      const Index next = ids[static_cast<std::size_t>(first + i + 1)];
      if (next < 0 || next >= scores.cols())
        throw ShapeError(fmt::format("a token has id {}, but the model predicts {} words", next, scores.cols()));
      // -ln p without ever forming p: a tiny p would round to zero.
      const float top = scores.row(i).maxCoeff();
      sum += static_cast<double>(top - scores(i, next)) +
             std::log(static_cast<double>((scores.row(i).array() - top).exp().sum()));
    }
  }
  return count > 0 ? sum / static_cast<double>(count) : not_defined;
}

}  // namespace headwave
