#include "run_input.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "../../analysis/registry/registry.h"
#include "../../analysis/why/head_account.h"
#include "../../core/bytes/bytes.h"
#include "stored_sums.h"

namespace headwave {

namespace {

/// The results of stored sums. An error in their numbers is an error in their file, so the message names it.
std::vector<KindResult> run_sums(const JobInput& input, const JobOptions& options, const ProgressCallback& progress) {
  try {
    std::vector<KindResult> results =
        run_job_by_kind(input.model, *input.source, options, progress, input.sums->gather(options));
    const std::string_view account = head_account_analysis.name;
    if (std::ranges::count(chosen_analyses(options), account, &AnalysisKind::name) > 0)
      for (KindResult& found : results)
        if (!holds(found.result, account)) found.result.provenance["undefined_account"] = input.sums->no_account();
    return results;
  } catch (const NumericError& error) {
    throw NumericError(fmt::format("{}: {}", input.sums->file(), error.finding()), error.remedies());
  }
}

}  // namespace

std::vector<KindResult> run_input(const JobInput& input, const JobOptions& options, const ProgressCallback& progress,
                                  const Gather& gather) {
  if (input.sums) require_options_of_sums(options);
  require_maps(options, *input.source);
  std::vector<KindResult> results = input.sums ? run_sums(input, options, progress)
                                               : run_job_by_kind(input.model, *input.source, options, progress, gather);
  for (KindResult& found : results) found.result.provenance.insert(input.provenance.begin(), input.provenance.end());
  for (const JobInput& other : input.others) append(results, run_input(other, options, progress));
  return results;
}

}  // namespace headwave
