// Jobs on weights that are read layer by layer, with documents side by side.

#include <fstream>

#include "../../job/inputs/job_input.h"
#include "../../job/run/job.h"
#include "../catch.h"
#include "quick_options.h"
#include "same_bits.h"

using namespace headwave;

namespace {

/// Seven documents of three lengths.
JobInput opened(const std::string& family, const std::filesystem::path& ids, WeightsIn weights) {
  ModelPlace place(repository_file("tests/golden/families/" + family));
  place.weights_in = weights;
  PackingOptions packing;
  packing.documents = 7;
  return ids_input(place, ids, packing);
}

void write_documents(const std::filesystem::path& file) {
  std::ofstream out(file);
  out << "[";
  for (int document = 0; document < 7; ++document) {
    out << (document == 0 ? "[" : ", [");
    for (int i = 0; i < 9 + document % 3; ++i) out << (i == 0 ? "" : ", ") << 5 + (7 * document + 3 * i) % 19;
    out << "]";
  }
  out << "]";
}

/// All but head_effect and head_writes, which are undefined where weights are read layer by layer.
std::vector<Field> without_rerun_heads(std::vector<Field> fields) {
  std::erase_if(fields,
                [](const Field& field) { return field.group() == "head_effect" || field.group() == "head_writes"; });
  return fields;
}

}  // namespace

TEST_CASE("a job gives the same bits where weights are in memory and where layers are read one by one") {
  const TemporaryFolder folder;
  write_documents(folder / "ids.json");
  JobOptions options = quick_options();
  for (const std::string family : {"bert-mlm", "llama", "gpt2"}) {
    const JobInput whole = opened(family, folder / "ids.json", WeightsIn::memory);
    const JobInput layers = opened(family, folder / "ids.json", WeightsIn::layers);
    options.parallel_documents = 0;
    options.threads = 1;
    const Result expected = run_job(whole.model, *whole.source, options);
    for (const Index together : {0, 1, 3}) {
      for (const int threads : {1, 2}) {
        options.parallel_documents = together;
        options.threads = threads;
        const Result result = run_job(layers.model, *layers.source, options);
        INFO(family << ", " << together << " side by side on " << threads << " threads");
        check_same_bits(without_rerun_heads(result.fields), without_rerun_heads(expected.fields));
      }
    }
  }
}

TEST_CASE("under a limit of memory a job gives the same bits, with weights in memory and layer by layer") {
  const TemporaryFolder folder;
  write_documents(folder / "ids.json");
  JobOptions options = quick_options();
  options.threads = 2;
  for (const WeightsIn weights : {WeightsIn::memory, WeightsIn::layers}) {
    const JobInput input = opened("bert-mlm", folder / "ids.json", weights);
    options.max_memory = 0;
    const Result expected = run_job(input.model, *input.source, options);
    for (const std::int64_t limit : {std::int64_t{1}, std::int64_t{100'000'000'000}}) {
      options.max_memory = limit;
      check_same_bits(run_job(input.model, *input.source, options).fields, expected.fields);
    }
  }
}
