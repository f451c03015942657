#include "../../core/process/threads.h"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "../catch.h"

using headwave::Index;
using headwave::parallel_for;
using headwave::parallel_in_order;

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

TEST_CASE("parallel_in_order merges in ascending order, whoever is ready first") {
  for (const int threads : {1, 2, 5}) {
    std::vector<Index> merged;
    parallel_in_order(40, threads, [&](Index i) {
      if (i % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
      return [&merged, i] { merged.push_back(i); };
    });
    REQUIRE(merged.size() == 40);
    for (Index i = 0; i < 40; ++i) CHECK(merged[static_cast<std::size_t>(i)] == i);
  }
}

TEST_CASE("parallel_in_order throws what the plain loop would have thrown, and merges nothing after it") {
  for (const bool in_merge : {false, true})
    for (const int threads : {1, 3}) {
      std::vector<Index> merged;
      std::string message;
      try {
        parallel_in_order(50, threads, [&](Index i) -> std::function<void()> {
          if (i >= 20 && !in_merge) throw std::runtime_error("index " + std::to_string(i));
          return [&merged, i, in_merge] {
            if (i >= 20 && in_merge) throw std::runtime_error("index " + std::to_string(i));
            merged.push_back(i);
          };
        });
      } catch (const std::runtime_error& error) {
        message = error.what();
      }
      CHECK(message == "index 20");
      CHECK(merged.size() == 20);
    }
}

TEST_CASE("as many threads as are asked for, and where none are as many as the machine runs at once") {
  CHECK(headwave::thread_count(3) == 3);
  CHECK(headwave::thread_count(0) >= 1);
  CHECK(headwave::thread_count(-1) == headwave::thread_count(0));
}
