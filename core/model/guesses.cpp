#include "guesses.h"

#include <algorithm>

#include <fmt/format.h>

#include "model_pass.h"

namespace headwave {

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
