#pragma once

#include <vector>

#include "../inputs/job_input.h"
#include "../run/job.h"

namespace headwave {

struct WordPassesOptions {
  Index reach = 64;  ///< offsets |t| <= reach are looked at, in tokens
  int threads = 0;   ///< 0: one per core; changes no digit
};

/// Runs documents of random words through a model and predicts every head's offset from its queries and keys
/// (analysis/predictions/word_atlas.h). With documents of a text this would be an account of that text, not a prediction.
/// @returns word_atlas/... for each kind of attention within a sequence, with the provenance of the documents
/// @throws Error as the source and the model pass do; ShapeError if documents have fewer than 3 tokens
std::vector<KindResult> word_passes(const JobInput& input, const WordPassesOptions& options = {},
                                    const ProgressCallback& progress = {});

}  // namespace headwave
