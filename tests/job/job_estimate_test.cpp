#include "../../job/run/job_estimate.h"

#include <algorithm>
#include <fstream>

#include "../../analysis/attention/head_clusters.h"
#include "../../core/planted/planted_bank.h"
#include "../../data/results/result_file.h"
#include "../../job/inputs/job_input.h"
#include "../catch.h"
#include "failing_source.h"

using namespace headwave;

TEST_CASE("an estimate knows the job's sizes and about how large its file is") {
  const PlantedModel planted = planted_model(planted_bank());
  const auto documents = planted_documents(planted, 5, 128, 1);
  JobOptions options;
  options.threads = 2;
  const JobEstimate job = estimate_job(planted.model, *documents, options);
  CHECK(job.documents == 5);
  CHECK(job.shortest == 128);
  CHECK(job.longest == 128);
  CHECK(job.layers == 4);
  CHECK(job.heads == 8);
  CHECK(job.probed == 4);
  CHECK(job.seconds > 0);
  // Above what the near traces of all documents need; below this machine's sum of all memory.
  CHECK(job.memory_bytes > 8 * 5 * 32 * 129);
  const TemporaryFolder folder;
  const Result result = run_job(planted.model, *documents, options);
  write_result(result, folder / "r.h5");
  // Maps and sweep are those of the probe: only what grows with documents and length is reckoned.
  CHECK(static_cast<double>(job.result_bytes) ==
        Approx(static_cast<double>(std::filesystem::file_size(folder / "r.h5"))).epsilon(0.3));
  REQUIRE(job.probe.size() == 1);
  CHECK(job.probe.front().result.find("delay_spectrum/offset") != nullptr);
  CHECK(job.threads == 2);
  CHECK(job.processor_seconds > 0);
  CHECK(job.kept_bytes > 8 * 5 * 32 * 129);
}

TEST_CASE("an estimate counts documents of unequal length as they are") {
  const TemporaryFolder folder;
  std::ofstream(folder / "ids.json") << "[[7, 8, 9], [10, 11, 12, 13, 14, 15, 16], [20, 21, 22, 23]]";
  PackingOptions packing;
  packing.documents = 3;
  const JobInput input = ids_input(repository_file("tests/golden/models/bert"), folder / "ids.json", packing);
  JobOptions options;
  options.threads = 1;
  const JobEstimate job = estimate_job(input.model, *input.source, options);
  CHECK(job.probed == 3);
  CHECK(job.shortest == 3);
  CHECK(job.longest == 7);
}

TEST_CASE("no estimate of no documents, of options out of range, or of a document that cannot be read") {
  const PlantedModel planted = planted_model(planted_bank());
  const auto documents = planted_documents(planted, 4, 32, 1);
  JobOptions options;
  options.threads = 1;
  CHECK_THROWS_WITH(estimate_job(planted.model, FailingSource(*documents, -1), options),
                    "estimate_job: the source has no documents; expected at least one");
  CHECK_THROWS_AS(estimate_job(planted.model, FailingSource(*documents, -1), options), ShapeError);
  CHECK_THROWS_AS(estimate_job(planted.model, FailingSource(*documents, 1), options), IoError);
  options[window_option] = 0;
  CHECK_THROWS_AS(estimate_job(planted.model, *documents, options), ShapeError);
}
