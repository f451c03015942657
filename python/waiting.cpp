#include "waiting.h"

#include <atomic>
#include <chrono>
#include <exception>
#include <future>
#include <string>
#include <vector>

#include "../core/process/threads.h"
#include "../job/run/progress.h"
#include "memory.h"

namespace headwave::python {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

void require_no_signal() {
  const nb::gil_scoped_acquire held;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

/// Passes a line to a Python function when a stage begins, and at most ten times a second while it lasts.
class Telling {
 public:
  explicit Telling(nb::object callable) : callable_(kept(std::move(callable))) {}

  /// May be called by several threads.
  void tell(const JobProgress& now) {
    const nb::gil_scoped_acquire held;
    const Clock::time_point time = Clock::now();
    if (now.done == now.done_before) began_ = time;
    if (now.stage == stage_ && seconds_between(told_, time) < 0.1) return;
    stage_ = now.stage;
    told_ = time;
    nb::handle(static_cast<PyObject*>(const_cast<void*>(callable_.get())))(
        progress_text(now, seconds_between(began_, time), 0));
  }

 private:
  std::shared_ptr<const void> callable_;
  std::string stage_;
  Clock::time_point began_ = Clock::now(), told_ = began_;
};

}  // namespace

void wait_for(const std::function<void()>& work) {
  std::exception_ptr raised;
  {
    const nb::gil_scoped_release released;
    std::atomic<bool> asked{false};
    std::future<void> running = std::async(std::launch::async, [&] {
      const Stoppable can_be_stopped(&asked);
      work();
    });
    while (running.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) try {
        require_no_signal();
      } catch (...) {
        raised = std::current_exception();
        asked = true;
        break;
      }
    running.wait();
    if (!raised) running.get();
  }
  if (raised) std::rethrow_exception(raised);
}

ProgressCallback told_to(const nb::object& callable) {
  if (callable.is_none()) return {};
  return [telling = std::make_shared<Telling>(callable)](const JobProgress& now) { telling->tell(now); };
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
