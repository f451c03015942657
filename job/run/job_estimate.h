#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "job.h"

namespace headwave {

/// Time, memory and disk of a job, extrapolated from runs of a few of its documents.
struct JobEstimate {
  Index documents = 0;
  Index shortest = 0, longest = 0;  ///< tokens of a document
  Index layers = 0, heads = 0;
  int threads = 1;
  Index tried = 0;                    ///< documents of the last trial
  std::vector<KindResult> trial;      ///< what they gave: the Fields of the result, of fewer documents
  double seconds = 0;                 ///< wall time, writing the result included, figures not
  double processor_seconds = 0;       ///< of all threads together
  std::int64_t memory_bytes = 0;      ///< largest resident memory, mapped weights included
  std::int64_t result_bytes = 0;      ///< of the result file
  std::int64_t unfinished_bytes = 0;  ///< of the file of an unfinished run
};

/// Runs the job on a few of its documents, then on twice as many, until a trial has taken some seconds, and
/// extrapolates from the last two trials, of n < m documents, to all N:
///
///     y(N) = y(m) + min(max(0, (y(m) - y(n)) / (m - n)), y(m) / m) (N - m)                            (1)
///
/// for time, for the result file and for the sums that all documents come to. So a quantity grows between not
/// at all and in proportion to the documents. Memory is the largest measured, or, where that is more, what
/// was measured once half of the m documents were through plus what the sums grow by. The documents of a
/// trial are spread evenly over all, the longest among them. Time is that of a machine as busy as it was
/// during the trials.
///
/// @param written  writes results somewhere and returns their bytes
/// @param enough   seconds of a trial that is the last one; ten times as many of fewer than 8 documents.
///                 There are two trials at least, unless the first is the whole job
/// @throws Error as run_job_by_kind()
JobEstimate estimate_job(const Model& model, const Source& source, const JobOptions& options,
                         const std::function<std::int64_t(const std::vector<KindResult>&)>& written, double enough = 3);

}  // namespace headwave
