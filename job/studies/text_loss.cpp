#include "text_loss.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include <fmt/format.h>

#include "../../analysis/statistics/mean_change.h"
#include "../../core/numbers/random.h"
#include "../../core/process/threads.h"

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
  const bool causal = model.stack.block.causal || model.decoder.has_value();
  if (!causal && mask < 0) throw ShapeError("the tokenizer has no mask token, so no word can be asked of this model");
  const int threads = thread_count(options.threads);
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

}  // namespace headwave
