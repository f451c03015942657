#include "prediction.h"

#include <algorithm>
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

namespace {

/// @param states  final states; the guess is made from row `at`
Guess guess_from(const Model& model, const Matrix32& states, Index at, Index place, Index top) {
  const Matrix32 scores = logits(model, states.middleRows(at, 1));
  const Vector chances = probabilities(VectorView32(scores.data(), scores.cols()));
  if (chances.hasNaN())
    throw NumericError(
        fmt::format("the words' scores at position {} are not finite; look for NaN or huge values in the model's "
                    "weights",
                    place));
  return {place, likeliest(chances, top)};
}

}  // namespace

std::vector<Guess> masked_guesses(const Model& model, const Document& document, std::int32_t mask, Index top) {
  const Matrix32 states = model_pass(model, document, {}, {.final_states = true});
  std::vector<Guess> guesses;
  for (Index i = 0; i < document.length(); ++i)
    if (mask >= 0 && document.ids[static_cast<std::size_t>(i)] == mask)
      guesses.push_back(guess_from(model, states, i, i, top));
  return guesses;
}

std::vector<Guess> greedy_continuation(const Model& model, Document document, Index tokens, Index top) {
  if (!model.stack.block.causal || model.decoder)
    throw ShapeError(
        fmt::format("greedy_continuation: a {} does not predict the next token from those before it", model.family));
  std::vector<Guess> guesses;
  for (Index n = 0; n < tokens; ++n) {
    const Matrix32 states = model_pass(model, document, {}, {.final_states = true});
    guesses.push_back(guess_from(model, states, states.rows() - 1, document.length(), std::max<Index>(1, top)));
    document.ids.push_back(static_cast<std::int32_t>(guesses.back().words.front().id));
  }
  return guesses;
}

}  // namespace headwave
