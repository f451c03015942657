#pragma once

#include <string>

#include "job.h"

namespace headwave {

/// What a whole job is expected to cost, in the unit of job_stages.h.
double job_cost(const Model& model, const Source& source, const JobOptions& options);

/// Tells of one job after another as of one: what the others are expected to cost comes before or after.
class JobsProgress {
 public:
  /// @param whole    cost of the first job
  /// @param changed  of each of the `jobs` after it
  JobsProgress(ProgressCallback progress, double whole, double changed, int jobs);

  /// What to give the job that runs now; the progress must outlive it.
  /// @param name  stands before the stages; may be empty
  [[nodiscard]] ProgressCallback of(const std::string& name) const;
  /// That job is over, or left out.
  void next();

 private:
  ProgressCallback progress_;
  double changed_, before_ = 0, here_, after_;
};

}  // namespace headwave
