#include "../../job/run/shard_files.h"

#include <fstream>
#include <iterator>

#include "../../core/planted/planted.h"
#include "../../job/run/document_pass.h"
#include "../catch.h"
#include "failing_source.h"
#include "quick_options.h"
#include "same_bits.h"

using namespace headwave;

namespace {

/// A job of three blocks.
struct DividedJob {
  PlantedModel planted = planted_model(planted_bank());
  std::unique_ptr<Source> documents = planted_documents(planted, 10, 64, 1);
  JobOptions options = quick_options();
  Attributes identity{{"seed", std::int64_t{1}}};
  TemporaryFolder folder;

  [[nodiscard]] std::filesystem::path part(Index number) const { return folder / ("part-" + std::to_string(number)); }

  /// @returns how many blocks it looked at
  Index run_part(Index number, Index parts, const Source& source, int threads = 1) const {
    std::filesystem::create_directories(part(number));
    const DocumentBlocks blocks(source.count());
    const ShardFolder here(part(number), blocks, part_of(blocks, number, parts), identity, "options");
    const std::vector<Index> missing = here.missing();
    JobOptions with_threads = options;
    with_threads.threads = threads;
    run_part_of_job(planted.model, source, with_threads, {},
                    [&](DocumentPass& pass, StageReport& report) { here.gather(missing, pass, report); });
    return static_cast<Index>(missing.size());
  }
  [[nodiscard]] Result merged(const std::vector<std::filesystem::path>& places) const {
    const ShardFiles parts(places);
    return run_job_by_kind(planted.model, *documents, options, {},
                           [&](DocumentPass& pass, StageReport& report) { parts.gather(identity, pass, report); })
        .front()
        .result;
  }
};

}  // namespace

TEST_CASE("a job's parts, in any order and with any threads, come to the undivided job's Fields to the bit") {
  const DividedJob job;
  const Result whole = run_job(job.planted.model, *job.documents, job.options);
  REQUIRE(DocumentBlocks(10).count() == 3);
  CHECK(job.run_part(1, 2, *job.documents, 2) == 1);
  CHECK(job.run_part(2, 2, *job.documents) == 2);
  check_same_bits(job.merged({job.part(2), job.part(1)}).fields, whole.fields);
  CHECK(ShardFiles({job.part(1)}).job() == "options");
}

TEST_CASE("a part that ended goes on behind its last block") {
  const DividedJob job;
  const FailingSource until(*job.documents, 9);
  CHECK_THROWS_AS(job.run_part(1, 1, until), IoError);
  CHECK(job.run_part(1, 1, *job.documents) == 1);
  CHECK(job.run_part(1, 1, *job.documents) == 0);
  check_same_bits(job.merged({job.part(1)}).fields, run_job(job.planted.model, *job.documents, job.options).fields);
}

TEST_CASE("parts of a job lie beside each other in one folder") {
  const DividedJob job;
  const DocumentBlocks blocks(10);
  const auto here = [&](Index number) {
    return ShardFolder(job.folder.path(), blocks, part_of(blocks, number, 2), job.identity, "options");
  };
  const auto run = [&](Index number) {
    run_part_of_job(job.planted.model, *job.documents, job.options, {}, [&](DocumentPass& pass, StageReport& report) {
      here(number).gather(here(number).missing(), pass, report);
    });
  };
  run(1);
  CHECK(here(1).missing().empty());
  CHECK(here(2).missing().size() == 2);
  run(2);
  check_same_bits(job.merged({job.folder.path()}).fields,
                  run_job(job.planted.model, *job.documents, job.options).fields);
}

TEST_CASE("parts that are missing, doubled, damaged or another run's are refused by name") {
  DividedJob job;
  job.options.only = {"head_types"};
  for (const Index part : {1, 2, 3}) job.run_part(part, 3, *job.documents);
  CHECK_THROWS_WITH(job.merged({job.part(1), job.part(3)}),
                    ContainsSubstring("documents 4 to 7 (block 2 of 3) are missing"));
  CHECK_THROWS_WITH(job.merged({job.part(3)}), ContainsSubstring("documents 0 to 7 (blocks 1 to 2 of 3) are missing"));
  CHECK_THROWS_WITH(job.merged({job.part(2)}),
                    ContainsSubstring("documents 0 to 3 (block 1 of 3), and 1 more block are missing"));
  CHECK_THROWS_WITH(job.merged({job.part(1), job.part(2), job.part(2), job.part(3)}),
                    ContainsSubstring("block-02-of-03.part") && ContainsSubstring("give each part once"));
  CHECK_THROWS_WITH(job.merged({job.folder.path()}), ContainsSubstring("holds no part of a run"));
  CHECK_THROWS_AS(job.merged({}), IoError);
  CHECK_THROWS_AS(job.merged({job.part(1), job.part(7)}), IoError);

  const auto file = job.part(2) / "block-02-of-03.part";
  const auto copy = job.folder / "copy";
  std::filesystem::copy_file(file, copy);
  const auto damaged = [&](std::streamoff at) {
    std::filesystem::copy_file(copy, file, std::filesystem::copy_options::overwrite_existing);
    std::fstream stream(file, std::ios::binary | std::ios::in | std::ios::out);
    stream.seekp(at);
    stream.put('\x7f');
  };
  for (const std::streamoff at : {0, 60, 200, 400}) {
    CAPTURE(at);
    damaged(at);
    CHECK_THROWS_AS(job.merged({job.part(1), job.part(2), job.part(3)}), FormatError);
    CHECK_THROWS_AS(job.run_part(2, 3, *job.documents), FormatError);
  }
  std::filesystem::remove(file);
  job.identity["seed"] = std::int64_t{2};
  CHECK_THROWS_WITH(job.run_part(3, 3, *job.documents), ContainsSubstring("(seed: 1 there, 2 here)"));
  job.run_part(2, 3, *job.documents);
  CHECK_THROWS_WITH(job.merged({job.part(1), job.part(2), job.part(3)}),
                    ContainsSubstring("belongs to another run (seed"));
}

TEST_CASE("a file that is a pipe or a folder is no part") {
  DividedJob job;
  job.options.only = {"head_types"};
  job.run_part(1, 1, *job.documents);
  const auto file = job.part(1) / "block-02-of-03.part";
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  CHECK_THROWS_AS(job.merged({job.part(1)}), IoError);
}
