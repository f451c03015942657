#include "../../job/run/job_memory.h"

#include <fstream>
#include <functional>

#include "../../analysis/predictions/position_atlas.h"
#include "../../core/planted/planted_bank.h"
#include "../../job/inputs/job_input.h"
#include "../../job/run/document_pass.h"
#include "../catch.h"

using namespace headwave;

namespace {

struct Bytes {
  double sums = 0, block = 0, document = 0;
};

double size_of(const std::function<void(ByteWriter&)>& write) {
  double size = 0;
  ByteWriter writer([&](std::string_view piece) { size += static_cast<double>(piece.size()); });
  write(writer);
  writer.flush();
  return size;
}

/// What the documents of a job really come to, their first block, and a block of the first alone.
Bytes bytes_of(const Model& model, const Source& source, const JobOptions& options) {
  DocumentPass pass(model, source, options, 1);
  pass.prepare();
  Bytes bytes;
  BlockSums block = pass.new_block();
  for (Index i = 0; i < source.count(); ++i) {
    pass.add(block, pass.look(i));
    if (i == 0) bytes.document = size_of([&](ByteWriter& to) { DocumentPass::write(to, block); });
    if (!pass.blocks().ends_with(i)) continue;
    if (pass.blocks().of(i) == 0) bytes.block = size_of([&](ByteWriter& to) { DocumentPass::write(to, block); });
    pass.join(std::move(block));
  }
  bytes.sums = size_of([&](ByteWriter& to) { pass.write_sums(to); });
  return bytes;
}

}  // namespace

TEST_CASE("what documents come to is reckoned as large as it is, of every analysis by itself") {
  const PlantedModel planted = planted_model(planted_bank());
  const auto documents = planted_documents(planted, 10, 200, 1);
  for (const AnalysisKind* analysis : listed_analyses()) {
    JobOptions options;
    options.only = {std::string(analysis->name)};
    if (!analysis->reads_one_of.empty()) options.only.emplace_back(analysis->reads_one_of.front()().name);
    options.draws = options[atlas_draws_option] = 5;
    const JobMemory memory = job_memory(planted.model, *documents, options);
    const Bytes bytes = bytes_of(planted.model, *documents, options);
    INFO(analysis->name);
    CHECK(memory.kept == Approx(bytes.sums).epsilon(0.05).margin(5e4));
    CHECK(memory.block == Approx(bytes.block).epsilon(0.05).margin(5e4));
    CHECK(memory.passing(1) > bytes.document);
  }
}

TEST_CASE("what documents come to is reckoned of rotary models, of unequal lengths, and of three kinds of attention") {
  const auto agrees = [](const JobInput& input) {
    const Bytes bytes = bytes_of(input.model, *input.source, {});
    const JobMemory memory = job_memory(input.model, *input.source);
    CHECK(memory.kept == Approx(bytes.sums).epsilon(0.1).margin(1e5));
    CHECK(memory.block == Approx(bytes.block).epsilon(0.1).margin(1e5));
    CHECK(memory.passing(1) > bytes.document);
  };
  const TemporaryFolder folder;
  PackingOptions packing;
  packing.documents = 3;
  agrees(random_input(repository_file("tests/golden/families/llama"), {6, 12, 2, -1, 1}, false));
  std::ofstream(folder / "ids.json") << "[[7, 8, 9], [10, 11, 12, 13, 14, 15, 16], [20, 21, 22, 23]]";
  agrees(ids_input(repository_file("tests/golden/models/bert"), folder / "ids.json", packing));
  std::ofstream(folder / "pairs.json") << R"([{"source": [5, 6, 7, 8, 9, 10, 11], "target": [2, 8, 9, 10]}])";
  packing.documents = 1;
  agrees(ids_input(repository_file("tests/golden/families/bart"), folder / "pairs.json", packing));
}

TEST_CASE("the peak is what stays, and the larger of what passes and what finishes, on every thread") {
  JobMemory memory;
  memory.there = 1000;
  memory.prepared = 2000;
  memory.kept = 2800;
  memory.block = 200;
  memory.document = 600;
  memory.working = 100;
  memory.fields = 600;
  memory.finishing = 100;
  memory.documents = 5;
  const auto bytes = [&](int threads) { return static_cast<double>(memory.bytes(threads)); };
  CHECK(bytes(1) == Approx(1000 + 1.05 * (4800 + 200 + 700)));
  CHECK(bytes(4) == Approx(1000 + 1.05 * (4800 + 200 + 4 * 700)));
  CHECK(bytes(5) == Approx(1000 + 1.05 * (4800 + 600 + 5 * 100)));
  memory.document = 900;
  CHECK(bytes(4) == Approx(1000 + 1.05 * (4800 + 200 + 4 * 1000)));
  CHECK(bytes(5) == Approx(1000 + 1.05 * (2000 + 5 * 1000)));  // none has been added up before
  memory.document = 600;
  CHECK(bytes(100) == Approx(1000 + 1.05 * (4800 + 600 + 100 * 100)));
  memory.first = {9000, 700};  // of the first ones more is found, and nothing is kept yet
  CHECK(bytes(1) == Approx(1000 + 1.05 * (2000 + 200 + 9000 + 100)));
  CHECK(bytes(4) == Approx(1000 + 1.05 * (2000 + 200 + 9000 + 700 + 2 * 600 + 4 * 100)));
  memory.first = {700};
  CHECK(bytes(4) == Approx(1000 + 1.05 * (4800 + 200 + 4 * 700)));
  memory.together = 4;
  memory.block_documents = 3;
  CHECK(bytes(1) == Approx(1000 + 1.05 * (4800 + 200 + 4 * 600 + 100)));
  memory.block_documents = 2;  // then no block is under way while the next ones pass
  CHECK(bytes(1) == Approx(1000 + 1.05 * (4800 + 4 * 600 + 100)));
  memory.together = 1;
  memory.block_documents = 5;  // the first block is the last
  CHECK(bytes(1) == Approx(1000 + 1.05 * (2000 + 2800 + 600 + 100)));
  memory.first = {};
  memory.document = 4000;
  CHECK(bytes(1) == Approx(1000 + 1.05 * (2000 + 200 + 4100)));
  CHECK(memory.unfinished_bytes() == 3000);
  memory = {};
  memory.there = 1e300;
  CHECK(memory.bytes(1) > std::int64_t{1} << 59U);
}

TEST_CASE("as many threads as a limit allows") {
  JobMemory memory;
  memory.there = 100e6;
  memory.kept = 50e6 / 1.05;
  memory.document = 20e6 / 1.05;
  memory.documents = 100;
  CHECK(threads_within(memory, 1'000'000'000, 8) == 8);
  CHECK(threads_within(memory, 215'000'000, 8) == 3);
  CHECK(threads_within(memory, 170'500'000, 8) == 1);
  CHECK(threads_within(memory, 169'000'000, 8) == 0);
}

TEST_CASE("no memory is reckoned of an analysis that is none") {
  const PlantedModel planted = planted_model(planted_bank());
  const auto documents = planted_documents(planted, 2, 32, 1);
  JobOptions options;
  options.only = {"delays"};
  CHECK_THROWS_AS(job_memory(planted.model, *documents, options), ShapeError);
}
