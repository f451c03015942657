// Everything that starts threads, in one job or one study. The thread sanitizer runs these (tests/CMakeLists.txt).

#include "../../core/process/threads.h"

#include <algorithm>
#include <atomic>

#include "../../analysis/attention/head_cluster.h"
#include "../../analysis/why/position_atlas.h"
#include "../../core/planted/planted.h"
#include "../../job/inputs/job_input.h"
#include "../../job/run/job.h"
#include "../../job/studies/model_atlas.h"
#include "../catch.h"
#include "same_bits.h"

using namespace headwave;

TEST_CASE("threads change no digit") {
  const PlantedModel planted = planted_model(planted_bank());
  const auto documents = planted_documents(planted, 6, 96, 1);
  JobOptions options;
  options.everything = true;
  options[clusters_option] = 6;
  options.draws = options[atlas_draws_option] = 5;  // the thread sanitizer takes its time
  options.resamples = 50;
  options[sweep_option] = 4;
  options.threads = 1;
  const Result one = run_job(planted.model, *documents, options);
  options.threads = 3;
  check_same_bits(one.fields, run_job(planted.model, *documents, options).fields);
}

TEST_CASE("threads change no digit of an atlas") {
  ModelAtlasOptions options;
  options.atlas.draws = 4;
  const auto atlas = [&](int threads) {
    options.atlas.threads = threads;
    return model_atlas(repository_file("tests/golden/models/bert"), options).front().result;
  };
  check_same_bits(atlas(1).fields, atlas(3).fields);
}

TEST_CASE("threads change no digit of a job on stored states, which one library reads for all of them") {
  const JobInput input = states_input(repository_file("tests/golden/stored/causal.h5"));
  REQUIRE(input.source->count() == 2);
  const Matrix32 query = input.source->document(1).stored.back().query;
  std::atomic<int> others{0};
  parallel_for(60, 3, [&](Index) { others += input.source->document(1).stored.back().query == query ? 0 : 1; });
  CHECK(others == 0);
  JobOptions options;
  options.everything = true;
  options.reach = 3;
  options.threads = 1;
  const Result one = run_job(input.model, *input.source, options);
  options.threads = 2;
  check_same_bits(one.fields, run_job(input.model, *input.source, options).fields);
}
