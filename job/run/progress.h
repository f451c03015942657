#pragma once

#include <functional>
#include <string>

#include "../../core/numbers/matrix.h"

namespace headwave {

/// The progress of a job.
struct JobProgress {
  std::string stage;      ///< such as "preparation", "attention", or the name of an analysis
  Index done = 0;         ///< steps that are done; the stage ends when done = total
  Index total = 0;        ///< steps of the stage
  Index done_before = 0;  ///< steps that an earlier run did
};
using ProgressCallback = std::function<void(const JobProgress&)>;

/// Reports to a callback in which stage a job is, and how many steps of the stage are done.
class StageReport {
 public:
  /// @param progress  may be empty
  explicit StageReport(ProgressCallback progress) : progress_(std::move(progress)) {}

  /// Begins a stage and ends the one before it.
  /// @param done_before  steps that an earlier run did
  void begin(const std::string& name, Index steps = 1, Index done_before = 0);
  /// Reports how many steps of the stage are done.
  void reached(Index steps);
  /// Ends the last stage.
  void end();

 private:
  ProgressCallback progress_;
  JobProgress now_;
};

/// Formats a duration: "40 s", "12 min", "3.5 h".
std::string duration_text(double seconds);

/// Wall time left in the stage if it continues at its rate so far, in seconds; NaN before the first step.
///
///     left = passed (total - done) / (done - done_before) - since, at least 0          (1)
///
/// Later stages are not included, because their duration is unknown before they begin.
/// @param passed  seconds from the beginning of the stage to the last report
/// @param since   seconds since the last report
double seconds_left(const JobProgress& now, double passed, double since);

/// Describes the progress: "attention: 12 of 100, about 40 s left".
std::string progress_text(const JobProgress& now, double passed, double since);

/// Whether a log should get another line of progress now.
/// @param passed   seconds since the beginning
/// @param written  seconds from the beginning to the last line; 0: there is no line yet
/// @param begins   whether a stage has begun since that line
bool line_due(double passed, double written, bool begins);

}  // namespace headwave
