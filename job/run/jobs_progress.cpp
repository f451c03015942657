#include "jobs_progress.h"

#include <algorithm>
#include <utility>

#include "../../core/process/threads.h"
#include "job_stages.h"

namespace headwave {

double job_cost(const Model& model, const Source& source, const JobOptions& options) {
  const int threads = thread_count(options.threads);
  const DocumentPass pass(model, source, options, threads);
  double cost = 0;
  for (const StageCost& stage : job_stages(model, pass, options, threads)) cost += stage.seconds;
  return cost;
}

JobsProgress::JobsProgress(ProgressCallback progress, double whole, double changed, int jobs)
    : progress_(std::move(progress)), changed_(changed), here_(whole), after_(changed * jobs) {}

ProgressCallback JobsProgress::of(const std::string& name) const {
  if (!progress_) return {};
  return [this, name](JobProgress now) {
    if (!name.empty()) now.stage = name + ": " + now.stage;
    now.before += before_;
    now.after += after_;
    progress_(now);
  };
}

void JobsProgress::next() {
  before_ += here_;
  here_ = changed_;
  after_ = std::max(0.0, after_ - changed_);
}

}  // namespace headwave
