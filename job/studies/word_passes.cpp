#include "word_passes.h"

#include <utility>

#include <fmt/format.h>

#include "../../analysis/predictions/word_atlas.h"
#include "../../core/process/threads.h"
#include "../run/document_pass.h"

namespace headwave {

std::vector<KindResult> word_passes(const JobInput& input, const WordPassesOptions& options,
                                    const ProgressCallback& progress) {
  if (const Index length = input.source->length(0); length < 3)
    throw ShapeError(
        fmt::format("random words: documents have {} tokens; offsets are predicted from 3 tokens on", length),
        {give("length", "3 or more"), give("passes", "0", "to predict from the weights alone")});
  JobOptions job;
  job.only = {"head_account"};
  job.reach = options.reach;
  job.dealt_tokens = job.draws = 0;  // the measured profile is all that is read, and its weight tells what it is worth
  const int threads = thread_count(options.threads);
  DocumentPass pass(input.model, *input.source, job, threads);
  StageReport report(progress);
  pass.run(report);
  std::vector<KindResult> results;
  for (std::size_t site = 0; site < pass.sites().size(); ++site) {
    const AttentionKind kind = pass.sites()[site].kind;
    (void)pass.fields(site, report);
    if (kind == AttentionKind::cross) continue;
    Result result;
    result.fields = describe(word_atlas(pass.finished(site).get<HeadAccount>()));
    result.provenance = input.source->provenance();
    result.provenance.insert(input.provenance.begin(), input.provenance.end());
    results.push_back({kind, std::move(result)});
  }
  report.end();
  return results;
}

}  // namespace headwave
