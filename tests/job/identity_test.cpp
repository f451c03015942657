#include "../../job/inputs/identity.h"

#include <fstream>

#include "../../job/inputs/job_input.h"
#include "../../job/inputs/run_input.h"
#include "../../job/run/provenance.h"
#include "../catch.h"

using namespace headwave;

namespace {

/// As a result file has it in the end.
Attributes provenance_of(KindResult& found) {
  Attributes provenance = std::move(found.result.provenance);
  add_program(provenance, {"headwave run", 0, 1.0});
  provenance["job"] = std::string("length = 8");
  provenance["run_sha256"] = std::string("0");
  return provenance;
}

}  // namespace

TEST_CASE("identity: a result states the identity of its run, nothing more and nothing less") {
  const TemporaryFolder folder;
  std::ofstream(folder / "ids.json") << "[[7, 8, 9, 10, 11], [11, 12, 3, 4, 5]]";
  std::ofstream(folder / "pairs.json") << R"([{"source": [5, 6, 7], "target": [5, 6]}])";
  JobOptions options;
  options.only = {"measured_offset"};
  for (const auto& [model, ids] : {std::pair("models/bert", "ids.json"), std::pair("families/llama", "ids.json"),
                                   std::pair("families/t5", "pairs.json")}) {
    CAPTURE(model);
    const JobInput input = ids_input(repository_file("tests/golden") / model, {folder / ids});
    for (KindResult& found : run_input(input, options)) {
      CAPTURE(name_of(found.kind));
      CHECK(stated_identity(provenance_of(found)) == run_identity(input, options));
    }
  }
}

TEST_CASE("identity: it has options that change digits, and none that do not") {
  const TemporaryFolder folder;
  std::ofstream(folder / "ids.json") << "[[7, 8, 9, 10, 11]]";
  const JobInput input = ids_input(repository_file("tests/golden/models/bert"), {folder / "ids.json"});
  const Attributes identity = run_identity(input, {});
  JobOptions other;
  other.threads = 3;
  other.parallel_documents = 2;
  CHECK(run_identity(input, other) == identity);
  other.reach = 3;
  CHECK(run_identity(input, other) != identity);
  CHECK_FALSE(identity.contains("model"));
  CHECK(identity.contains("model_sha256"));
  CHECK(identity.contains("commit"));
}
