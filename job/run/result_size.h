#pragma once

#include <cstdint>

#include "job.h"

namespace headwave {

/// The most that the result files of a job take on a disk, from sizes alone, before anything is computed: what the
/// analyses say of their large Fields (AnalysisCost::entries), 8 bytes each; the many small ones are bounded all
/// together. Packing makes the file smaller by a third, as a rule: noise does not pack.
/// @throws ShapeError as chosen_analyses()
std::int64_t result_bytes(const Model& model, const Source& source, const JobOptions& options = {});

}  // namespace headwave
