#include "../../job/studies/state_capture.h"

#include <cstring>
#include <fstream>
#include <set>

#include <nlohmann/json.hpp>

#include "../../core/numbers/random.h"
#include "../../core/planted/planted.h"
#include "../../data/files/digest.h"
#include "../../job/run/job.h"
#include "../catch.h"
#include "failing_source.h"
#include "same_bits.h"

using namespace headwave;

namespace {

JobInput family(const char* name, const TemporaryFolder& folder) {
  Random random(5);
  nlohmann::json ids;
  for (int d = 0; d < 6; ++d) {
    ids.push_back(nlohmann::json::array());
    for (int n = 0; n < 14; ++n) ids.back().push_back(random.below(20));
  }
  std::ofstream(folder / "ids.json") << ids;
  return ids_input(repository_file("tests/golden/families") / name, folder / "ids.json");
}

JobOptions quick_capture() {
  JobOptions options;
  options.everything = true;
  options.reach = 6;
  options.draws = 3;
  return options;
}

}  // namespace

TEST_CASE("captured states give to the bit what the documents themselves give, in every analysis") {
  for (const char* name : {"gpt2", "llama", "mistral", "distilbert", "bloom"}) {
    const TemporaryFolder folder;
    CAPTURE(name);
    const JobInput input = family(name, folder);
    capture_states(input.model, *input.source, folder / "s.h5", {});
    const Result direct = run_job(input.model, *input.source, quick_capture());
    StoredInput stored = stored_states(folder / "s.h5", input.model);
    const Result captured = run_job(stored.model, *stored.source, quick_capture());
    std::set<std::string> names;
    for (const Field& field : captured.fields) names.insert(field.name);
    std::size_t unmoved = 0;  // neither the table that states were read with nor what wrote them is there any more
    for (const Field& field : direct.fields) {
      CAPTURE(field.name);
      const bool evidence = field.group() == "account_evidence" &&
                            (captured.provenance.contains("undefined_evidence") || !names.contains(field.name));
      if (field.group() == "score_sources" || evidence) {
        ++unmoved;
        continue;
      }
      REQUIRE(names.contains(field.name));
      CHECK(same_bits(field, captured.at(field.name)));
    }
    CHECK(captured.fields.size() == direct.fields.size() - unmoved);
  }
}

TEST_CASE("captured queries and keys are attended without their model, rotary ones as they were turned") {
  for (const char* name : {"gpt2", "llama", "mistral"}) {
    const TemporaryFolder folder;
    CAPTURE(name);
    const JobInput input = family(name, folder);
    CaptureOptions options;
    options.projections = true;
    options.layers = {1};
    JobOptions job = quick_capture();
    job.only = {"measured_offset", "head_account"};
    const Result direct = run_job(input.model, *input.source, job);
    capture_states(input.model, *input.source, folder / "s.h5", {}, options);
    const StoredInput stored = stored_states(folder / "s.h5");
    CHECK(stored.model.stack.block.kv_heads == input.model.stack.block.kv_heads);
    CHECK(stored.model.stack.block.window == input.model.stack.block.window);
    const Result captured = run_job(stored.model, *stored.source, job);
    // Layer 1 of (pairs, layer, head, offset), of (layer, head) and of (layer, head, offset).
    for (const char* field : {"offset_trace/mean_weight", "head_account/strength", "head_account/measured_profile"}) {
      CAPTURE(field);
      const Field& all = direct.at(field);
      std::size_t layer = 1;
      for (std::size_t axis = all.axes.size(); all.axes[axis - 1].name != "layer"; --axis)
        layer *= static_cast<std::size_t>(all.axes[axis - 1].size());
      CHECK(std::memcmp(all.doubles().data() + layer, captured.at(field).doubles().data(), layer * sizeof(double)) ==
            0);
    }
    if (input.model.stack.rotary() != nullptr)
      CHECK_THROWS_WITH(stored_states(folder / "s.h5", input.model), ContainsSubstring("turned already"));
  }
}

TEST_CASE("threads change no byte of a capture") {
  const TemporaryFolder folder;
  const JobInput input = family("gpt2", folder);
  CaptureOptions options;
  options.threads = 1;
  capture_states(input.model, *input.source, folder / "one.h5", {}, options);
  options.threads = 4;
  capture_states(input.model, *input.source, folder / "four.h5", {}, options);
  CHECK(sha256_of_file(folder / "one.h5") == sha256_of_file(folder / "four.h5"));
}

TEST_CASE("a capture that is gone on with gives the file of one that was not interrupted") {
  for (const bool half : {false, true}) {
    const TemporaryFolder folder;
    const JobInput input = family("gpt2", folder);
    CaptureOptions options;
    options.half = half;
    options.packing = half ? 4 : 0;
    capture_states(input.model, *input.source, folder / "whole.h5", {}, options);
    const auto file = folder / "s.h5", kept_file = folder / "kept";
    const Attributes identity = capture_provenance(input.model, options);
    {
      ResumeFile kept(kept_file, identity, 0);
      CHECK_THROWS_AS(capture_states(input.model, FailingSource(*input.source, 3), file, {}, options, {}, &kept),
                      IoError);
    }
    CHECK_FALSE(std::filesystem::exists(file));
    CHECK(std::filesystem::exists(folder / "s.h5.unfinished.part2"));
    ResumeFile kept(kept_file, identity, 0);
    CHECK(kept.documents() == 3);
    Index first_seen = -1;
    const auto see = [&](const JobProgress& progress) { first_seen = first_seen < 0 ? progress.done : first_seen; };
    capture_states(input.model, *input.source, file, {}, options, see, &kept);
    CHECK(first_seen == 3);
    CHECK(sha256_of_file(file) == sha256_of_file(folder / "whole.h5"));
    for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
      CHECK(std::set<std::string>{"s.h5", "whole.h5", "ids.json"}.contains(entry.path().filename().string()));
  }
}

TEST_CASE("parts of a capture that are missing, or not what was left, are refused by name") {
  const TemporaryFolder folder;
  const JobInput input = family("gpt2", folder);
  const auto file = folder / "s.h5", kept_file = folder / "kept";
  const Attributes identity = capture_provenance(input.model, {});
  const auto go_on = [&](Index until) {
    ResumeFile kept(kept_file, identity, 0);
    capture_states(input.model, FailingSource(*input.source, until), file, {}, {}, {}, &kept);
  };
  CHECK_THROWS_AS(go_on(2), IoError);
  std::filesystem::copy_file(folder / "s.h5.unfinished.part0", folder / "one.h5");
  std::filesystem::remove(folder / "s.h5.unfinished.part0");
  CHECK_THROWS_WITH(go_on(2), ContainsSubstring("s.h5.unfinished.part0"));
  capture_states(input.model, *input.source, folder / "s.h5.unfinished.part0", {});
  CHECK_THROWS_WITH(go_on(2), ContainsSubstring("s.h5.unfinished.part0: holds 6 documents, expected 1"));
  std::filesystem::copy_file(folder / "one.h5", folder / "s.h5.unfinished.part0",
                             std::filesystem::copy_options::overwrite_existing);
  CHECK_THROWS_WITH(go_on(2), ContainsSubstring("document 2 cannot be read"));
}

TEST_CASE("a capture is refused of encoder-decoders, of unequal lengths, and of layers that are not there") {
  const TemporaryFolder folder;
  const JobInput input = family("gpt2", folder);
  CaptureOptions options;
  options.layers = {0, 99};
  CHECK_THROWS_WITH(capture_states(input.model, *input.source, folder / "s.h5", {}, options),
                    ContainsSubstring("there is no layer 99"));
  CHECK_THROWS_AS(capture_bytes(input.model, *input.source, options), ShapeError);
  CHECK(capture_bytes(input.model, *input.source, {}) ==
        6 * 14 * input.model.stack.layers() * input.model.stack.d_model() * 4);
  std::ofstream(folder / "uneven.json") << "[[1, 2, 3], [1, 2]]";
  const JobInput uneven = ids_input(repository_file("tests/golden/families/gpt2"), folder / "uneven.json");
  CHECK_THROWS_WITH(capture_states(uneven.model, *uneven.source, folder / "s.h5", {}),
                    ContainsSubstring("give length=N to cut them"));
  capture_states(input.model, *input.source, folder / "s.h5", {});
  const StoredInput again = stored_states(folder / "s.h5", input.model);
  CHECK_THROWS_WITH(capture_states(again.model, *again.source, folder / "t.h5", {}),
                    ContainsSubstring("states already"));
  CHECK_FALSE(std::filesystem::exists(folder / "t.h5"));
  options = {};
  options.projections = true;
  const JobInput bloom = family("bloom", folder);
  CHECK_THROWS_WITH(capture_states(bloom.model, *bloom.source, folder / "t.h5", {}, options),
                    ContainsSubstring("adds positions (linear bias)"));
}
