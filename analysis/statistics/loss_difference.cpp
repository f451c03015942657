#include "loss_difference.h"

#include <cmath>

#include <fmt/format.h>

namespace headwave {

PredictionLoss total(const std::vector<PredictionLoss>& losses) {
  PredictionLoss all;
  for (const PredictionLoss& loss : losses) {
    all.tokens += loss.tokens;
    all.sum += loss.sum;
  }
  return all;
}

LossDifference loss_difference(const std::vector<PredictionLoss>& before, const std::vector<PredictionLoss>& after) {
  if (before.size() != after.size())
    throw ShapeError(
        fmt::format("loss_difference: {} and {} documents; expected the same ones", before.size(), after.size()));
  LossDifference difference;
  difference.mean = total(after).mean() - total(before).mean();
  difference.standard_error = not_defined;
  const auto documents = static_cast<double>(before.size());
  if (before.size() < 2) return difference;
  double squares = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i].tokens != after[i].tokens)
      throw ShapeError(fmt::format("loss_difference: {} and {} tokens in document {}; expected the same ones",
                                   before[i].tokens, after[i].tokens, i));
    const double residual = after[i].sum - before[i].sum - difference.mean * static_cast<double>(before[i].tokens);
    squares += residual * residual;
  }
  const auto tokens = static_cast<double>(total(before).tokens);
  difference.standard_error = std::sqrt(squares * documents / (documents - 1)) / tokens;
  return difference;
}

}  // namespace headwave
