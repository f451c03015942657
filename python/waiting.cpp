#include "waiting.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <vector>

#include "../core/process/joined_thread.h"
#include "../core/process/threads.h"
#include "../job/run/progress.h"

namespace headwave::python {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

/// Work in a thread, and how it ended.
class Work {
 public:
  explicit Work(const std::function<void()>& work) : thread_([this, &work] { run(work); }) {}

  /// @returns whether it has ended
  bool wait_a_while() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::milliseconds(50), [this] { return ended_; });
  }
  void stop() { asked_ = true; }
  void join() { thread_.join(); }
  /// @throws what the work threw
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void run(const std::function<void()>& work) {
    const Stoppable can_be_stopped(&asked_);
    try {
      work();
    } catch (...) {
      error_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_one();
  }

  std::atomic<bool> asked_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::exception_ptr error_;
  JoinedThread thread_;  // last: what it uses is there
};

void look_up(const std::function<void()>& look) {
  const nb::gil_scoped_acquire held;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  if (look) look();
}

}  // namespace

void wait_for(const std::function<void()>& work, const std::function<void()>& look) {
  std::exception_ptr raised;
  {
    const nb::gil_scoped_release released;
    Work running(work);
    while (!running.wait_a_while()) try {
        look_up(look);
      } catch (...) {
        raised = std::current_exception();
        running.stop();
        break;
      }
    running.join();
    if (!raised) running.rethrow();
  }
  if (raised) std::rethrow_exception(raised);
  look_up(look);  // what a short piece of work told is not left untold
}

struct ToldProgress::Told {
  struct Step {
    JobProgress now;
    Clock::time_point began, at;
  };
  std::mutex mutex;
  std::vector<Step> steps;  // the last of each stage that was not told yet, and of the stage that goes on
  Clock::time_point began = Clock::now();  // the stage that goes on
};

ToldProgress::ToldProgress(nb::object callable)
    : callable_(std::move(callable)), told_(std::make_shared<ToldProgress::Told>()) {}

ProgressCallback ToldProgress::callback() {
  if (callable_.is_none()) return {};
  return [told = told_](const JobProgress& now) {
    const std::lock_guard lock(told->mutex);
    std::vector<Told::Step>& steps = told->steps;
    if (!steps.empty() && steps.back().now.stage == now.stage) steps.pop_back();
    if (now.done == now.done_before) told->began = Clock::now();
    steps.push_back({now, told->began, Clock::now()});
  };
}

std::function<void()> ToldProgress::look() {
  if (callable_.is_none()) return {};
  return [this] {
    std::vector<std::string> lines;
    {
      const std::lock_guard lock(told_->mutex);
      for (const auto& [now, began, at] : told_->steps)
        lines.push_back(progress_text(now, seconds_between(began, at), seconds_between(at, Clock::now())));
      if (!told_->steps.empty()) told_->steps = {told_->steps.back()};
    }
    for (const std::string& line : lines) callable_(line);
  };
}

std::vector<std::pair<std::string, Result>> named_results(std::vector<KindResult> found, const MadeBy& by) {
  std::vector<std::pair<std::string, Result>> results;
  for (KindResult& kind : found) {
    add_program(kind.result.provenance, by);
    results.emplace_back(name_of(kind.kind), std::move(kind.result));
  }
  return results;
}

}  // namespace headwave::python
