#include "run_input.h"

namespace headwave {

std::vector<KindResult> run_input(const JobInput& input, const JobOptions& options, const ProgressCallback& progress,
                                  const Gather& gather) {
  require_maps(options, *input.source);
  std::vector<KindResult> results = run_job_by_kind(input.model, *input.source, options, progress, gather);
  for (KindResult& found : results) found.result.provenance.insert(input.provenance.begin(), input.provenance.end());
  return results;
}

}  // namespace headwave
