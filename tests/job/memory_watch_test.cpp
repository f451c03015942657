#include "../../job/run/memory_watch.h"

#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "../../core/process/process_memory.h"
#include "../../core/process/stopping.h"
#include "../catch.h"

using namespace headwave;

namespace {

constexpr std::int64_t megabyte = 1'000'000;

/// Takes memory piece by piece, as a job does that nobody expected to, until it is asked to stop.
/// @returns how many MB it took
int taken(int megabytes, const MemoryWatch& watch) {
  const Stoppable stoppable(&watch.is_exceeded());
  std::vector<std::unique_ptr<char[]>> pieces;
  try {
    for (int i = 0; i < megabytes; ++i) {
      stop_if_asked();
      pieces.push_back(std::make_unique_for_overwrite<char[]>(megabyte));
      std::memset(pieces.back().get(), i + 1, megabyte);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  } catch (const Stopped&) {
  }
  return static_cast<int>(pieces.size());
}

}  // namespace

TEST_CASE("memory watch: work that takes more than a limit is asked to stop, by what is measured") {
  const std::int64_t limit = resident_bytes() + 50 * megabyte;
  const MemoryWatch watch(limit);
  const int found = taken(2000, watch);
  CHECK(found >= 40);
  CHECK(found < 2000);
  CHECK(watch.is_exceeded());
  CHECK(watch.measured() > limit);
}

TEST_CASE("memory watch: work that keeps the limit is left alone") {
  const MemoryWatch watch(resident_bytes() + 500 * megabyte);
  CHECK(taken(30, watch) == 30);
  CHECK_FALSE(watch.is_exceeded());
}
