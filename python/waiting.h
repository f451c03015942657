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

/// Does work in a second thread. Meanwhile the calling thread, without Python's lock, checks every 50 ms for a signal:
/// Ctrl-C stops the work.
/// @throws what the work throws, or what the handler of a signal raises; the work has ended then
void wait_for(const std::function<void()>& work);

/// The same of work that gives something.
template <class Work>
auto waited_for(const Work& work) {
  std::optional<decltype(work())> found;
  wait_for([&] { found.emplace(work()); });
  return std::move(*found);
}

/// What a job calls to tell its progress to a function of Python.
/// @param callable  (text) is given "attention: 12 of 100, about 40 s left"; None: nothing is told
ProgressCallback told_to(const nb::object& callable);

/// waited_for() of work that makes results and tells its progress.
/// @param progress  as of told_to()
/// @param work      (const ProgressCallback&)
/// @returns what it gives, and the command with its start and time
template <class Work>
auto made(const std::string& command, const nb::object& progress, const Work& work) {
  MadeBy by{command, std::time(nullptr), 0};
  const auto begun = std::chrono::steady_clock::now();
  auto found = waited_for([&, callback = told_to(progress)] { return work(callback); });
  by.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  return std::pair(std::move(found), std::move(by));
}

/// (kind, result) of every kind of attention, with who made it.
std::vector<std::pair<std::string, Result>> named_results(std::vector<KindResult> found, const MadeBy& by);

}  // namespace headwave::python
