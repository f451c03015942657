#include "threads.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "joined_thread.h"

namespace headwave {

namespace {

thread_local const std::atomic<bool>* asked_to_stop = nullptr;

// The work of one parallel_for, shared by its threads.
class Work {
 public:
  Work(Index count, const std::function<void(Index)>& body) : count_(count), body_(body) {}

  void run() {
    while (!failed_.load(std::memory_order_relaxed)) {
      Index i = count_;
      try {
        stop_if_asked();  // before an index is taken: others may wait for a taken one
        i = next_.fetch_add(1, std::memory_order_relaxed);
        if (i >= count_) return;
        body_(i);
      } catch (...) {
        remember(i, std::current_exception());
      }
    }
  }

  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  // All indices below a failed one started before it, so the lowest that fails is the first in a plain loop.
  void remember(Index i, std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (i < first_failed_) {
      first_failed_ = i;
      error_ = std::move(error);
    }
    failed_.store(true, std::memory_order_relaxed);
  }

  const Index count_;
  const std::function<void(Index)>& body_;
  std::atomic<Index> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  Index first_failed_ = std::numeric_limits<Index>::max();
  std::exception_ptr error_;
};

}  // namespace

Stoppable::Stoppable(const std::atomic<bool>* asked) : before_(asked_to_stop) {
  asked_to_stop = asked;
}

Stoppable::~Stoppable() {
  asked_to_stop = before_;
}

const std::atomic<bool>* Stoppable::flag() {
  return asked_to_stop;
}

void stop_if_asked() {
  if (asked_to_stop != nullptr && asked_to_stop->load(std::memory_order_relaxed)) throw Stopped();
}

int thread_count(int asked) {
  return asked > 0 ? asked : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

void parallel_for(Index count, int threads, const std::function<void(Index)>& body) {
  const Index workers = std::min<Index>(threads, count);
  if (workers <= 1) {
    for (Index i = 0; i < count; ++i) {
      stop_if_asked();
      body(i);
    }
    return;
  }
  Work work(count, body);
  {
    std::vector<JoinedThread> pool;
    pool.reserve(static_cast<std::size_t>(workers - 1));
    try {
      for (Index i = 1; i < workers; ++i)
        pool.emplace_back([&work, asked = Stoppable::flag()] {
          const Stoppable as_the_caller(asked);
          work.run();
        });
    } catch (const std::system_error&) {
      // The system gives no more threads, so the existing ones do all the work.
    }
    work.run();
  }
  work.rethrow();
}

void parallel_in_order(Index count, int threads, const std::function<std::function<void()>(Index)>& body) {
  std::mutex mutex;
  std::condition_variable changed;
  Index turn = 0;
  Index failed = count;  // the lowest index that failed: the turn of later indices never comes
  const auto fail = [&](Index i) {
    const std::lock_guard lock(mutex);
    failed = std::min(failed, i);
    changed.notify_all();
  };
  parallel_for(count, threads, [&](Index i) {
    try {
      const std::function<void()> merge = body(i);
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return turn == i || failed < i; });
        if (failed < i) return;
      }
      merge();
      const std::lock_guard lock(mutex);
      turn = i + 1;
      changed.notify_all();
    } catch (...) {
      fail(i);
      throw;
    }
  });
}

}  // namespace headwave
