#include "../../job/run/memory_limit.h"

#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include <sys/mman.h>

#include "../../core/process/process_memory.h"
#include "../../core/process/threads.h"
#include "../catch.h"

using namespace headwave;

namespace {

constexpr std::int64_t megabyte = 1'000'000;

/// Memory that is really written to, and goes back to the system at once when it is freed: with the address sanitizer, freed memory of `new` stays.
class Piece {
 public:
  explicit Piece(std::int64_t bytes)
      : size_(static_cast<std::size_t>(bytes)),
        start_(::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    REQUIRE(start_ != MAP_FAILED);
    std::memset(start_, 1, size_);
  }
  Piece(const Piece&) = delete;
  Piece& operator=(const Piece&) = delete;
  ~Piece() { ::munmap(start_, size_); }

 private:
  std::size_t size_;
  void* start_;
};

using Pieces = std::vector<std::unique_ptr<Piece>>;

void take(Pieces& pieces, std::int64_t bytes) {
  pieces.push_back(std::make_unique<Piece>(bytes));
}

/// Takes memory piece by piece until it is asked to stop.
/// @returns how many MB it took
int taken(int megabytes, const MemoryWatch& watch) {
  const Stoppable stoppable(&watch.is_exceeded());
  Pieces pieces;
  try {
    for (int i = 0; i < megabytes; ++i) {
      stop_if_asked();
      take(pieces, megabyte);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  } catch (const Stopped&) {
  }
  return static_cast<int>(pieces.size());
}

}  // namespace

TEST_CASE("memory watch: work is asked to stop before it takes more than a limit") {
  const std::int64_t limit = resident_bytes() + 100 * megabyte;
  MemoryWatch watch(limit);
  const int found = taken(2000, watch);
  CHECK(watch.is_exceeded());
  CHECK(found >= 50);
  CHECK(found <= 130);  // 100, and what a busy machine lets pass between two measurements
  CHECK(watch.most() > limit - 50 * megabyte);
}

TEST_CASE("memory watch: work that keeps the limit is left alone") {
  const MemoryWatch watch(resident_bytes() + 500 * megabyte);
  CHECK(taken(30, watch) == 30);
  CHECK_FALSE(watch.is_exceeded());
}

TEST_CASE("memory watch: the most is that since it was last asked for") {
  MemoryWatch watch;
  const std::int64_t before = resident_bytes();
  {
    Pieces pieces;
    take(pieces, 60 * megabyte);
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
  }
  CHECK(watch.most() > before + 55 * megabyte);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  CHECK(watch.most() < before + 30 * megabyte);
}

TEST_CASE("as many documents pass side by side as fit, by what those before them took") {
  const auto work = [](std::int64_t bytes) {
    return [bytes] {
      Pieces pieces;
      take(pieces, bytes);
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
    };
  };
  SideBySide together(resident_bytes() + 210 * megabyte, 1, 8);
  CHECK(together.is_limited());
  CHECK(together.next() == 1);
  together.measured(1, work(50 * megabyte));
  CHECK(together.next() >= 3);
  CHECK(together.next() <= 4);
  together.measured(4, work(200 * megabyte));
  CHECK(together.next() >= 3);
  CHECK(together.next() <= 4);
  // One always goes on: what a longer document takes nobody knows before.
  together.measured(1, work(400 * megabyte));
  CHECK(together.next() == 1);
}

TEST_CASE("without a limit, or far from it, as many documents pass side by side as may") {
  SideBySide free(0, 8, 8);
  CHECK_FALSE(free.is_limited());
  free.measured(8, [] {});
  CHECK(free.next() == 8);
  SideBySide wide(resident_bytes() + 100'000 * megabyte, 2, 8);
  CHECK(wide.next() == 2);
  wide.measured(2, [] {});
  CHECK(wide.next() == 8);
}
