#pragma once

#include <filesystem>
#include <string>
#include <vector>

/// One call that a run is refused: see failing_calls.cpp.
struct Disturbance {
  std::string call;                  ///< "pwrite"; empty: none
  int at = 0;                        ///< the n-th, from 1
  std::string error = "EIO";         ///< or "ENOSPC", or "KILL": it dies there
  bool always = false;               ///< every later one too
  std::string program = "headwave";  ///< or "gnuplot", which it starts

  /// "pwrite 17 EIO and all after"
  [[nodiscard]] std::string text() const;
};

/// How a run of the program ended.
struct DisturbedEnd {
  int exit_code = 0;                 ///< 128 + signal where a signal ended it
  std::string errors;                ///< what it wrote to standard error
  std::vector<std::string> refused;  ///< what the calls that failed were about: paths, or "standard output"

  [[nodiscard]] bool was_disturbed() const { return !refused.empty(); }
  [[nodiscard]] bool was_refused(const std::string& what) const;
};

/// Runs the headwave that was built with the tests, at most 60 s.
/// @param scratch  an empty folder for what the run says, and its TMPDIR
DisturbedEnd disturbed_run(const std::vector<std::string>& arguments, const Disturbance& disturbance,
                           const std::filesystem::path& scratch);
