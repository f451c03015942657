// Jobs on weights that are read layer by layer, with documents side by side.

#include <fstream>

#include "../../job/inputs/job_input.h"
#include "../../job/run/job.h"
#include "../../job/run/job_memory.h"
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

}  // namespace

TEST_CASE("a job gives the same bits where weights are in memory and where layers are read one by one") {
  const TemporaryFolder folder;
  write_documents(folder / "ids.json");
  JobOptions options = quick_options();
  for (const std::string family : {"bert-mlm", "llama", "gpt2"}) {
    const JobInput whole = opened(family, folder / "ids.json", WeightsIn::memory);
    const JobInput layers = opened(family, folder / "ids.json", WeightsIn::layers);
    options.together = 0;
    options.threads = 1;
    const Result expected = run_job(whole.model, *whole.source, options);
    for (const Index together : {0, 1, 3}) {
      for (const int threads : {1, 2}) {
        options.together = together;
        options.threads = threads;
        const Result result = run_job(layers.model, *layers.source, options);
        INFO(family << ", " << together << " side by side on " << threads << " threads");
        check_same_bits(result.fields, expected.fields);
      }
    }
  }
}

TEST_CASE("no more than four documents for each thread are side by side, unless somebody says so") {
  const TemporaryFolder folder;
  write_documents(folder / "ids.json");
  const JobInput layers = opened("bert-mlm", folder / "ids.json", WeightsIn::layers);
  constexpr std::int64_t plenty = 100'000'000'000;
  JobOptions options = quick_options();
  CHECK(with_together(layers.model, *layers.source, options, 1, plenty).together == 4);
  CHECK(with_together(layers.model, *layers.source, options, 2, plenty).together == 7);
  CHECK(with_together(layers.model, *layers.source, options, 2, 1).together == 1);
  options.together = 6;
  CHECK(with_together(layers.model, *layers.source, options, 1, plenty).together == 6);
}

TEST_CASE("as many documents are side by side as memory holds") {
  JobMemory memory;
  memory.there = 1e6;
  memory.layer = 2e6;
  memory.document = 1e6;
  memory.documents = 10;
  CHECK(together_within(memory, 8'000'000, 1) == 4);  // 3e6 + 1.05 (4 document)
  CHECK(together_within(memory, 100'000'000, 1) == 10);
  CHECK(together_within(memory, 1, 1) == 1);
  memory.together = 4;
  CHECK(memory.bytes(1) == 7'200'000);
  // What takes a document through a layer, a thread needs, however many wait beside it.
  memory.working = 2e6;
  CHECK(memory.bytes(1) == 9'300'000);
  CHECK(memory.bytes(4) == 15'600'000);
  CHECK(together_within(memory, 9'300'000, 1) == 4);
}

TEST_CASE("layers are read one by one where keeping them makes a job half as large again, and documents share them") {
  constexpr std::int64_t plenty = 100'000'000'000;
  JobMemory memory;
  memory.there = 1e6;
  memory.layer = 1e6;
  memory.layers = 12e6;
  memory.document = 1e5;
  memory.documents = 100;
  memory.together = 8;
  memory.tokens = 256;
  CHECK(is_better_by_layer(memory, plenty, 2));
  memory.tokens = 255;  // too few to share a reading
  CHECK_FALSE(is_better_by_layer(memory, plenty, 2));
  CHECK(is_better_by_layer(memory, 5'000'000, 2));  // and does not fit
  memory.tokens = 256;
  memory.documents = 7;  // of two threads: each layer would be read for fewer than four of each
  CHECK_FALSE(is_better_by_layer(memory, plenty, 2));
  CHECK(is_better_by_layer(memory, 5'000'000, 2));  // and does not fit
  memory.documents = 100;
  memory.layers = 3e6;  // 4.2e6 beside 2.84e6
  CHECK_FALSE(is_better_by_layer(memory, plenty, 2));
  CHECK(is_better_by_layer(memory, 4'000'000, 2));
  memory.document = 2e6;  // eight of them side by side take more than the layers
  CHECK_FALSE(is_better_by_layer(memory, 4'000'000, 2));
}
