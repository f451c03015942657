#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "../catch.h"
#include "disturbed_run.h"
#include "right_result.h"

namespace {

namespace fs = std::filesystem;

std::map<std::string, std::string> files_of(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files[entry.path().lexically_relative(folder).string()] = content_of(entry.path());
  return files;
}

/// An earlier comparison, and one that is to take its place and is disturbed.
class ComparedTrial {
 public:
  ComparedTrial() {
    for (const int seed : {1, 2, 3}) {
      const std::vector<std::string> arguments{"-q",
                                               "run",
                                               "--out",
                                               result(seed),
                                               "--seed",
                                               std::to_string(seed),
                                               "--only",
                                               "measured_offset",
                                               "--model",
                                               repository_file("tests/golden/families/gpt2").string(),
                                               "--random-tokens",
                                               "6",
                                               "--documents",
                                               "8",
                                               "--reach",
                                               "3",
                                               "--no-figures"};
      REQUIRE(disturbed_run(arguments, {}, scratch_.path()).exit_code == 0);
    }
    REQUIRE(compared(2, scratch_ / "earlier", scratch_.path(), {}).exit_code == 0);
    earlier_ = files_of(scratch_ / "earlier");
    REQUIRE(earlier_.contains("changes.json"));
    REQUIRE(earlier_.contains("results.h5"));
  }

  std::string complaint(const Disturbance& disturbance, bool& disturbed) const {
    const TemporaryFolder scratch;
    fs::copy(scratch_ / "earlier", scratch / "out");
    const DisturbedEnd end = compared(3, scratch / "out", scratch.path(), disturbance);
    disturbed = end.was_disturbed();
    std::string kept, made;
    for (const auto& [name, bytes] : files_of(scratch / "out")) {
      const auto before = earlier_.find(name);
      (before != earlier_.end() && before->second == bytes ? kept : made) += name + " ";
    }
    const bool refused = end.exit_code == 1 || end.was_refused("standard output");
    if ((end.exit_code == 0 || end.exit_code == 3 || refused) && (kept.empty() || (made.empty() && refused))) return "";
    return fmt::format("{}: exit code {}, {}of the earlier comparison beside {}of the new one; it said {}",
                       disturbance.text(), end.exit_code, kept, made, end.errors);
  }

 private:
  [[nodiscard]] std::string result(int seed) const { return (scratch_ / fmt::format("r{}", seed)).string(); }
  [[nodiscard]] DisturbedEnd compared(int second, const fs::path& out, const fs::path& scratch,
                                      const Disturbance& disturbance) const {
    return disturbed_run({"-q", "compare", result(1), result(second), "--out", out.string(), "--no-figures", "--force"},
                         disturbance, scratch);
  }

  TemporaryFolder scratch_;
  std::map<std::string, std::string> earlier_;
};

}  // namespace

TEST_CASE("a comparison that fails leaves nothing of its own beside something of an earlier one") {
  const ComparedTrial trial;
  for (const char* call : {"write", "pwrite", "fsync", "rename", "open"}) {
    const CallLoop loop =
        each_call({call}, [&](const Disturbance& one, bool& disturbed) { return trial.complaint(one, disturbed); });
    CHECK(loop.runs >= 2);
    CHECK(loop.runs < most_calls);
    for (const std::string& complaint : loop.complaints) FAIL_CHECK(complaint);
  }
}
