#include <vector>

#include "../../core/numbers/error.h"
#include "../../data/results/result_file.h"
#include "../catch.h"
#include "disturbed_run.h"
#include "right_result.h"

using namespace headwave;

namespace {

namespace fs = std::filesystem;

/// A run that keeps what it came to after every document, is ended somewhere, and gone on with.
class Trial {
 public:
  Trial() {
    REQUIRE(run(scratch_.path(), {}).exit_code == 0);
    right_ = read_result(scratch_ / "out/results.h5");
  }

  /// What is wrong after a run that was disturbed and one that went on with it; empty: nothing. `disturbed` says
  /// whether the first made so many calls.
  std::string complaint(const Disturbance& disturbance, bool& disturbed) const {
    const TemporaryFolder scratch;
    const DisturbedEnd first = run(scratch.path(), disturbance);
    disturbed = first.was_disturbed();
    if (!disturbed) return "";
    const DisturbedEnd second = run(scratch.path(), {});
    const std::string wrong = wrong_after(second, scratch.path());
    if (wrong.empty()) return "";
    return disturbance.text() + ": " + wrong + "; refused " + first.refused.front() + "; the second run said " +
           second.errors;
  }

 private:
  static DisturbedEnd run(const fs::path& scratch, const Disturbance& disturbance) {
    std::vector<std::string> arguments{"-q",
                                       "run",
                                       "--no-figures",
                                       "--keep-every",
                                       "0",
                                       "--threads",
                                       "1",
                                       "--resume",
                                       "--force",
                                       "--random-tokens",
                                       "6",
                                       "--reach",
                                       "3",
                                       "--documents",
                                       "4",
                                       "--draws",
                                       "3",
                                       "--resamples",
                                       "5",
                                       "--atlas-draws",
                                       "3",
                                       "--sweep",
                                       "2",
                                       "--clusters",
                                       "2"};
    for (const std::string& more : {std::string("--model"), repository_file("tests/golden/families/gpt2").string(),
                                    std::string("--out"), (scratch / "out").string()})
      arguments.push_back(more);
    return disturbed_run(arguments, disturbance, scratch);
  }

  [[nodiscard]] std::string wrong_after(const DisturbedEnd& end, const fs::path& scratch) const {
    if (end.exit_code != 0) return "it cannot be gone on with";
    if (!is_result(scratch / "out/results.h5", right_)) return "the result is not right";
    for (const auto& entry : fs::directory_iterator(scratch / "out"))
      if (entry.path().filename() != "results.h5") return entry.path().filename().string() + " stays";
    return "";
  }

  TemporaryFolder scratch_;
  Result right_;
};

/// @returns how many calls there were
int check_calls(const Trial& trial, const std::string& call, const std::string& error) {
  const CallLoop loop = each_call(
      {call, 0, error}, [&](const Disturbance& one, bool& disturbed) { return trial.complaint(one, disturbed); });
  for (const std::string& complaint : loop.complaints) FAIL_CHECK(complaint);
  return loop.runs;
}

}  // namespace

TEST_CASE("a run that is killed anywhere is gone on with to the same result, and nothing of it stays") {
  const Trial trial;
  CHECK(check_calls(trial, "write", "KILL") > 8);
  CHECK(check_calls(trial, "fsync", "KILL") > 8);
  CHECK(check_calls(trial, "rename", "KILL") == 5);  // four documents and the result
}

TEST_CASE("a run that a disk fails is gone on with to the same result, and nothing of it stays") {
  const Trial trial;
  CHECK(check_calls(trial, "write", "ENOSPC") > 8);
  CHECK(check_calls(trial, "rename", "EIO") == 5);
  CHECK(check_calls(trial, "ftruncate", "EIO") >= 1);
}
