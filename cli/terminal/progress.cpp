#include "progress.h"

#include <chrono>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>

#include <unistd.h>

namespace headwave::cli {

namespace {

using Clock = std::chrono::steady_clock;

double seconds(Clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

class Display {
 public:
  /// May be called by several threads.
  void tell(const JobProgress& now) {
    const std::lock_guard lock(mutex_);
    const Clock::time_point time = Clock::now();
    if (!started_) started_ = time;
    if (now.done == now.done_before) stage_started_ = time;
    begins_ = begins_ || now.stage != stage_;
    stage_ = now.stage;
    const double passed = seconds(time - *started_);
    if (is_terminal_ ? !begins_ && passed < written_ + 0.5 : !line_due(passed, written_, begins_)) return;
    written_ = passed;
    begins_ = false;
    line_is_open_ = is_terminal_;
    const std::string text = progress_text(now, seconds(time - stage_started_), 0);
    std::fputs((is_terminal_ ? "\r\033[K" + text : duration_text(passed) + ": " + text + "\n").c_str(), stderr);
    std::fflush(stderr);
  }

  void end() {
    const std::lock_guard lock(mutex_);
    if (line_is_open_) std::fputs("\r\033[K", stderr);
    line_is_open_ = false;
  }

 private:
  const bool is_terminal_ = isatty(STDERR_FILENO) != 0;
  std::mutex mutex_;
  std::optional<Clock::time_point> started_;
  Clock::time_point stage_started_;
  std::string stage_;
  double written_ = 0;  // seconds since the start
  bool begins_ = false, line_is_open_ = false;
};

Display& display() {
  static Display one;
  return one;
}

}  // namespace

bool& quiet() {
  static bool flag = false;
  return flag;
}

ProgressCallback progress() {
  if (quiet()) return {};
  return [](const JobProgress& now) { display().tell(now); };
}

void progress_at(const std::string& what, Index number, Index total) {
  if (quiet()) return;
  display().tell({.stage = what, .done = number, .total = total});
}

void end_progress() {
  if (!quiet()) display().end();
}

}  // namespace headwave::cli
