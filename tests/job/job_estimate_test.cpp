#include "../../job/run/job_estimate.h"

#include <fstream>
#include <utility>

#include "../../analysis/attention/attention_map.h"
#include "../../analysis/attention/head_clusters.h"
#include "../../core/planted/planted.h"
#include "../../data/results/result_file.h"
#include "../../job/inputs/job_input.h"
#include "../../job/run/document_pass.h"
#include "../catch.h"
#include "failing_source.h"

using namespace headwave;

namespace {

std::int64_t written(const std::vector<KindResult>& results) {
  const TemporaryFolder folder;
  std::int64_t bytes = 0;
  for (const KindResult& found : results) {
    write_result(found.result, folder / "r.h5");
    bytes += static_cast<std::int64_t>(std::filesystem::file_size(folder / "r.h5"));
  }
  return bytes;
}

/// A job with its sums counted: the results, and the bytes of the sums.
std::pair<std::vector<KindResult>, std::size_t> whole_job(const Model& model, const Source& source,
                                                          const JobOptions& options) {
  std::size_t sums = 0;
  std::vector<KindResult> results =
      run_job_by_kind(model, source, options, {}, [&](DocumentPass& pass, StageReport& report) {
        pass.run(report);
        ByteWriter bytes;
        pass.write_sums(bytes);
        sums = bytes.bytes().size();
      });
  return {std::move(results), sums};
}

}  // namespace

TEST_CASE("an estimate of a job that two trials have not been through is near what the job takes") {
  const PlantedModel planted = planted_model(planted_bank());
  const auto documents = planted_documents(planted, 30, 128, 1);
  JobOptions options;
  options.threads = 2;
  options.only = {"measured_offset", "cross_covariance"};
  const JobEstimate job = estimate_job(planted.model, *documents, options, written, 0.0);
  CHECK(job.documents == 30);
  CHECK(job.shortest == 128);
  CHECK(job.longest == 128);
  CHECK(job.layers == 4);
  CHECK(job.heads == 8);
  CHECK(job.threads == 2);
  CHECK(job.tried == 4);
  CHECK(job.seconds > 0);
  CHECK(job.processor_seconds > 0);
  const auto [results, sums] = whole_job(planted.model, *documents, options);
  CHECK(static_cast<double>(job.result_bytes) == Approx(static_cast<double>(written(results))).epsilon(0.1));
  CHECK(static_cast<double>(job.unfinished_bytes) == Approx(static_cast<double>(sums)).epsilon(0.02));
  CHECK(job.memory_bytes > job.unfinished_bytes);
  REQUIRE(job.trial.size() == 1);
  CHECK(job.trial.front().result.at("offset_trace/by_document").axes[0].size() == 4);
}

TEST_CASE("an estimate tries all documents of a short job") {
  const PlantedModel planted = planted_model(planted_bank());
  const auto documents = planted_documents(planted, 5, 64, 1);
  JobOptions options;
  options.threads = 2;
  options[map_document_option] = 3;
  const JobEstimate job = estimate_job(planted.model, *documents, options, written);
  CHECK(job.tried == 5);
  CHECK(job.trial.front().result.find("attention_map/weight") != nullptr);
}

TEST_CASE("an estimate counts documents of unequal length as they are") {
  const TemporaryFolder folder;
  std::ofstream(folder / "ids.json") << "[[7, 8, 9], [10, 11, 12, 13, 14, 15, 16], [20, 21, 22, 23]]";
  PackingOptions packing;
  packing.documents = 3;
  const JobInput input = ids_input(repository_file("tests/golden/models/bert"), folder / "ids.json", packing);
  JobOptions options;
  options.threads = 1;
  const JobEstimate job = estimate_job(input.model, *input.source, options, written);
  CHECK(job.tried == 3);
  CHECK(job.shortest == 3);
  CHECK(job.longest == 7);
}

TEST_CASE("no estimate of no documents, of options out of range, or of a document that cannot be read") {
  const PlantedModel planted = planted_model(planted_bank());
  const auto documents = planted_documents(planted, 4, 32, 1);
  JobOptions options;
  options.threads = 1;
  CHECK_THROWS_WITH(estimate_job(planted.model, FailingSource(*documents, -1), options, written),
                    "estimate_job: the source has no documents; expected at least one");
  CHECK_THROWS_AS(estimate_job(planted.model, FailingSource(*documents, -1), options, written), ShapeError);
  CHECK_THROWS_AS(estimate_job(planted.model, FailingSource(*documents, 1), options, written), IoError);
  options[window_option] = 0;
  CHECK_THROWS_AS(estimate_job(planted.model, *documents, options, written), ShapeError);
}
