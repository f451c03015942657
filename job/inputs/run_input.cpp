#include "run_input.h"

#include <algorithm>

#include <fmt/format.h>

#include "../../analysis/registry/registry.h"

namespace headwave {

namespace {

/// What was asked for by name is not left out without a word.
void require_grid(const JobOptions& options, const Model& model) {
  for (const AnalysisKind* kind : listed_analyses())
    if (std::ranges::count(options.only, kind->name) > 0 && std::ranges::count(kind->needs, Need::grid) > 0 &&
        !model.reads_images())
      throw ShapeError(fmt::format("{}: needs {}, and this {} reads no images: its tokens stand in a row", kind->name,
                                   text_of(Need::grid), model.family),
                       omit("only"));
}

}  // namespace

std::vector<KindResult> run_input(const JobInput& input, const JobOptions& options, const ProgressCallback& progress,
                                  const Gather& gather) {
  require_maps(options, *input.source);
  require_grid(options, input.model);
  std::vector<KindResult> results = run_job_by_kind(input.model, *input.source, options, progress, gather);
  for (KindResult& found : results) found.result.provenance.insert(input.provenance.begin(), input.provenance.end());
  return results;
}

}  // namespace headwave
