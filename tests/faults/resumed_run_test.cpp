#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "../../core/errors/error.h"
#include "../../data/hdf5/hdf5_file.h"
#include "../../data/results/result_file.h"
#include "../catch.h"
#include "disturbed_run.h"
#include "right_result.h"

using namespace headwave;

namespace {

namespace fs = std::filesystem;

/// A command that keeps what it came to after every document.
struct Kept {
  std::vector<std::string> arguments;  ///< without where it writes
  std::string out, file;               ///< what it is told to write, and the file that it is about
  std::function<bool(const fs::path& file, const fs::path& right)> is_right;
};

bool is_right_result(const fs::path& file, const fs::path& right) {
  return is_result(file, read_result(right));
}

Kept kept_run() {
  std::vector<std::string> arguments{"run"};
  for (const auto& [name, value] : std::map<std::string, std::string>{{"--random-tokens", "6"},
                                                                      {"--documents", "4"},
                                                                      {"--reach", "3"},
                                                                      {"--draws", "3"},
                                                                      {"--resamples", "5"},
                                                                      {"--atlas-draws", "3"},
                                                                      {"--sweep", "2"},
                                                                      {"--clusters", "2"}})
    arguments.insert(arguments.end(), {name, value});
  arguments.insert(arguments.end(), {"--everything", "--no-figures"});
  return {arguments, "out", "out/results.h5", is_right_result};
}

/// A command that is ended somewhere, and gone on with.
class ResumedTrial {
 public:
  explicit ResumedTrial(Kept kept) : kept_(std::move(kept)) { REQUIRE(run(scratch_.path(), {}).exit_code == 0); }

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
  [[nodiscard]] DisturbedEnd run(const fs::path& scratch, const Disturbance& disturbance) const {
    std::vector<std::string> arguments{"-q"};
    arguments.insert(arguments.end(), kept_.arguments.begin(), kept_.arguments.end());
    arguments.insert(arguments.end(),
                     {"--keep-every", "0", "--threads", "1", "--resume", "--force", "--model",
                      repository_file("tests/golden/families/gpt2").string(), "--out", (scratch / kept_.out).string()});
    return disturbed_run(arguments, disturbance, scratch);
  }

  [[nodiscard]] std::string wrong_after(const DisturbedEnd& end, const fs::path& scratch) const {
    if (end.exit_code != 0) return "it cannot be gone on with";
    if (!kept_.is_right(scratch / kept_.file, scratch_ / kept_.file)) return "the result is not right";
    for (const auto& entry : fs::directory_iterator((scratch / kept_.file).parent_path()))
      if (entry.path() != scratch / kept_.file) return entry.path().filename().string() + " stays";
    return "";
  }

  TemporaryFolder scratch_;
  Kept kept_;
};

/// @returns how many calls there were
int check_calls(const ResumedTrial& trial, const std::string& call, const std::string& error) {
  const CallLoop loop = each_call(
      {call, 0, error}, [&](const Disturbance& one, bool& disturbed) { return trial.complaint(one, disturbed); });
  for (const std::string& complaint : loop.complaints) FAIL_CHECK(complaint);
  return loop.runs;
}

}  // namespace

TEST_CASE("a run that is killed anywhere is gone on with to the same result, and nothing of it stays") {
  const ResumedTrial trial(kept_run());
  CHECK(check_calls(trial, "write", "KILL") > 8);
  CHECK(check_calls(trial, "fsync", "KILL") > 8);
  CHECK(check_calls(trial, "rename", "KILL") == 5);  // four documents and the result
}

TEST_CASE("a run that a disk fails is gone on with to the same result, and nothing of it stays") {
  const ResumedTrial trial(kept_run());
  CHECK(check_calls(trial, "write", "ENOSPC") > 8);
  CHECK(check_calls(trial, "rename", "EIO") == 5);
}
