#include "progress.h"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>

#include <unistd.h>

#include "../../core/process/joined_thread.h"

namespace headwave::cli {

namespace {

using Clock = std::chrono::steady_clock;

double seconds(Clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

/// What was last told, and the thread that shows it.
class Display {
 public:
  Display() = default;
  Display(const Display&) = delete;
  Display& operator=(const Display&) = delete;
  ~Display() { end_writer(); }

  void tell(const JobProgress& now) {
    const std::lock_guard lock(mutex_);
    const Clock::time_point time = Clock::now();
    if (!started_) started_ = time;
    if (now.done == now.done_before) stage_started_ = time;
    begins_ = begins_ || now.stage != now_.stage;
    now_ = now;
    told_ = time;
    if (writer_.joinable()) return;
    try {
      writer_ = JoinedThread([this] { write(); });
    } catch (const std::system_error&) {
      return;  // no work fails because nobody can be told of it
    }
  }

  void end() {
    end_writer();
    const std::lock_guard lock(mutex_);
    if (line_is_open_) std::fputs("\r\033[K", stderr);
    line_is_open_ = false;
  }

 private:
  void end_writer() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    woken_.notify_one();
    writer_.join();
    ends_ = false;
  }

  void write() {
    std::unique_lock lock(mutex_);
    while (!woken_.wait_for(lock, std::chrono::milliseconds(500), [this] { return ends_; })) {
      const std::string line = line_now();
      // Outside the lock: whoever reads standard error may take their time, the work must not wait for them.
      lock.unlock();
      std::fputs(line.c_str(), stderr);
      std::fflush(stderr);
      lock.lock();
    }
  }

  /// What is to be written now; nothing where a log has had enough.
  std::string line_now() noexcept try {
    const Clock::time_point time = Clock::now();
    const double passed = seconds(time - started_.value_or(time));
    const std::string text = progress_text(now_, seconds(told_ - stage_started_), seconds(time - told_));
    if (is_terminal_) {
      line_is_open_ = true;
      return "\r\033[K" + text;
    }
    if (!line_due(passed, written_, begins_)) return {};
    written_ = passed;
    begins_ = false;
    return duration_text(passed) + ": " + text + "\n";
  } catch (...) {
    return {};
  }

  const bool is_terminal_ = isatty(STDERR_FILENO) != 0;
  std::mutex mutex_;
  std::condition_variable woken_;
  std::optional<Clock::time_point> started_;
  Clock::time_point stage_started_, told_;
  JobProgress now_;
  double written_ = 0;  // seconds since the beginning
  bool begins_ = false, line_is_open_ = false, ends_ = false;
  JoinedThread writer_;  // the last member: it ends before what it reads
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
  JobProgress now;
  now.stage = what;
  now.done = number;
  now.total = total;
  display().tell(now);
}

void end_progress() {
  if (!quiet()) display().end();
}

}  // namespace headwave::cli
