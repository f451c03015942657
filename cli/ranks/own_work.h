#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "block_line.h"

namespace headwave::cli {

/// How long the leader waits where there is nothing to do.
constexpr auto pause_of_leader = std::chrono::milliseconds(1);

/// The leader's own part of the work, beside what it does for the others: blocks of documents in a thread, from its
/// making until all are handed out or the line is stopped.
class OwnWork {
 public:
  OwnWork(const DocumentPass& pass, BlockLine& line);
  OwnWork(const OwnWork&) = delete;
  OwnWork& operator=(const OwnWork&) = delete;
  ~OwnWork();
  [[nodiscard]] bool is_done() const { return done_; }

 private:
  static void work(const DocumentPass& pass, BlockLine& line);

  BlockLine& line_;
  std::atomic<bool> done_ = false;
  std::thread thread_;
};

}  // namespace headwave::cli
