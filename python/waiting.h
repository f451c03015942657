#pragma once

#include <chrono>
#include <ctime>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "../job/run/job.h"
#include "../job/run/provenance.h"
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

/// waited_for() of work that makes results and tells its progress.
/// @param progress  as of ToldProgress
/// @param work      (const ProgressCallback&)
/// @returns what it gives, and the command with its start and time
template <class Work>
auto made(const std::string& command, const nb::object& progress, const Work& work) {
  MadeBy by{command, std::time(nullptr), 0};
  const auto begun = std::chrono::steady_clock::now();
  ToldProgress told(progress);
  auto found = waited_for([&, callback = told.callback()] { return work(callback); }, told.look());
  by.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  return std::pair(std::move(found), std::move(by));
}

/// (kind, result) of every kind of attention, with who made it.
std::vector<std::pair<std::string, Result>> named_results(std::vector<KindResult> found, const MadeBy& by);

}  // namespace headwave::python
