#include "text_loss.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "../../core/numbers/random.h"
#include "../../core/numbers/threads.h"

namespace headwave {

namespace {

/// A share of the ordinary tokens, at least one, in order.
std::vector<Index> masked_places(const Document& document, double share, Random random) {
  std::vector<Index> places;
  for (Index i = 0; i < document.length(); ++i)
    if (!document.is_special(i)) places.push_back(i);
  random.shuffle(places);
  const auto asked = static_cast<std::size_t>(std::lround(share * static_cast<double>(places.size())));
  places.resize(std::min(places.size(), std::max<std::size_t>(1, asked)));
  std::sort(places.begin(), places.end());
  return places;
}

}  // namespace

std::vector<PredictionLoss> text_losses(const Model& model, const Source& source, std::int32_t mask,
                                        const TextLossOptions& options, const ProgressCallback& progress) {
  if (model.decoder)
    throw ShapeError(
        fmt::format("a {} writes a text about another; losses are of masked and causal language models", model.family));
  const bool causal = model.stack.block.causal;
  if (!causal && mask < 0) throw ShapeError("the tokenizer has no mask token, so no word can be asked of this model");
  const int threads =
      options.threads > 0 ? options.threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  std::vector<PredictionLoss> losses(static_cast<std::size_t>(source.count()));
  std::mutex reporting;
  Index done = 0;
  if (progress) progress({"prediction", 0, source.count()});
  parallel_for(source.count(), threads, [&](Index i) {
    const Document document = source.document(i);
    const Random random = Random(options.seed).stream(static_cast<std::uint64_t>(i));
    losses[static_cast<std::size_t>(i)] =
        causal ? causal_loss(model, document)
               : masked_loss(model, document, masked_places(document, options.masked_share, random), mask);
    const std::lock_guard lock(reporting);
    ++done;
    if (progress) progress({"prediction", done, source.count()});
  });
  if (total(losses).tokens == 0)
    throw ShapeError("the documents have no token to be predicted from others; give longer ones");
  return losses;
}

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
  difference.standard_error = std::numeric_limits<double>::quiet_NaN();
  const auto documents = static_cast<double>(before.size());
  if (before.size() < 2) return difference;
  // Delta method for a ratio of sums: residuals of each document's difference from the mean times its tokens.
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
