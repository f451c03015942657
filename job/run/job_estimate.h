#pragma once

#include <cstdint>
#include <vector>

#include "job.h"

namespace headwave {

/// What a job would take, found out by running a little of it.
struct JobEstimate {
  Index documents = 0;
  Index shortest = 0, longest = 0;  ///< tokens of a document
  Index layers = 0, heads = 0;
  Index probed = 0;                ///< documents that were run to find out
  int threads = 1;                 ///< of the job
  std::vector<KindResult> probe;   ///< what they gave: the Fields that the result would hold, of fewer documents
  double seconds = 0.0;            ///< wall time without figures, while the machine is as busy as it was
  double processor_seconds = 0.0;  ///< of all threads together
  std::int64_t memory_bytes = 0;   ///< largest resident memory, the mapped weights with it
  std::int64_t result_bytes = 0;   ///< of the result file; its parts are packed about as well as the probe's
  std::int64_t kept_bytes = 0;     ///< of an unfinished run's file
};

/// Runs the first documents, a few for each thread, and reckons the job from them:
///
///     attention time = that of the first two + that of the others * cost of all others / cost of the probe's   (1)
///     time of another stage = probe's * cost in the job / cost in the probe                                    (2)
///     reading time = that of a document in the mean * documents                                                (3)
///
/// where costs are those of job_stages.h, and times of the wall or of processors. What the null of the phases takes in the
/// first two documents is apart in (1); where layers are read one by one documents end together, and (2) holds for attention
/// too. Reading is taken out of (1), since stored documents may lie in packed chunks that many share: for (3) up to 64 are
/// read, for half a second or a fifth of what the others took. Memory is that of job_memory.h, or what the probe took where
/// that is more. Nothing is written.
///
/// @throws Error as run_job_by_kind()
JobEstimate estimate_job(const Model& model, const Source& source, const JobOptions& options = {});

}  // namespace headwave
