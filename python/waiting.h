#pragma once

#include <chrono>
#include <ctime>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "../job/run/job.h"
#include "../job/run/provenance.h"
#include "python.h"

namespace headwave::python {

/// Runs work in a second thread. Meanwhile the calling thread releases Python's lock, and checks for signals
/// every 50 ms, so that Ctrl-C stops the work.
/// @throws after the work has ended: whatever the work threw, or what a signal's handler raised
void wait_for(const std::function<void()>& work);

/// Runs work by wait_for(), and returns its result.
template <class Work>
auto waited_for(const Work& work) {
  std::optional<decltype(work())> found;
  wait_for([&] { found.emplace(work()); });
  return std::move(*found);
}

/// Makes a callback that reports the progress of a job to a Python function.
/// @param callable  is called with lines such as "attention: 12 of 100, about 40 s left"; None: nobody is
///                  told
ProgressCallback told_to(const nb::object& callable);

/// Runs work that makes results by waited_for(), and reports its progress.
/// @param progress  for told_to()
/// @param work      a function of (const ProgressCallback&)
/// @returns the work's result; and the command, its start and its duration
template <class Work>
auto made(const std::string& command, const nb::object& progress, const Work& work) {
  MadeBy by{command, std::time(nullptr), 0};
  const auto begun = std::chrono::steady_clock::now();
  auto found = waited_for([&, callback = told_to(progress)] { return work(callback); });
  by.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  return std::pair(std::move(found), std::move(by));
}

/// Pairs (kind, result), one for every kind of attention. Adds `by` to each provenance.
std::vector<std::pair<std::string, Result>> named_results(std::vector<KindResult> found, const MadeBy& by);

}  // namespace headwave::python
