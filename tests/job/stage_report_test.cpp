#include "../../job/run/stage_report.h"

#include <algorithm>
#include <set>

#include "../../analysis/registry/registry.h"
#include "../../core/planted/planted.h"
#include "../../job/run/jobs_progress.h"
#include "../catch.h"

using namespace headwave;

TEST_CASE("a report knows what is expected before, in and after each stage, and passes over those that do not come") {
  std::vector<JobProgress> told;
  StageReport report({{"a", 1}, {"b", 2}, {"c", 4}, {"a", 8}}, [&](const JobProgress& now) { told.push_back(now); });
  report.begin("a");
  report.begin("c", 3);
  report.reached(2);
  report.begin("a");
  report.begin("unforeseen");
  report.end();
  REQUIRE(told.size() == 9);
  const auto check = [&](std::size_t i, const char* stage, Index done, Index total, double before, double here,
                         double after) {
    CAPTURE(i);
    CHECK(told[i].stage == stage);
    CHECK(told[i].done == done);
    CHECK(told[i].total == total);
    CHECK(told[i].before == before);
    CHECK(told[i].here == here);
    CHECK(told[i].after == after);
  };
  check(0, "a", 0, 1, 0, 1, 14);
  check(1, "a", 1, 1, 0, 1, 14);
  check(2, "c", 0, 3, 1, 4, 8);
  check(3, "c", 2, 3, 1, 4, 8);
  check(4, "c", 3, 3, 1, 4, 8);
  check(5, "a", 0, 1, 5, 8, 0);
  check(7, "unforeseen", 0, 1, 13, 0, 0);
  StageReport nobody({}, {});
  nobody.begin("a");
  nobody.end();
}

TEST_CASE("a job reports every stage by a name that is expected, from the first to the last, and computes the same") {
  const PlantedModel planted = planted_model(planted_bank());
  const auto documents = planted_documents(planted, 3, 64, 1);
  JobOptions options;
  options.threads = 2;
  std::vector<JobProgress> told;
  const Result watched =
      run_job(planted.model, *documents, options, [&](const JobProgress& now) { told.push_back(now); });
  std::set<std::string> stages;
  for (const JobProgress& now : told) {
    CAPTURE(now.stage);
    stages.insert(now.stage);
    CHECK(now.here >= 0);
    CHECK(now.done <= now.total);
  }
  std::set<std::string> expected{"preparation", "attention", "evidence"};
  for (const AnalysisKind* kind : chosen_analyses({}))
    if (std::ranges::count(kind->needs, Need::grid) == 0) expected.emplace(kind->name);  // these are words, no patches
  CHECK(stages == expected);
  CHECK(told.front().before == 0);
  CHECK(told.back().after == Approx(0).margin(1e-12));
  CHECK(told.back().done == told.back().total);

  const Result alone = run_job(planted.model, *documents, options);
  REQUIRE(alone.fields.size() == watched.fields.size());
  for (std::size_t i = 0; i < alone.fields.size(); ++i) {
    CAPTURE(alone.fields[i].name);
    REQUIRE(alone.fields[i].values.index() == watched.fields[i].values.index());
    std::visit(
        [&](const auto& values) {
          const auto& others = std::get<std::decay_t<decltype(values)>>(watched.fields[i].values);
          REQUIRE(values.size() == others.size());
          for (std::size_t k = 0; k < values.size(); ++k)
            if (values[k] == values[k]) REQUIRE(values[k] == others[k]);
        },
        alone.fields[i].values);
  }
}

TEST_CASE("several jobs are told of as one: what the others cost comes before or after") {
  std::vector<JobProgress> told;
  JobsProgress jobs([&](const JobProgress& now) { told.push_back(now); }, 10, 3, 2);
  JobProgress now;
  now.stage = "attention";
  now.here = 2;
  now.after = 8;
  jobs.of("")(now);
  jobs.next();
  jobs.of("words only")(now);
  jobs.next();
  jobs.of("")(now);
  REQUIRE(told.size() == 3);
  CHECK(told[0].stage == "attention");
  CHECK(told[0].before == 0);
  CHECK(told[0].after == 14);
  CHECK(told[1].stage == "words only: attention");
  CHECK(told[1].before == 10);
  CHECK(told[1].after == 11);
  CHECK(told[2].before == 13);
  CHECK(told[2].after == 8);
  CHECK_FALSE(JobsProgress({}, 1, 1, 1).of("x"));
}
