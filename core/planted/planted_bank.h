#pragma once

#include <cstdint>
#include <memory>

#include "../model/source.h"
#include "planted.h"

namespace headwave {

/// The bank that `headwave demo` runs: 4 layers x 8 heads; adjacent (-1, +1), left (-3), right (+3) and broad
/// (-6, +6) heads in every layer, in another order each time, and two of sink, content and noise.
PlantedSpec planted_bank(std::uint64_t seed = 1);

/// Documents of random words between [CLS] and [SEP]. The model must outlive the source.
/// @param length  tokens per document, with both special ones
/// @throws ShapeError if the length is below 3 or beyond the model's positions
std::unique_ptr<Source> planted_documents(const PlantedModel& planted, Index documents, Index length,
                                          std::uint64_t seed);

}  // namespace headwave
