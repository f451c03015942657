#include "../../job/run/result_size.h"

#include <fstream>

#include "../../analysis/attention/attention_map.h"
#include "../../analysis/predictions/position_atlas.h"
#include "../../analysis/registry/registry.h"
#include "../../core/planted/planted_bank.h"
#include "../../data/results/result_file.h"
#include "../../job/inputs/job_input.h"
#include "../catch.h"

using namespace headwave;

namespace {

struct Compared {
  double bound = 0, file = 0, unpacked = 0;
};

/// The bound beside what the files of all kinds of attention really take.
Compared compared(const Model& model, const Source& source, const JobOptions& options) {
  const TemporaryFolder folder;
  Compared sizes{static_cast<double>(result_bytes(model, source, options)), 0, 0};
  for (const KindResult& kind : run_job_by_kind(model, source, options)) {
    write_result(kind.result, folder / "r.h5");
    for (const Field& field : kind.result.fields)
      sizes.unpacked +=
          std::visit([](const auto& values) { return 8.0 * static_cast<double>(values.size()); }, field.values);
    sizes.file += static_cast<double>(std::filesystem::file_size(folder / "r.h5"));
  }
  return sizes;
}

}  // namespace

TEST_CASE("the bound of a result's size holds for every analysis alone, and is not far above") {
  const PlantedModel planted = planted_model(planted_bank());
  const auto documents = planted_documents(planted, 3, 256, 1);
  for (const AnalysisKind* analysis : listed_analyses()) {
    JobOptions options;
    options.only = {std::string(analysis->name)};
    if (!analysis->reads_one_of.empty()) options.only.emplace_back(analysis->reads_one_of.front()().name);
    options.draws = options[atlas_draws_option] = options.resamples = 3;
    const auto [bound, file, unpacked] = compared(planted.model, *documents, options);
    INFO(analysis->name);
    CHECK(file < bound);
    CHECK(bound < 1.5 * unpacked + 1.5e6);
  }
}

TEST_CASE("the bound of a result's size holds whatever the reach, the documents and the maps") {
  const PlantedModel planted = planted_model(planted_bank());
  JobOptions options;
  options.draws = options[atlas_draws_option] = options.resamples = 0;
  for (const Index reach : {1, 10, 200})
    for (const Index count : {1, 12}) {
      options.reach = reach;
      options[map_tokens_option] = 8 * count;
      const auto documents = planted_documents(planted, count, 200, 1);
      const auto [bound, file, unpacked] = compared(planted.model, *documents, options);
      INFO(reach << " tokens, " << count << " documents");
      CHECK(file < bound);
      CHECK(bound < 1.5 * unpacked + 1.5e6);
    }
}

TEST_CASE("the bound of a result's size holds for every family") {
  for (const char* family : {"gpt2", "llama", "bloom", "xlm-roberta"}) {
    const JobInput input = random_input(repository_file("tests/golden/families") / family, {2, 6, 2, -1, 1}, false);
    const auto [bound, file, unpacked] = compared(input.model, *input.source, {});
    INFO(family);
    CHECK(file < bound);
    CHECK(bound < 1.5 * unpacked + 1.5e6);
  }
}

TEST_CASE("the bound of a result's size is that of all kinds of attention together") {
  const TemporaryFolder folder;
  std::ofstream(folder / "pairs.json") << R"([{"source": [5, 6, 7, 8, 9, 10, 11], "target": [2, 8, 9, 10]}])";
  PackingOptions packing;
  packing.documents = 1;
  const JobInput input = ids_input(repository_file("tests/golden/families/bart"), folder / "pairs.json", packing);
  const auto [bound, file, unpacked] = compared(input.model, *input.source, {});
  CHECK(file < bound);
  CHECK(bound < 1.5 * unpacked + 3 * 1.5e6);
}

TEST_CASE("the bound of a result's size holds for stored states") {
  NEEDS_SHARED("bert-tiny-stored-embeddings/stored.h5");
  const JobInput input = states_input(shared_file("bert-tiny-stored-embeddings/stored.h5"));
  const auto [bound, file, unpacked] = compared(input.model, *input.source, {});
  CHECK(file < bound);
  CHECK(bound < 1.5 * unpacked + 1.5e6);
}

TEST_CASE("the bound of a result's size does not overflow") {
  const PlantedModel planted = planted_model(planted_bank());
  const auto documents = planted_documents(planted, 1000000, 512, 1);
  JobOptions options;
  options.reach = 1000000000;
  CHECK(result_bytes(planted.model, *documents, options) > std::int64_t{1} << 59U);
}

TEST_CASE("no bound of a result with an analysis that is none") {
  const PlantedModel planted = planted_model(planted_bank());
  const auto documents = planted_documents(planted, 2, 32, 1);
  JobOptions options;
  options.only = {"delays"};
  CHECK_THROWS_AS(result_bytes(planted.model, *documents, options), ShapeError);
}
