#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

/// One call that a run is refused: see failing_calls.cpp.
struct Disturbance {
  std::string call;           ///< "pwrite"; empty: none
  int at = 0;                 ///< the n-th, from 1
  std::string error = "EIO";  ///< or "ENOSPC", or "KILL": it dies there
  bool always = false;        ///< every later one too

  /// "pwrite 17 EIO and all after"
  [[nodiscard]] std::string text() const;
};

/// How a run of the program ended.
struct DisturbedEnd {
  int exit_code = 0;                 ///< 128 + signal where a signal ended it
  std::string errors;                ///< what it wrote to standard error
  std::int64_t most_resident = 0;    ///< bytes of memory, at most
  std::vector<std::string> refused;  ///< what the calls that failed were about: paths, or "standard output"

  [[nodiscard]] bool was_disturbed() const { return !refused.empty(); }
  [[nodiscard]] bool was_refused(const std::string& what) const;
};

/// After so many a loop gives up.
constexpr int most_calls = 300;

/// What became of runs that were disturbed at one call after another.
struct CallLoop {
  int runs = 0;  ///< that were disturbed
  std::vector<std::string> complaints;
};

/// Disturbs the first call, the second, and so on, until a run makes no such call any more; two runs at a time.
/// @param complaint  about a run, empty: none; tells whether it was disturbed
CallLoop each_call(const Disturbance& disturbance,
                   const std::function<std::string(const Disturbance& disturbance, bool& disturbed)>& complaint);

/// Runs the headwave that was built with the tests, at most 60 s.
/// @param scratch  an empty folder for what the run says, and its TMPDIR
DisturbedEnd disturbed_run(const std::vector<std::string>& arguments, const Disturbance& disturbance,
                           const std::filesystem::path& scratch);
