// Everything that starts threads, in one job or one study. The thread sanitizer runs these (tests/CMakeLists.txt).

#include "../../core/numbers/threads.h"

#include <algorithm>
#include <atomic>

#include "../../core/planted/planted_bank.h"
#include "../../job/inputs/job_input.h"
#include "../../job/run/job.h"
#include "../../job/studies/model_atlas.h"
#include "../../job/studies/text_loss.h"
#include "../catch.h"

using namespace headwave;

namespace {

bool same_numbers(const std::vector<double>& a, const std::vector<double>& b) {
  return std::ranges::equal(a, b, [](double x, double y) { return x == y || (x != x && y != y); });
}

bool same_values(const Field& a, const Field& b) {
  if (const auto* numbers = std::get_if<std::vector<double>>(&a.values)) return same_numbers(*numbers, b.doubles());
  return a.values == b.values;
}

void check_same(const Result& one, const Result& three) {
  REQUIRE(one.fields.size() == three.fields.size());
  for (std::size_t i = 0; i < one.fields.size(); ++i) {
    CAPTURE(one.fields[i].name);
    CHECK(same_values(one.fields[i], three.fields[i]));
  }
}

}  // namespace

TEST_CASE("threads change no digit") {
  const PlantedModel planted = planted_model(planted_bank());
  const auto documents = planted_documents(planted, 6, 96, 1);
  JobOptions options;
  options.clusters = 6;
  options.draws = options.atlas_draws = 5;  // the thread sanitizer takes its time
  options.resamples = 50;
  options.sweep = 4;
  options.threads = 1;
  const Result one = run_job(planted.model, *documents, options);
  options.threads = 3;
  check_same(one, run_job(planted.model, *documents, options));
}

TEST_CASE("threads change no digit of an atlas with whole rotations") {
  ModelAtlasOptions options;
  options.atlas.null.draws = 4;
  options.paper_heads = {{0, 1}, {1, 3}};
  const auto atlas = [&](int threads) {
    options.atlas.threads = threads;
    return model_atlas(repository_file("tests/golden/models/bert"), options).front().result;
  };
  check_same(atlas(1), atlas(3));
}

TEST_CASE("threads change no digit of losses, and each document is told of once") {
  const JobInput input =
      random_input(repository_file("tests/golden/families/gpt2"), {.documents = 60, .period = 9}, false);
  TextLossOptions options;
  options.threads = 1;
  const std::vector<PredictionLoss> one = text_losses(input.model, *input.source, -1, options);
  options.threads = 3;
  Index told = -1;
  bool in_order = true;
  const auto count = [&](const JobProgress& now) { in_order = now.done == ++told && in_order; };
  const std::vector<PredictionLoss> three = text_losses(input.model, *input.source, -1, options, count);
  CHECK(told == 60);
  CHECK(in_order);
  CHECK(std::ranges::equal(one, three, {}, &PredictionLoss::sum, &PredictionLoss::sum));
}

TEST_CASE("threads change no digit of a job on stored states, which one library reads for all of them") {
  const JobInput input = states_input(repository_file("tests/golden/stored/causal.h5"));
  REQUIRE(input.source->count() == 2);
  const Matrix32 query = input.source->document(1).stored.back().query;
  std::atomic<int> others{0};
  parallel_for(60, 3, [&](Index) { others += input.source->document(1).stored.back().query == query ? 0 : 1; });
  CHECK(others == 0);
  JobOptions options;
  options.reach = 3;
  options.threads = 1;
  const Result one = run_job(input.model, *input.source, options);
  options.threads = 2;
  check_same(one, run_job(input.model, *input.source, options));
}
