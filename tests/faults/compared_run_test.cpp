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

/// An earlier comparison, and one that is to take its place and is disturbed: of one result with one other, or with
/// several, each of which has a folder of its own.
class ComparedTrial {
 public:
  explicit ComparedTrial(bool several) : several_(several) {
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
    REQUIRE(compared({2, 3}, scratch_ / "earlier", scratch_.path(), {}).exit_code == 0);
    earlier_ = files_of(scratch_ / "earlier");
    for (const fs::path& place : several ? std::vector<fs::path>{"1", "2"} : std::vector<fs::path>{""}) {
      REQUIRE(earlier_.contains((place / "changes.json").string()));
      REQUIRE(earlier_.contains((place / "results.h5").string()));
    }
  }

  std::string complaint(const Disturbance& disturbance, bool& disturbed) const {
    const TemporaryFolder scratch;
    fs::copy(scratch_ / "earlier", scratch / "out", fs::copy_options::recursive);
    const DisturbedEnd end = compared({3, 2}, scratch / "out", scratch.path(), disturbance);
    disturbed = end.was_disturbed();
    std::string kept, made;
    std::size_t there = 0;
    for (const auto& [name, bytes] : files_of(scratch / "out")) {
      const bool left_over = name.find(".partial-") != std::string::npos || name.ends_with(".headwave.lock");
      if (left_over && disturbance.error == "KILL") continue;
      const auto before = earlier_.find(name);
      (before != earlier_.end() && before->second == bytes ? kept : made) += name + " ";
      ++there;
    }
    const bool all = there == earlier_.size(), unread = end.was_refused("standard output");
    const bool right = end.exit_code == 0 || end.exit_code == 3 ? kept.empty() && all
                       : end.exit_code == 1                     ? (made.empty() || (unread && kept.empty())) && all
                                            : disturbance.error == "KILL" && (kept.empty() || made.empty());
    if (right) return "";
    return fmt::format("{}: exit code {}, {}of the earlier comparison beside {}of the new one; it said {}",
                       disturbance.text(), end.exit_code, kept, made, end.errors);
  }

 private:
  [[nodiscard]] std::string result(int seed) const { return (scratch_ / fmt::format("r{}", seed)).string(); }
  [[nodiscard]] DisturbedEnd compared(const std::vector<int>& others, const fs::path& out, const fs::path& scratch,
                                      const Disturbance& disturbance) const {
    std::vector<std::string> arguments{"-q", "compare", result(1), result(others[0])};
    if (several_) arguments.push_back(result(others[1]));
    for (const std::string& option :
         {std::string("--out"), out.string(), std::string("--no-figures"), std::string("--force")})
      arguments.push_back(option);
    return disturbed_run(arguments, disturbance, scratch);
  }

  TemporaryFolder scratch_;
  bool several_;
  std::map<std::string, std::string> earlier_;
};

void check_comparisons(bool several, const std::vector<Disturbance>& disturbances) {
  const ComparedTrial trial(several);
  for (const Disturbance& disturbance : disturbances) {
    const CallLoop loop = each_call(
        disturbance, [&](const Disturbance& one, bool& disturbed) { return trial.complaint(one, disturbed); });
    CHECK(loop.runs >= 2);
    CHECK(loop.runs < most_calls);
    for (const std::string& complaint : loop.complaints) FAIL_CHECK(complaint);
  }
}

}  // namespace

TEST_CASE("a comparison that fails leaves the earlier one as it was") {
  check_comparisons(false, {{"write"}, {"pwrite"}, {"fsync"}, {"rename"}, {"open"}, {"rename", 0, "KILL"}});
}

TEST_CASE("a comparison of several results that fails leaves every folder of the earlier one as it was") {
  check_comparisons(true, {{"write"}, {"fsync"}, {"rename"}, {"open"}, {"rename", 0, "KILL"}, {"fsync", 0, "KILL"}});
}
