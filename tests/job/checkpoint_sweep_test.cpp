#include "../../job/studies/checkpoint_sweep.h"

#include <cmath>
#include <fstream>

#include <nlohmann/json.hpp>

#include "../../core/errors/error.h"
#include "../../core/fields/fields.h"
#include "../../core/fields/head_name.h"
#include "../../core/model/intervention.h"
#include "../../core/planted/planted.h"
#include "../../job/run/job.h"
#include "../catch.h"

using namespace headwave;

namespace {

const std::vector<std::string> verdict_names{"positional", "content", "none"};

/// Two layers of a head each; of both their offsets, NaN for none, and what their accounts say.
Result found_of(double first, double second, std::vector<std::uint8_t> verdicts, const std::string& model = "a") {
  const std::vector<Axis> heads{layer_axis(2), head_axis(1)};
  std::vector<double> offsets;
  std::vector<std::uint8_t> status;
  for (std::size_t kind = 0; kind < pairs_kinds; ++kind)
    for (const double offset : {first, second}) {
      offsets.push_back(offset);
      status.push_back(std::isnan(offset) ? 3 : 0);
    }
  Fields measured("measured_offset"), account("head_account"), traces("offset_trace");
  measured.add("offset", {pairs_axis(), heads[0], heads[1]}, "token", "offset", offsets);
  measured.flags("status", {pairs_axis(), heads[0], heads[1]}, "status", status, {"offset", "self", "edge", "flat"});
  account.flags("verdict", heads, "verdict", verdicts, verdict_names);
  account.add("share", heads, "1", "share", std::vector<double>{0.5, 0.25});
  traces.add("mean_weight", {heads[0], heads[1], offset_axis("offset", -1, 1)}, "1", "", std::vector<double>(6, 0.1));
  Result result{"", measured.taken(), {{"model_family", "bert"}, {"model_sha256", model}, {"seed", std::int64_t{1}}}};
  append(result.fields, account.taken());
  append(result.fields, traces.taken());
  return result;
}

const double none = std::nan("");

}  // namespace

TEST_CASE("the step is the number that a checkpoint's name ends in") {
  CHECK(step_of("step-3000") == 3000);
  CHECK(step_of("checkpoint_07") == 7);
  CHECK(step_of("12") == 12);
  for (const char* name : {"final", "", "step3-hf", "2026112312150000"}) CHECK(std::isnan(step_of(name)));
}

TEST_CASE("checkpoints come in the order of their steps, or as they are given where one has none") {
  const auto names = [](const std::vector<std::filesystem::path>& models) {
    std::string text;
    for (const TrainingCheckpoint& checkpoint : training_checkpoints(models)) text += checkpoint.name + " ";
    return text;
  };
  CHECK(names({"run/step-100", "run/step-20/", "other/step-3/."}) == "step-3 step-20 step-100 ");
  CHECK(names({"run/step-100", "run/final", "run/step-3"}) == "step-100 final step-3 ");
  CHECK(training_checkpoints({"run/step-20/"}).front().model == "run/step-20/");
  for (const std::vector<std::filesystem::path>& models :
       std::vector<std::vector<std::filesystem::path>>{{"a/step-1", "b/step-1"}, {"."}, {"/"}, {"a/.."}})
    CHECK_THROWS_AS(training_checkpoints(models), ShapeError);
}

TEST_CASE("numbers of heads stand checkpoint by checkpoint, and since when heads are what they are at the end") {
  CheckpointSweep sweep({"step-1", "step-2", "step-3", "step-9"});
  sweep.add(found_of(-1, none, {0, 1}, "a"));
  sweep.add(found_of(none, none, {1, 1}, "b"));
  sweep.add(found_of(-1, 2, {0, 2}, "c"));
  sweep.add(found_of(-1, 3, {0, 1}, "d"));
  const Result result = sweep.taken();
  const Field& offset = result.at("checkpoints_measured_offset/offset");
  REQUIRE(offset.axes.size() == 4);
  CHECK(offset.axes[0].name == "checkpoint");
  CHECK(std::get<std::vector<std::string>>(offset.axes[0].values)[3] == "step-9");
  CHECK(offset.axes[1].name == "pairs");
  CHECK(offset.doubles()[0] == -1);
  CHECK(std::isnan(offset.doubles()[6]));
  CHECK(offset.doubles()[2 * 6 + 1] == 2);
  CHECK(result.at("checkpoints/step").doubles() == std::vector<double>{1, 2, 3, 9});
  const auto counts = [&](const char* name) { return std::get<std::vector<std::int64_t>>(result.at(name).values); };
  CHECK(counts("checkpoints/with_offset") == std::vector<std::int64_t>{1, 0, 2, 2});
  CHECK(counts("checkpoints/verdicts") == std::vector<std::int64_t>{1, 1, 0, 0, 2, 0, 1, 0, 1, 1, 1, 0});
  CHECK(result.at("checkpoints/offset_since").doubles() == std::vector<double>{2, 3});
  const auto& since = result.at("checkpoints/positional_since").doubles();
  CHECK(since[0] == 2);
  CHECK(std::isnan(since[1]));
  CHECK(result.find("checkpoints_offset_trace/mean_weight") == nullptr);  // curves stay where they are
  CHECK(result.provenance.at("checkpoints") == Attribute(std::int64_t{4}));
  CHECK(result.provenance.contains("seed"));
  CHECK_FALSE(result.provenance.contains("model_sha256"));
  CHECK(result.title == "headwave: 4 checkpoints of a bert with 2 layers of 1 heads");
}

TEST_CASE("what one checkpoint lacks is undefined, or left out by name") {
  CheckpointSweep sweep({"a", "b"});
  sweep.add(found_of(-1, 1, {0, 1}));
  Result without = found_of(-1, 1, {0, 1});
  std::erase_if(without.fields, [](const Field& field) { return field.group() == "head_account"; });
  sweep.add(without);
  const Result result = sweep.taken();
  const Field& share = result.at("checkpoints_head_account/share");
  CHECK(share.doubles()[0] == 0.5);
  CHECK(std::isnan(share.doubles()[2]));
  CHECK(attribute_text(share.attributes, "undefined") == "not found of b, for one");
  CHECK(result.find("checkpoints_head_account/verdict") == nullptr);
  CHECK(attribute_text(result.provenance, "left_out") == "head_account/verdict");
  CHECK(attribute_text(result.at("checkpoints/step").attributes, "undefined") == "the name ends in no number");
}

TEST_CASE("checkpoints of another model, one too many and one too few are refused") {
  CheckpointSweep sweep({"a", "b"});
  CHECK_THROWS_AS(sweep.taken(), ShapeError);
  sweep.add(found_of(-1, 1, {0, 1}));
  CHECK_THROWS_WITH(sweep.taken(), ContainsSubstring("1 results, expected 2"));
  Fields measured("measured_offset");
  measured.add("offset", {pairs_axis(), layer_axis(3), head_axis(1)}, "token", "", std::vector<double>(9, 0.0));
  const Result other{"", measured.taken(), {}};
  CHECK_THROWS_AS(sweep.add(other), ShapeError);
  CHECK_THROWS_WITH(sweep.add(other), ContainsSubstring("b: 3 layers of 1 heads, but a has 2 layers of 1 heads"));
  Result relative = found_of(-1, 1, {0, 1});
  relative.provenance["model_family"] = std::string("gpt2");
  CHECK_THROWS_WITH(sweep.add(relative), ContainsSubstring("b: a gpt2, but a is a bert"));
  sweep.add(found_of(-1, 1, {0, 1}));
  CHECK_THROWS_AS(sweep.add(found_of(-1, 1, {0, 1})), ShapeError);
}

TEST_CASE("checkpoints of another model are told by what describes them, before any is run") {
  const auto family = [](const char* name) { return ModelPlace(repository_file("tests/golden/families") / name); };
  CHECK_NOTHROW(require_one_model({}));
  CHECK_NOTHROW(require_one_model({{"a", family("bart")}, {"b", family("bart")}}));
  CHECK_THROWS_WITH(require_one_model({{"a", family("gpt2")}, {"b", family("gpt2")}, {"c", family("llama")}}),
                    ContainsSubstring("c: a llama, but a is a gpt2; expected checkpoints of one model"));
  CHECK_THROWS_WITH(require_one_model({{"a", family("gpt-neox")}, {"b", family("gpt-neox-sequential")}}),
                    ContainsSubstring("b: 2 layers of 3 heads, but a has 2 layers of 4 heads"));
  // Encoders alike, decoders not.
  const TemporaryFolder folder;
  std::filesystem::copy(family("bart").weights, folder / "b");
  auto config = nlohmann::json::parse(std::ifstream(folder / "b" / "config.json"));
  config["decoder_layers"] = 3;
  std::ofstream(folder / "b" / "config.json") << config;
  CHECK_THROWS_WITH(require_one_model({{"a", family("bart")}, {"b", folder / "b"}}),
                    ContainsSubstring("b: 3 layers of 4 heads, but a has 1 layers of 4 heads"));
  CHECK_THROWS_AS(require_one_model({{"a", family("gpt2")}, {"b", family("none")}}), IoError);
}

TEST_CASE("planted heads are positional from that checkpoint on at which the model gets its positions") {
  const PlantedModel planted = planted_model(planted_bank());
  const auto source = planted_documents(planted, 8, 128, 3);
  JobOptions options;
  options.only = {"head_account"};
  const Model before = words_only(planted.model);
  CheckpointSweep sweep({"step-0", "step-1", "step-2", "step-3"});
  sweep.add(run_job(before, *source, options));
  for (int step = 1; step <= 3; ++step) sweep.add(run_job(step == 2 ? before : planted.model, *source, options));
  const Result result = sweep.taken();
  const auto& verdicts = std::get<std::vector<std::int64_t>>(result.at("checkpoints/verdicts").values);
  const std::size_t kinds = verdicts.size() / 4;
  CHECK(verdicts[0] == 0);
  CHECK(verdicts[2 * kinds] == 0);
  CHECK(verdicts[kinds] == verdicts[3 * kinds]);
  const auto& since = result.at("checkpoints/positional_since").doubles();
  std::size_t row = 0, positional = 0;
  for (const auto& layer : planted.spec.heads)
    for (const PlantedHead& head : layer) {
      CAPTURE(row, name_of(head.kind));
      if (head.kind == PlantedKind::content) CHECK(std::isnan(since[row]));
      if (!std::isnan(since[row])) CHECK(since[row] == 3);
      positional += std::isnan(since[row]) ? 0 : 1;
      ++row;
    }
  CHECK(static_cast<std::int64_t>(positional) == verdicts[3 * kinds]);
  CHECK(positional >= 10);
}
