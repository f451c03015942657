#pragma once

#include <string>
#include <vector>

#include "job.h"

namespace headwave {

/// A stage of a job and what it is expected to cost.
struct StageCost {
  std::string name;    ///< "preparation", "attention", or the name of an analysis
  double seconds = 0;  ///< wall time
};

/// Tells a callback where a job stands: which stage, how far in it, and how much is expected before and after it.
class StageReport {
 public:
  /// @param plan      in the order of the stages; one that is not in it is expected to cost nothing
  /// @param progress  may be empty; then nothing is told
  StageReport(std::vector<StageCost> plan, ProgressCallback progress);

  /// The next stage begins; the one before it is over.
  void begin(const std::string& name, Index steps = 1);
  /// So many steps of the stage are done.
  void reached(Index steps);
  /// The last stage is over.
  void end();

 private:
  std::vector<StageCost> plan_;
  ProgressCallback progress_;
  std::size_t next_ = 0;  // in plan_
  JobProgress now_;
};

}  // namespace headwave
