#pragma once

#include <functional>
#include <utility>

#include "../job/run/job.h"
#include "python.h"

namespace headwave::python {

/// Does work in a second thread. Meanwhile the calling thread, without Python's lock, checks every 50 ms for
/// a signal (Ctrl-C stops the work) and for progress to report.
/// @param look  called with Python's lock held, and once more when the work is done; may be empty
/// @throws what the work throws, what the handler of a signal raises, or what `look` raises; the work has ended then
void wait_for(const std::function<void()>& work, const std::function<void()>& look = {});

/// The same of work that gives something.
template <class Work>
auto waited_for(const Work& work, const std::function<void()>& look = {}) {
  std::optional<decltype(work())> found;
  wait_for([&] { found.emplace(work()); }, look);
  return std::move(*found);
}

/// What a job tells of its progress, kept until the thread that waits for it hands it to Python: of every stage one line at
/// least, however short the stage.
class ToldProgress {
 public:
  /// @param callable  (text) told "attention: 12 of 100, about 40 s left"; or None
  explicit ToldProgress(nb::object callable);

  /// For the job.
  [[nodiscard]] ProgressCallback callback();
  /// For wait_for(); empty without a callable.
  [[nodiscard]] std::function<void()> look();

 private:
  struct Told;
  nb::object callable_;
  std::shared_ptr<Told> told_;
};

}  // namespace headwave::python
