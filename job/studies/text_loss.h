#pragma once

#include <cstdint>
#include <vector>

#include "../../core/model/prediction.h"
#include "../inputs/job_input.h"
#include "../run/job.h"

namespace headwave {

struct TextLossOptions {
  double masked_share =
      0.15;                ///< share of a document's ordinary tokens that are masked for a masked model, as in training
  std::uint64_t seed = 1;  ///< of the choice of masked tokens
  int threads = 0;         ///< 0: one per core; changes no digit
};

/// How well a model predicts the documents of a source: a causal model every next token, an encoder-decoder
/// every next token of the target, a masked model the masked tokens. Which tokens are masked depends on the
/// seed and the document's number alone, so that two models, or one with and without an intervention, predict
/// the same tokens.
///
/// @param mask  id of the mask token, for a masked model
/// @returns one loss per document
/// @throws ShapeError if the model predicts nothing, or needs a mask token that is not there, or if
///         the documents have no token to be predicted; Error as the source
std::vector<PredictionLoss> text_losses(const Model& model, const Source& source, std::int32_t mask,
                                        const TextLossOptions& options = {}, const ProgressCallback& progress = {});

}  // namespace headwave
