#include <algorithm>

#include "../../core/errors/error.h"
#include "../../data/results/result_file.h"
#include "../../reports/drawing/gnuplot.h"
#include "../catch.h"
#include "disturbed_run.h"
#include "right_result.h"

using namespace headwave;

namespace {

namespace fs = std::filesystem;

/// A small run, what it gives undisturbed, and an earlier result of another run that it may find in its folder.
class Trial {
 public:
  explicit Trial(const std::vector<std::string>& options) : options_(options) {
    fs::create_directory(scratch_ / "right");
    const DisturbedEnd end = run(scratch_ / "right", {}, false);
    INFO(end.errors);
    REQUIRE(end.exit_code == 0);
    right_ = read_result(scratch_ / "right/out/results.h5");
    Result earlier = right_;
    earlier.title = "an earlier result";
    write_result(earlier, scratch_ / "earlier.h5");
    earlier_ = content_of(scratch_ / "earlier.h5");
  }

  /// What is wrong about a run that was disturbed; empty: nothing. `disturbed` says whether it made so many calls.
  std::string complaint(const Disturbance& disturbance, bool over_earlier, bool& disturbed) const {
    const TemporaryFolder scratch;
    const DisturbedEnd end = run(scratch.path(), disturbance, over_earlier);
    disturbed = end.was_disturbed();
    if (!disturbed) return "";
    std::string wrong = wrong_end(end);
    if (wrong.empty()) wrong = wrong_files(disturbance, end, scratch.path(), over_earlier);
    if (wrong.empty()) return "";
    return disturbance.text() + (over_earlier ? ", over an earlier result: " : ": ") + wrong + "; refused " +
           end.refused.front() + "; exit code " + std::to_string(end.exit_code) + "; it said " + end.errors;
  }

 private:
  DisturbedEnd run(const fs::path& scratch, const Disturbance& disturbance, bool over_earlier) const {
    std::vector<std::string> arguments{"-q", "run", "--out", (scratch / "out").string(), "--threads", "1"};
    arguments.insert(arguments.end(), options_.begin(), options_.end());
    if (over_earlier) {
      fs::create_directory(scratch / "out");
      fs::copy_file(scratch_ / "earlier.h5", scratch / "out/results.h5");
      arguments.emplace_back("--force");
    }
    return disturbed_run(arguments, disturbance, scratch);
  }

  static std::string wrong_end(const DisturbedEnd& end) {
    if (end.exit_code == 0) return end.was_refused("standard output") ? "nothing was printed, and nobody knows" : "";
    if (end.exit_code != 1) return "it did not end by itself";
    if (end.was_refused("standard error")) return "";
    if (!end.errors.starts_with("headwave: error: ") || std::count(end.errors.begin(), end.errors.end(), '\n') != 1 ||
        end.errors.back() != '\n')
      return "expected one line";
    const auto named = [&](const std::string& refused) {
      return end.errors.find(refused.substr(0, refused.find(".headwave-partial"))) != std::string::npos;
    };
    // What gnuplot draws has no file yet.
    const bool figure = end.errors.find("figure offset_profile") != std::string::npos;
    return figure || std::any_of(end.refused.begin(), end.refused.end(), named) ? "" : "the file is not named";
  }

  // A run that ended with an error may have written its result, if all of it.
  std::string wrong_files(const Disturbance& disturbance, const DisturbedEnd& end, const fs::path& scratch,
                          bool over_earlier) const {
    const fs::path result = scratch / "out/results.h5";
    // To remove a folder it must be opened.
    if (!fs::is_empty(scratch / "tmp") && disturbance.call != "open") return "scratch files stay";
    if (!fs::exists(result)) {
      if (over_earlier) return "the earlier result is gone";
      if (end.exit_code == 0) return "there is no result";
      return !fs::exists(scratch / "out") || fs::is_empty(scratch / "out") ? "" : "files without a result stay";
    }
    const bool kept = over_earlier && end.exit_code != 0 && content_of(result) == earlier_;
    if (!kept && !is_result(result, right_)) return "the result is not right";
    return wrong_others(end, scratch / "out");
  }

  // Figures and the page: each as it should be, or absent where the run failed.
  std::string wrong_others(const DisturbedEnd& end, const fs::path& out) const {
    const fs::path right = scratch_ / "right/out";
    for (const auto& entry : fs::recursive_directory_iterator(out)) {
      const fs::path name = entry.path().lexically_relative(out);
      if (!fs::exists(right / name)) return name.string() + " should not be there";
      if (entry.is_directory() || name == "results.h5") continue;
      if (!is_whole(entry.path(), right / name)) return name.string() + " is not whole";
    }
    if (end.exit_code != 0) return "";
    for (const auto& entry : fs::recursive_directory_iterator(right))
      if (!fs::exists(out / entry.path().lexically_relative(right))) return entry.path().string() + " is missing";
    return "";
  }

  // The page tells how long the run took, a PDF when it was made, a PNG which fonts there were.
  static bool is_whole(const fs::path& file, const fs::path& right) {
    const std::string content = content_of(file);
    if (file.extension() == ".html") return content.ends_with("</html>\n");
    const std::string format = file.extension().string().substr(1);
    if (format == "pdf") return content.ends_with("%%EOF\n");
    return format == "png" ? content.ends_with(
                                 "IEND\xae"
                                 "B`\x82")
                           : content == content_of(right);
  }

  std::vector<std::string> options_;
  TemporaryFolder scratch_;
  Result right_;
  std::string earlier_;
};

/// Either error, once and from then on, into an empty place and over an earlier result.
/// @returns how many calls there were, at most
int check_calls(const Trial& trial, Disturbance disturbance) {
  int calls = 0;
  for (const char* error : {"EIO", "ENOSPC"})
    for (const bool always : {false, true}) {
      disturbance.error = error;
      disturbance.always = always;
      const bool over_earlier = (error[1] == 'I') != always;
      const CallLoop loop = each_call(disturbance, [&](const Disturbance& one, bool& disturbed) {
        return trial.complaint(one, over_earlier, disturbed);
      });
      calls = std::max(calls, loop.runs);
      CHECK(loop.runs < most_calls);  // else the last calls were never refused
      for (const std::string& complaint : loop.complaints) FAIL_CHECK(complaint);
    }
  return calls;
}

std::vector<std::string> small_run(const std::vector<std::string>& more) {
  std::vector<std::string> options{"--model",         repository_file("tests/golden/families/gpt2").string(),
                                   "--random-tokens", "6",
                                   "--documents",     "2",
                                   "--reach",         "3",
                                   "--only",          "measured_offset"};
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

bool can_draw() {
  const bool found = gnuplot_found();
  if (!found) std::printf("skipped: needs gnuplot\n");
  return found;
}

}  // namespace

TEST_CASE("a call that fails never passes for a success") {
  const Trial trial(small_run({"--no-figures", "--only", "attention_map"}));
  CHECK(check_calls(trial, {"pwrite"}) > 100);
  CHECK(check_calls(trial, {"write"}) >= 1);
  CHECK(check_calls(trial, {"fsync"}) >= 2);
  CHECK(check_calls(trial, {"rename"}) == 1);
  CHECK(check_calls(trial, {"open"}) > 5);
  CHECK(check_calls(trial, {"mmap"}) >= 1);
  CHECK(check_calls(trial, {"read"}) >= 1);
  CHECK(check_calls(trial, {"ftruncate"}) >= 1);
  CHECK(check_calls(trial, {"fstat"}) >= 1);
}

TEST_CASE("a call that fails while figures are drawn never passes for a success") {
  if (!can_draw()) return;
  const Trial trial(small_run({"--formats", "svg"}));
  for (const char* call : {"write", "fsync", "rename", "open"}) CHECK(check_calls(trial, {call}) >= 2);
}

TEST_CASE("a read that fails never passes for another listing") {
  const TemporaryFolder place;
  std::vector<std::string> run{"-q", "run", "--out", (place.path() / "out").string()};
  for (const std::string& option : small_run({"--no-figures", "--only", "attention_map"})) run.push_back(option);
  REQUIRE(disturbed_run(run, {}, place.path()).exit_code == 0);
  const std::vector<std::string> inspect{"inspect", (place.path() / "out").string(), "--json"};
  REQUIRE(disturbed_run(inspect, {}, place.path()).exit_code == 0);
  const std::string right = content_of(place.path() / "printed");
  const CallLoop loop = each_call({"read"}, [&](const Disturbance& one, bool& disturbed) -> std::string {
    const TemporaryFolder scratch;
    const DisturbedEnd end = disturbed_run(inspect, one, scratch.path());
    disturbed = end.was_disturbed();
    if (end.exit_code == 1 || content_of(scratch.path() / "printed") == right) return "";
    return one.text() + ": other content, exit code " + std::to_string(end.exit_code);
  });
  CHECK(loop.runs > 50);
  for (const std::string& complaint : loop.complaints) FAIL_CHECK(complaint);
}
