#include "../../job/run/resume_file.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "../../core/planted/planted.h"
#include "../../job/run/document_pass.h"
#include "../../job/run/job.h"
#include "../catch.h"
#include "failing_source.h"
#include "quick_options.h"
#include "same_bits.h"

using namespace headwave;

namespace {

const Attributes identity{{"seed", std::int64_t{1}}, {"model_sha256", std::string("aa")}, {"level", 0.01}};

void keep_text(ResumeFile& run, Index documents, const std::string& text) {
  run.keep(documents, [&](ByteWriter& bytes) { bytes.write(text); });
}

/// All documents that an earlier run has not looked at.
Gather kept_in(ResumeFile& file) {
  return [&file](DocumentPass& pass, StageReport& report) { pass.run(report, &file); };
}

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("an unfinished run is read again, replaced by the next keeping, and removed") {
  const TemporaryFolder folder;
  const auto file = folder / "run";
  ResumeFile first(file, identity, 0);
  CHECK(first.documents() == 0);
  CHECK(first.is_due());
  keep_text(first, 3, std::string(3'000'000, 'x'));  // more than is handed on at once
  keep_text(first, 4, std::string(2'500'000, 'y'));
  const ResumeFile second(file, identity, 1e5);
  CHECK(second.documents() == 4);
  CHECK(second.sums().read<std::string>() == std::string(2'500'000, 'y'));
  CHECK_FALSE(second.is_due());
  first.remove();
  CHECK_FALSE(std::filesystem::exists(file));
  CHECK(ResumeFile(file, identity, 0).documents() == 0);
}

TEST_CASE("an unfinished run of other options, input or program is refused by the name of what differs") {
  const TemporaryFolder folder;
  const auto file = folder / "run";
  ResumeFile first(file, identity, 0);
  keep_text(first, 1, "sums");
  Attributes other = identity;
  other["seed"] = std::int64_t{2};
  CHECK_THROWS_WITH(ResumeFile(file, other, 0),
                    ContainsSubstring("run: belongs to another run (seed: 1 there, 2 here)") &&
                        ContainsSubstring("give force in place of resume"));
  other = identity;
  other["model_sha256"] = std::string("bb");
  CHECK_THROWS_WITH(ResumeFile(file, other, 0), ContainsSubstring("(model_sha256: other files)"));
  other = {{"a", 1.0}, {"b", 1.0}, {"level", 0.01}};
  CHECK_THROWS_WITH(ResumeFile(file, other, 0),
                    ContainsSubstring("a: nothing there, 1 here") && ContainsSubstring("and 1 more"));
}

TEST_CASE("an unfinished run that is cut off, changed anywhere, or no such file is refused") {
  const TemporaryFolder folder;
  const auto file = folder / "run";
  ResumeFile first(file, identity, 0);
  keep_text(first, 1, "sums");
  const std::string whole = content_of(file);
  for (std::size_t i = 0; i < whole.size(); i += 3) {
    std::string bytes = whole;
    bytes[i] = static_cast<char>(bytes[i] ^ 4);
    std::ofstream(file, std::ios::binary) << bytes;
    CHECK_THROWS_AS(ResumeFile(file, identity, 0), FormatError);
    std::ofstream(file, std::ios::binary) << whole.substr(0, i);
    CHECK_THROWS_AS(ResumeFile(file, identity, 0), FormatError);
  }
  CHECK_THROWS_AS(ResumeFile(folder.path(), identity, 0), IoError);
}

TEST_CASE("a job that ended behind any document is gone on with, and no bit of any Field differs") {
  const PlantedModel planted = planted_model(planted_bank());
  const auto documents = planted_documents(planted, 4, 96, 1);
  JobOptions options = quick_options();
  const Result whole = run_job(planted.model, *documents, options);
  for (const Index ended : {1, 3})
    for (const int threads : {1, 2}) {
      CAPTURE(ended, threads);
      const TemporaryFolder folder;
      options.threads = threads;
      ResumeFile first(folder / "run", identity, 0);
      CHECK_THROWS_AS(run_job_by_kind(planted.model, FailingSource(*documents, ended), options, {}, kept_in(first)),
                      IoError);
      ResumeFile second(folder / "run", identity, 0);
      REQUIRE(second.documents() == ended);
      const Result rest = run_job_by_kind(planted.model, *documents, options, {}, kept_in(second)).front().result;
      check_same_bits(rest.fields, whole.fields);
    }
}

TEST_CASE("sums of another job are refused") {
  const PlantedModel planted = planted_model(planted_bank());
  const auto documents = planted_documents(planted, 3, 64, 1);
  JobOptions narrow, other;
  narrow.only = {"head_types"};
  other.only = {"attention_map"};
  const TemporaryFolder folder;
  ResumeFile first(folder / "run", identity, 0);
  CHECK_THROWS_AS(run_job_by_kind(planted.model, FailingSource(*documents, 1), narrow, {}, kept_in(first)), IoError);
  ResumeFile second(folder / "run", identity, 0);  // as if both had one identity
  CHECK_THROWS_AS(run_job_by_kind(planted.model, *documents, other, {}, kept_in(second)), FormatError);
}
