#include "../../job/run/progress.h"

#include <cmath>
#include <set>

#include "../../analysis/registry/registry.h"
#include "../../core/planted/planted.h"
#include "../../job/run/job.h"
#include "../catch.h"
#include "same_bits.h"

using namespace headwave;

TEST_CASE("a report tells the stage and its steps, and ends each stage before the next") {
  std::vector<JobProgress> told;
  StageReport report([&](const JobProgress& now) { told.push_back(now); });
  report.begin("a");
  report.begin("b", 5, 2);
  report.reached(3);
  report.end();
  REQUIRE(told.size() == 5);
  const auto check = [&](std::size_t i, const char* stage, Index done, Index total, Index done_before) {
    CAPTURE(i);
    CHECK(told[i].stage == stage);
    CHECK(told[i].done == done);
    CHECK(told[i].total == total);
    CHECK(told[i].done_before == done_before);
  };
  check(0, "a", 0, 1, 0);
  check(1, "a", 1, 1, 0);
  check(2, "b", 2, 5, 2);
  check(3, "b", 3, 5, 2);
  check(4, "b", 5, 5, 2);
  StageReport nobody({});
  nobody.begin("a");
  nobody.end();
}

TEST_CASE("a job reports every stage, from the first to the last, and computes the same") {
  const PlantedModel planted = planted_model(planted_bank());
  const auto documents = planted_documents(planted, 3, 64, 1);
  JobOptions options;
  options.everything = true;
  options.threads = 2;
  std::vector<JobProgress> told;
  const Result watched =
      run_job(planted.model, *documents, options, [&](const JobProgress& now) { told.push_back(now); });
  std::set<std::string> stages;
  for (const JobProgress& now : told) {
    stages.insert(now.stage);
    CHECK(now.done <= now.total);
  }
  std::set<std::string> expected{"preparation", "attention", "evidence"};
  for (const AnalysisKind* kind : chosen_analyses(options)) expected.emplace(kind->name);
  CHECK(stages == expected);
  CHECK(told.back().done == told.back().total);
  check_same_bits(run_job(planted.model, *documents, options).fields, watched.fields);
}

TEST_CASE("time left is that of the other steps of a stage, at the rate of those done") {
  CHECK(seconds_left({"attention", 1, 4}, 10, 0) == Approx(30));
  CHECK(seconds_left({"attention", 1, 4}, 10, 12) == Approx(18));
  CHECK(seconds_left({"attention", 1, 4}, 10, 50) == 0);
  CHECK(seconds_left({"attention", 4, 4}, 10, 0) == 0);
  // What an earlier run did took no time of this one.
  CHECK(seconds_left({"attention", 90, 100, 80}, 10, 0) == Approx(10));
  CHECK(std::isnan(seconds_left({"attention", 80, 100, 80}, 10, 0)));
  CHECK(std::isnan(seconds_left({"attention", 0, 4}, 10, 0)));
  CHECK(std::isnan(seconds_left({}, 10, 0)));
}

TEST_CASE("progress is a line of the stage, its steps and the time that is left") {
  CHECK(progress_text({"attention", 1, 2}, 10, 0) == "attention: 1 of 2, about 10 s left");
  CHECK(progress_text({"attention", 0, 2}, 10, 0) == "attention: 0 of 2");
  CHECK(progress_text({"head_cluster", 0, 1}, 100, 0) == "head_cluster");
  CHECK(duration_text(89) == "89 s");
  CHECK(duration_text(600) == "10 min");
  CHECK(duration_text(7200) == "2.0 h");
}

TEST_CASE("a log has its first line after ten seconds, and further ones at growing distances of five minutes at most") {
  CHECK_FALSE(line_due(9.9, 0, true));
  CHECK(line_due(10, 0, false));
  CHECK_FALSE(line_due(19, 10, true));
  CHECK(line_due(20, 10, false));
  CHECK_FALSE(line_due(140, 100, false));
  CHECK(line_due(150, 100, false));
  // A new stage after a minute or more.
  CHECK(line_due(1060, 1000, true));
  CHECK_FALSE(line_due(1060, 1000, false));
  CHECK(line_due(1300, 1000, false));
  // An hour has few lines.
  int lines = 0;
  for (double passed = 0, written = 0; passed < 3600; passed += 0.5)
    if (line_due(passed, written, false)) {
      ++lines;
      written = passed;
    }
  CHECK(lines < 25);
  CHECK(lines > 12);
}
