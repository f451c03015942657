// What wrote what heads read: every family's states as a sum, and a Llama's shares against PyTorch
// (tests/golden/make_sources.py).

#include "../../analysis/why/score_sources.h"

#include <cmath>
#include <filesystem>
#include <fstream>

#include "../../core/fields/head_name.h"
#include "../../core/model/model_pass.h"
#include "../../job/inputs/intervention_text.h"
#include "../../job/inputs/job_input.h"
#include "../../job/run/job.h"
#include "../analysis/golden_json.h"
#include "../catch.h"

using namespace headwave;

namespace {

JobOptions sources_alone() {
  JobOptions options;
  options.only = {"score_sources"};
  options.draws = 3;
  return options;
}

/// Six documents of so many ids of 3 to 18, which every tiny model knows; in pairs for encoder-decoders.
void write_documents(const std::filesystem::path& file, int length, bool pairs) {
  std::ofstream out(file);
  for (int d = 0; d < 6; ++d) {
    std::string ids;
    for (int i = 0; i < length; ++i) ids += (i == 0 ? "" : ", ") + std::to_string(3 + (5 * d + i * i + 3 * i * d) % 16);
    out << (d == 0 ? "[" : ", ");
    if (pairs)
      out << R"({"source": [)" << ids << R"(], "target": [)" << ids << "]}";
    else
      out << "[" << ids << "]";
  }
  out << "]";
}

}  // namespace

TEST_CASE("in every family the sum over sources is what queries and keys are made of") {
  const TemporaryFolder folder;
  int families = 0, decoders = 0;
  for (const auto& entry : std::filesystem::directory_iterator(repository_file("tests/golden/families"))) {
    if (!entry.is_directory()) continue;
    const std::string name = entry.path().filename().string();
    CAPTURE(name);
    const bool pairs = name.starts_with("t5") || name == "bart" || name == "marian";
    write_documents(folder / "ids.json", name == "llama4" ? 7 : 12, pairs);  // whose chunks are of 7
    const JobInput input = ids_input(entry.path(), folder / "ids.json");
    JobOptions options = sources_alone();
    options.heads = {head_name(0, 0)};
    for (const KindResult& found : run_job_by_kind(input.model, *input.source, options)) {
      if (found.kind == AttentionKind::cross) continue;
      const Field& closure = found.result.at("score_sources/closure");
      for (const double miss : closure.doubles()) CHECK(miss < 2e-5);
      const Field& shares = found.result.at("score_sources/position_query");
      const auto sources = static_cast<std::size_t>(shares.axes.back().size());
      for (std::size_t row = 0; row < shares.doubles().size(); row += sources) {
        double sum = 0;
        for (std::size_t s = 0; s < sources; ++s) sum += shares.doubles()[row + s];
        CHECK(sum == Approx(1).margin(1e-4));
      }
      ++families;
      decoders += found.kind == AttentionKind::causal ? 1 : 0;
    }
  }
  CHECK(families > 45);
  CHECK(decoders > 20);
}

TEST_CASE("sources of a Llama's scores are PyTorch's") {
  NEEDS_SHARED("stories260K/model.safetensors");
  const nlohmann::json golden = golden_json("sources.json");
  const TemporaryFolder folder;
  std::ofstream(folder / "ids.json") << golden["ids"];
  const JobInput input = ids_input(shared_file("stories260K"), folder / "ids.json");
  JobOptions options = sources_alone();
  options.reach = 32;
  options.heads = {"L3H1"};
  const Result result = run_job(input.model, *input.source, options);
  const auto check = [&](const std::string& field, std::size_t first, const nlohmann::json& expected) {
    const std::vector<double>& found = result.at("score_sources/" + field).doubles();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CAPTURE(field, first, i);
      const double here = found[first + i];
      if (std::isnan(here)) continue;  // too small for shares
      const double there = expected[i].get<double>();
      CHECK(here == Approx(there).margin(2e-4).epsilon(2e-4));
    }
  };
  for (std::size_t layer = 0; layer < 5; ++layer)
    for (std::size_t head = 0; head < 8; ++head) {
      const nlohmann::json& expected = golden["layers"][layer];
      const std::size_t row = layer * 8 + head;
      CAPTURE(layer, head);
      check("position_query", row * 11, expected["query"][head]);
      check("position_key", row * 11, expected["key"][head]);
      CHECK(result.at("score_sources/kernel_sd").doubles()[row] ==
            Approx(expected["sd"][head].get<double>()).epsilon(1e-4));
      // At offsets -1, 0, 1: the last is masked.
      const std::vector<double>& content = result.at("score_sources/content").doubles();
      CHECK(content[40 + row] == Approx(expected["content"][head][0].get<double>()).margin(1e-5).epsilon(1e-4));
      CHECK(content[row] == Approx(expected["content"][head][1].get<double>()).margin(1e-5).epsilon(1e-4));
      CHECK(std::isnan(content[80 + row]));
      check("content_query", (40 + row) * 11, expected["content_query"][head][0]);
      check("content_key", (40 + row) * 11, expected["content_key"][head][0]);
      check("content_query", row * 11, expected["content_query"][head][1]);
    }
  check("earlier_query", 0, golden["earlier"][0]);
  check("earlier_key", 0, golden["earlier"][1]);
}

TEST_CASE("where one document is there, nobody asks for sources") {
  const TemporaryFolder folder;
  write_documents(folder / "ids.json", 12, false);
  const JobInput input = ids_input(repository_file("tests/golden/families/gpt2"), folder / "ids.json");
  CHECK(run_job(input.model, *input.source, sources_alone()).find("score_sources/closure") != nullptr);
  std::ofstream(folder / "one.json") << "[[3, 4, 5, 6, 7, 8, 9]]";
  const JobInput one = ids_input(repository_file("tests/golden/families/gpt2"), folder / "one.json");
  CHECK(run_job(one.model, *one.source, sources_alone()).find("score_sources/closure") == nullptr);
}
