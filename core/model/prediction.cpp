#include "prediction.h"

#include <cmath>

#include <fmt/format.h>

#include "../numbers/largest_entries.h"
#include "layer.h"
#include "model_pass.h"

namespace headwave {

namespace {

/// -ln p of a word, without ever forming p: a tiny p would round to zero.
double surprise(const Matrix32& scores, Index row, Index id) {
  const Eigen::RowVectorXd s = scores.row(row).cast<double>();
  const double top = s.maxCoeff();
  return top + std::log((s.array() - top).exp().sum()) - s[id];
}

void require_head(const Model& model) {
  if (model.head.words.empty())
    throw ShapeError(
        fmt::format("this {} checkpoint has no prediction head; give one that predicts tokens, such as a "
                    "masked-LM or causal-LM checkpoint",
                    model.family));
}

void require_word(const Model& model, Index id) {
  if (id < 0 || id >= model.head.words.d_out())
    throw ShapeError(
        fmt::format("a token has id {}, outside the {} words that the model predicts", id, model.head.words.d_out()));
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

Vector32 class_scores(const Model& model, MatrixView32 states) {
  const auto count = static_cast<Index>(model.classes.size());
  if (count == 0 || states.rows() < count)
    throw ShapeError(fmt::format("this {} checkpoint classifies nothing; give one with a classifier", model.family));
  Vector32 scores = Vector32::Zero(model.classes.front().d_out());
  for (Index i = 0; i < count; ++i)
    scores += linear(states.middleRows(i, 1), model.classes[static_cast<std::size_t>(i)]).transpose();
  return scores / static_cast<float>(count);
}

Vector probabilities(VectorView32 row) {
  const Vector scores = row.cast<double>();
  Vector chances = (scores.array() - scores.maxCoeff()).exp();
  chances /= chances.sum();
  return chances;
}

std::vector<WordChance> likeliest(const Vector& chances, Index count) {
  std::vector<WordChance> words;
  for (const Index id : largest_entries(chances, count)) words.push_back({id, chances[id]});
  return words;
}

namespace {

/// What is predicted are token ids: stored states alone have none.
void require_ids(const Document& document) {
  if (static_cast<Index>(document.ids.size()) != document.length())
    throw ShapeError(fmt::format("a loss is about token ids; the document has {} of them for {} tokens",
                                 document.ids.size(), document.length()));
}

}  // namespace

PredictionLoss causal_loss(const Model& model, const Document& document) {
  if (!model.stack.block.causal && !model.decoder)
    throw ShapeError(
        fmt::format("causal_loss: a {} does not predict the next token from those before it", model.family));
  require_head(model);
  require_ids(document);
  const std::vector<std::int32_t>& ids = model.decoder ? document.target.ids : document.ids;
  const Matrix32 last = model_pass(model, document, {}, {.final_states = true});
  PredictionLoss loss;
  if (last.rows() < 2) return loss;
  const Matrix32 scores = logits(model, last.topRows(last.rows() - 1));
  for (Index i = 0; i < scores.rows(); ++i) {
    const Index next = ids[static_cast<std::size_t>(i) + 1];
    require_word(model, next);
    loss.sum += surprise(scores, i, next);
    ++loss.tokens;
  }
  return loss;
}

PredictionLoss masked_loss(const Model& model, const Document& document, std::span<const Index> places,
                           std::int32_t mask) {
  require_head(model);
  require_ids(document);
  Document masked = document;
  for (const Index place : places) {
    if (place < 0 || place >= document.length())
      throw ShapeError(
          fmt::format("masked_loss: place {} lies outside a document of {} tokens", place, document.length()));
    masked.ids[static_cast<std::size_t>(place)] = mask;
  }
  const Matrix32 last = model_pass(model, masked, {}, {.final_states = true});
  PredictionLoss loss;
  for (const Index place : places) {
    const Index word = document.ids[static_cast<std::size_t>(place)];
    require_word(model, word);
    loss.sum += surprise(logits(model, last.middleRows(place, 1)), 0, word);
    ++loss.tokens;
  }
  return loss;
}

}  // namespace headwave
