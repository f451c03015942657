#include <atomic>
#include <chrono>
#include <thread>

#include "../../core/attention/attend.h"
#include "../../core/process/threads.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("a loop over indices ends once somebody asks it to, on any number of threads") {
  for (const int threads : {1, 2, 4}) {
    std::atomic<bool> asked{false};
    const Stoppable can_be_stopped(&asked);
    std::atomic<int> done{0};
    CHECK_THROWS_AS(parallel_for(100000, threads,
                                 [&](Index i) {
                                   if (i == 10) asked = true;
                                   ++done;
                                 }),
                    Stopped);
    CHECK(done >= 11);
    CHECK(done < 100000);
  }
}

TEST_CASE("who waits for its turn to merge is not forgotten when a loop is stopped") {
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::atomic<bool> asked{false};
    const Stoppable can_be_stopped(&asked);
    const auto body = [&](Index i) -> std::function<void()> {
      if (i == 5) asked = true;
      if (i % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
      return [] {};
    };
    CHECK_THROWS_AS(parallel_in_order(1000, 4, body), Stopped);
  }
}

TEST_CASE("attention ends between two tiles") {
  std::atomic<bool> asked{false};
  const Stoppable can_be_stopped(&asked);
  class Asking : public Probe {
   public:
    explicit Asking(std::atomic<bool>& flag) : flag_(flag) {}
    using Probe::see;
    void see(const Tile& tile) override {
      first_row = tile.first_row;
      flag_ = true;
    }
    Index first_row = -1;

   private:
    std::atomic<bool>& flag_;
  } probe(asked);
  const Matrix32 rows = Matrix32::Ones(1000, 4);
  HeadInputs<float> inputs;
  inputs.query = rows;
  inputs.key = rows;
  Probe* const probes[] = {&probe};
  CHECK_THROWS_AS(attend<float>(inputs, {}, {}, probes), Stopped);
  CHECK(probe.first_row == 0);
}

TEST_CASE("nobody is stopped who does not listen, or listens no more") {
  std::atomic<bool> asked{true};
  CHECK_NOTHROW(stop_if_asked());
  {
    const Stoppable outer(&asked);
    CHECK_THROWS_AS(stop_if_asked(), Stopped);
    const Stoppable inner(nullptr);
    CHECK_NOTHROW(stop_if_asked());
  }
  CHECK_NOTHROW(parallel_for(3, 2, [](Index) {}));
}
