// What heads do when their keys are moved: planted heads, whose answer is known; families, by name where they
// have none.

#include "../../job/run/account_evidence.h"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "../../core/planted/planted.h"
#include "../../job/inputs/intervention_text.h"
#include "../../job/inputs/job_input.h"
#include "../../job/run/job.h"
#include "../analysis/golden_json.h"
#include "../catch.h"
#include "quick_options.h"

using namespace headwave;

namespace {

constexpr const char* moved_name = "account_evidence/moved";

JobOptions account_options() {
  JobOptions options = quick_options();
  options.only = {"head_account"};
  options.draws = 20;
  return options;
}

std::string why_not(const Result& result) {
  CHECK(result.find(moved_name) == nullptr);
  return attribute_text(result.provenance, "undefined_evidence");
}

Result family(const std::string& name) {
  const JobInput input = random_input(repository_file("tests/golden/families/" + name),
                                      {.documents = 4, .period = 10, .repeats = 2}, false);
  return run_job(input.model, *input.source, account_options());
}

/// Sharp wave heads read positions alone, content heads words alone.
void check_planted(const PlantedModel& planted, const Result& result) {
  const auto& moved = result.at(moved_name).doubles();
  const auto& lower = result.at("account_evidence/moved_lower").doubles();
  const auto& upper = result.at("account_evidence/moved_upper").doubles();
  std::size_t row = 0;
  for (const auto& layer : planted.spec.heads)
    for (const PlantedHead& head : layer) {
      CAPTURE(row, name_of(head.kind));
      if (head.positional()) CHECK(moved[row] > 0.95);
      if (head.kind == PlantedKind::content) CHECK(std::abs(moved[row]) < 0.01);
      if (head.positional() || head.kind == PlantedKind::content) {
        CHECK(lower[row] <= moved[row]);
        CHECK(moved[row] <= upper[row]);
        CHECK(upper[row] - lower[row] < 0.1);
      }
      ++row;
    }
}

}  // namespace

TEST_CASE("profiles of planted waves move with their keys, those of heads that look for words do not") {
  const PlantedModel planted = planted_model(planted_bank());
  const auto documents = planted_documents(planted, 12, 128, 1);
  const Result result = run_job(planted.model, *documents, account_options());
  check_planted(planted, result);
  CHECK_THAT(attribute_text(result.at(moved_name).attributes, "keys"), ContainsSubstring("position table"));
  CHECK(std::get<std::int64_t>(result.at(moved_name).attributes.at("documents")) == 8);
}

TEST_CASE("under a causal mask moved keys are seen where they are past, and waves follow as they do without one") {
  PlantedModel planted = planted_model(planted_bank());
  planted.model.stack.block.causal = true;
  const auto documents = planted_documents(planted, 12, 128, 1);
  const Result result = run_job(planted.model, *documents, account_options());
  const auto& moved = result.at(moved_name).doubles();
  std::size_t row = 0;
  for (const auto& layer : planted.spec.heads)
    for (const PlantedHead& head : layer) {
      CAPTURE(row, name_of(head.kind), head.offset);
      if (head.positional() && head.offset < 0) CHECK(moved[row] > 0.9);
      if (head.kind == PlantedKind::content) CHECK(std::abs(moved[row]) < 0.1);
      ++row;
    }
}

TEST_CASE("a planted wave comes from the table: without it the keys say nothing, without as much of others they do") {
  const PlantedModel planted = planted_model(planted_bank());
  const auto documents = planted_documents(planted, 12, 128, 1);
  JobOptions options = account_options();
  options.only = {"head_account", "score_sources"};
  const Result result = run_job(planted.model, *documents, options);
  const auto& source = std::get<std::vector<std::string>>(result.at("account_evidence/removed_source").values);
  const auto& weight = result.at("account_evidence/weight").doubles();
  const auto& without = result.at("account_evidence/weight_without").doubles();
  const auto& placebo = result.at("account_evidence/weight_placebo").doubles();
  for (std::size_t layer = 0; layer < 4; ++layer) {
    CAPTURE(layer);
    const std::size_t first = 8 * layer;
    const auto touched = std::find_if(source.begin() + static_cast<std::ptrdiff_t>(first), source.end(),
                                      [](const std::string& name) { return !name.empty(); });
    const auto row = static_cast<std::size_t>(touched - source.begin());
    REQUIRE(row < first + 8);
    CHECK(source[row] == "positions");
    CHECK(weight[row] > 0.2);
    CHECK(without[row] == Approx(1.0 / 128).margin(1e-3));  // every key looks alike: uniform attention
    CHECK(placebo[row] > 10 * without[row]);
    for (std::size_t other = first; other < first + 8; ++other) CHECK((other == row || source[other].empty()));
  }
}

TEST_CASE("documents side by side, threads and a second run change no digit of the evidence") {
  const PlantedModel planted = planted_model(planted_bank());
  const auto documents = planted_documents(planted, 9, 96, 1);
  JobOptions options = account_options();
  options.threads = 1;
  const Result one = run_job(planted.model, *documents, options);
  options.threads = 3;
  const Result three = run_job(planted.model, *documents, options);
  CHECK(one.at(moved_name).doubles() == three.at(moved_name).doubles());
}

TEST_CASE("keys of rotary models are turned, those of layers without a rotation are not moved") {
  for (const char* name : {"llama", "qwen3", "smollm3", "llama-rope-dynamic", "gemma3", "qwen2-window"}) {
    CAPTURE(name);
    const Result result = family(name);
    CHECK_THAT(attribute_text(result.at(moved_name).attributes, "keys"), ContainsSubstring("turned"));
    const auto& moved = result.at(moved_name).doubles();
    CHECK(std::ranges::any_of(moved, [](double one) { return std::isfinite(one); }));
    if (std::string(name) == "smollm3") CHECK(std::ranges::any_of(moved, [](double one) { return std::isnan(one); }));
  }
}

TEST_CASE("both stacks of an encoder-decoder with position tables are asked") {
  const JobInput input =
      [] {
        const TemporaryFolder folder;
        std::ofstream(folder / "pairs.json")
            << R"([{"source": [5, 6, 7, 8, 9, 10, 11, 12, 13], "target": [2, 14, 15, 16, 17, 18, 19, 20]},
               {"source": [6, 7, 8, 9, 10, 11, 12, 13, 5], "target": [2, 15, 16, 17, 18, 19, 20, 14]}])";
        return ids_input(repository_file("tests/golden/families/bart"), folder / "pairs.json");
      }();
  const std::vector<KindResult> results = run_job_by_kind(input.model, *input.source, account_options());
  REQUIRE(results.size() == 3);
  CHECK(results[0].result.find(moved_name) != nullptr);
  CHECK(results[1].result.find(moved_name) != nullptr);
  CHECK(results[2].result.find(moved_name) == nullptr);
}

TEST_CASE("models without positions that move keys say so by name") {
  CHECK(why_not(family("bloom")) == "a bloom adds positions (linear bias) to its scores, not to keys");
  // Beside a table, too: what a table moves is not all that the head reads.
  CHECK_THAT(why_not(family("deberta-v2")), ContainsSubstring("(disentangled"));
  const JobInput stored = states_input(repository_file("tests/golden/stored/causal.h5"));
  CHECK_THAT(why_not(run_job(stored.model, *stored.source, account_options())), ContainsSubstring("are stored"));
  JobInput words =
      random_input(repository_file("tests/golden/families/gpt2"), {.documents = 4, .period = 10, .repeats = 2}, false);
  intervene(words, {"words-only"});
  CHECK_THAT(why_not(run_job(words.model, *words.source, account_options())),
             ContainsSubstring("does not tell positions apart"));
}

namespace {

/// As tests/golden/make_moved.py finds it, in PyTorch.
void check_as_golden(const std::string& model, const std::string& name) {
  const nlohmann::json golden = golden_json("moved.json")[name];
  const TemporaryFolder folder;
  std::ofstream(folder / "ids.json") << golden["documents"];
  const JobInput input = ids_input({model}, {folder / "ids.json"});
  const Result result = run_job(input.model, *input.source, account_options());
  const auto& moved = result.at(moved_name).doubles();
  const std::size_t heads = golden["moved"][0].size();
  REQUIRE(moved.size() == golden["moved"].size() * heads);
  for (std::size_t row = 0; row < moved.size(); ++row) {
    CAPTURE(row);
    CHECK(moved[row] == Approx(golden["moved"][row / heads][row % heads].get<double>()).margin(1e-5));
  }
}

}  // namespace

TEST_CASE("the share of a profile that moves is that of another program, of a position table") {
  check_as_golden(repository_file("tests/golden/families/bert-mlm"), "bert");
}

TEST_CASE("the share of a profile that moves is that of another program, of rotary positions") {
  NEEDS_SHARED("stories260K/model.safetensors");
  check_as_golden(shared_file("stories260K"), "stories260K");
}

TEST_CASE(
    "profiles of the small Llama's previous-token head move with its keys, that of its first content head stays") {
  NEEDS_SHARED("stories260K/model.safetensors");
  PackingOptions packing;
  packing.documents = 12;
  packing.length = 192;
  const JobInput input = text_input(shared_file("stories260K"), shared_file("text/tinyshakespeare/input.txt"), packing);
  const Result result = run_job(input.model, *input.source, account_options());
  const auto& moved = result.at(moved_name).doubles();
  CHECK(moved[3 * 8 + 6] > 0.8);
  CHECK(moved[2 * 8 + 4] < 0.2);
}
