#pragma once

#include <vector>

#include "../inputs/job_input.h"
#include "../run/job.h"

namespace headwave {

struct WordPassesOptions {
  Index reach = 64;  ///< offsets |t| <= reach are looked at, in tokens
  int threads = 0;   ///< 0: one per core; changes no digit
};

/// Takes documents of random words through a model and predicts every head's offset from what its queries and keys were
/// (analysis/predictions/word_atlas.h). The documents may be any; of a text it would be its own account, no prediction.
/// @returns word_atlas/... of each kind of attention within a sequence, with where the documents came from
/// @throws Error as the source and the model pass do; ShapeError if documents have fewer than 3 tokens
std::vector<KindResult> word_passes(const JobInput& input, const WordPassesOptions& options = {},
                                    const ProgressCallback& progress = {});

}  // namespace headwave
