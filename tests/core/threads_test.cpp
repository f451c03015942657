#include "headwave/core/threads.h"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "headwave/tests/catch.h"

using headwave::Index;
using headwave::parallel_for;

TEST_CASE("parallel_for calls every index exactly once") {
  for (const int threads : {-1, 0, 1, 2, 3, 16})
    for (const Index count : {0, 1, 2, 1000}) {
      std::vector<std::atomic<int>> calls(static_cast<std::size_t>(count));
      parallel_for(count, threads, [&](Index i) { ++calls[static_cast<std::size_t>(i)]; });
      int wrong = 0;
      for (const auto& call : calls) wrong += call == 1 ? 0 : 1;
      CHECK(wrong == 0);
    }
}

TEST_CASE("parallel_for runs inline with one thread and in parallel with more") {
  const auto caller = std::this_thread::get_id();
  int elsewhere = 0;
  parallel_for(10, 1, [&](Index) { elsewhere += std::this_thread::get_id() == caller ? 0 : 1; });
  CHECK(elsewhere == 0);

  // Three bodies that wait for one another end only if they run at the same time.
  std::atomic<int> arrived{0};
  std::atomic<bool> late{false};
  parallel_for(3, 3, [&](Index) {
    ++arrived;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (arrived < 3 && !late) {
      if (std::chrono::steady_clock::now() > deadline) late = true;
      std::this_thread::yield();
    }
  });
  CHECK(arrived == 3);
  CHECK_FALSE(late);
}

TEST_CASE("parallel_for throws what the plain loop would have thrown") {
  for (const int threads : {1, 2, 4})
    for (int repeat = 0; repeat < 50; ++repeat) {
      std::vector<std::atomic<int>> calls(100);
      std::string message;
      try {
        parallel_for(100, threads, [&](Index i) {
          ++calls[static_cast<std::size_t>(i)];
          if (i == 30) std::this_thread::sleep_for(std::chrono::microseconds(200));  // so that later ones fail first
          if (i >= 30) throw std::runtime_error("index " + std::to_string(i));
        });
      } catch (const std::runtime_error& error) {
        message = error.what();
      }
      REQUIRE(message == "index 30");
      for (std::size_t i = 0; i <= 30; ++i) REQUIRE(calls[i] == 1);
      REQUIRE(calls[99] == 0);
    }
}
