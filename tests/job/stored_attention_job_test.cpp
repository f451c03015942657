#include <array>
#include <cmath>
#include <fstream>
#include <string_view>

#include <nlohmann/json.hpp>

#include "../../core/errors/error.h"
#include "../../core/model/model_pass.h"
#include "../../core/numbers/random.h"
#include "../../job/inputs/intervention_text.h"
#include "../../job/run/job.h"
#include "../catch.h"
#include "../data/kept_pass.h"
#include "../npy_file.h"
#include "quick_options.h"
#include "same_bits.h"

using namespace headwave;

namespace {

constexpr Index documents = 6, stored_length = 70;

/// Documents of random tokens, 70 each where the model has so many positions: two tiles.
JobInput family(const std::string& name, const TemporaryFolder& folder, Index tokens) {
  Random random(5);
  nlohmann::json ids;
  for (Index d = 0; d < documents; ++d) {
    ids.push_back(nlohmann::json::array());
    for (Index n = 0; n < tokens; ++n) ids.back().push_back(random.below(20));
  }
  std::ofstream(folder / "ids.json") << ids;
  return ids_input(repository_file("tests/golden/families") / name, folder / "ids.json");
}

/// Runs the model and stores its attention and ids: a folder with a file for each layer.
template <class Number>
void store_attention(const JobInput& input, const std::filesystem::path& folder, const std::string& descr) {
  const BlockSpec& block = input.model.stack.block;
  std::vector<std::vector<Number>> layers(static_cast<std::size_t>(input.model.stack.layers()));
  std::vector<std::int32_t> ids;
  for (Index d = 0; d < input.source->count(); ++d) {
    KeptPass kept;
    const std::array<Probe*, 1> probes{&kept};
    const Document document = input.source->document(d);
    model_pass(input.model, document, probes);
    ids.insert(ids.end(), document.ids.begin(), document.ids.end());
    const auto& weights = kept.weights.begin()->second;
    for (std::size_t h = 0; h < weights.size(); ++h)
      for (const float weight : weights[h].reshaped<Eigen::RowMajor>())
        layers[h / static_cast<std::size_t>(block.heads)].push_back(static_cast<Number>(weight));
  }
  const Index tokens = input.source->length(0);
  std::filesystem::create_directory(folder);
  for (std::size_t l = 0; l < layers.size(); ++l)
    write_npy(folder / fmt::format("attentions_layer_{}.npy", l), {input.source->count(), block.heads, tokens, tokens},
              layers[l], descr);
  write_npy(folder / "ids.npy", {input.source->count(), tokens}, ids, "<i4");
}

JobOptions quick_job() {
  JobOptions options = quick_options();
  options.reach = 6;
  return options;
}

/// What attention weights alone, and tokens, are enough for.
bool of_attention(std::string_view name) {
  for (const char* analysis : {"offset_trace/", "measured_offset/", "head_cluster/", "attention_map/", "head_types/"})
    if (name.starts_with(analysis)) return true;
  return false;
}

}  // namespace

TEST_CASE("finished attention gives to the bit what the model's own pass gives, in every analysis of weights") {
  for (const auto& [name, tokens] :
       {std::pair<const char*, Index>{"gpt2", 24}, {"distilbert", 24}, {"bloom", stored_length}}) {
    const TemporaryFolder folder;
    CAPTURE(name);
    const JobInput input = family(name, folder, tokens);
    store_attention<float>(input, folder / "a", "<f4");
    const Result direct = run_job(input.model, *input.source, quick_job());
    const JobInput stored = states_input(folder / "a");
    const Result result = run_job(stored.model, *stored.source, quick_job());
    int same = 0;
    for (const Field& field : direct.fields) {
      if (!of_attention(field.name)) continue;
      CAPTURE(field.name);
      REQUIRE(result.find(field.name) != nullptr);
      CHECK(same_bits(field, result.at(field.name)));
      ++same;
    }
    CHECK(same > 40);
    CHECK(std::get<std::string>(result.provenance.at("attention")) ==
          std::get<std::string>(direct.provenance.at("attention")));
  }
}

TEST_CASE("what needs queries and keys is left out of finished attention, and the provenance says why") {
  const TemporaryFolder folder;
  const JobInput input = family("llama", folder, 24);
  store_attention<float>(input, folder / "a", "<f4");
  const JobInput stored = states_input(folder / "a");
  const Result result = run_job(stored.model, *stored.source, quick_job());
  for (const char* name :
       {"head_account/verdict", "rotary_wave/kernel", "periodic_columns/query", "phase_delay/estimate",
        "offset_agreement/predicted", "position_atlas/kernel", "qk_svd/gain"}) {
    CAPTURE(name);
    CHECK(result.find(name) == nullptr);
  }
  const std::string reason = "needs queries and keys, but the file holds only attention weights";
  CHECK(std::get<std::string>(result.provenance.at("undefined_waves")) == reason);
  CHECK(std::get<std::string>(result.provenance.at("undefined_account")) == reason);
  for (const char* unknown : {"d_head", "kv_heads", "d_model", "score_scale", "hidden_states", "wave_length"})
    CHECK_FALSE(result.provenance.contains(unknown));
  CHECK(std::get<std::string>(result.provenance.at("stored_type")) == "float32");
  JobOptions only = quick_job();
  only.only = {"head_account"};
  CHECK(run_job(stored.model, *stored.source, only).find("measured_offset/offset") != nullptr);
}

TEST_CASE("finished attention beside its model has what weights alone predict") {
  const TemporaryFolder folder;
  const JobInput input = family("gpt2", folder, 24);
  store_attention<float>(input, folder / "a", "<f4");
  const Result direct = run_job(input.model, *input.source, quick_job());
  JobInput stored = states_input(folder / "a", repository_file("tests/golden/families/gpt2"));
  const Result result = run_job(stored.model, *stored.source, quick_job());
  for (const char* name :
       {"position_atlas/kernel", "position_atlas/predicted_offset", "head_types/previous", "measured_offset/offset"}) {
    CAPTURE(name);
    REQUIRE(direct.find(name) != nullptr);
    REQUIRE(result.find(name) != nullptr);
    CHECK(same_bits(direct.at(name), result.at(name)));
  }
  CHECK(result.find("head_account/verdict") == nullptr);
  CHECK_THROWS_WITH(intervene(stored, {"words-only"}), ContainsSubstring("do not apply to stored states or attention"));
}

TEST_CASE("finished attention in float16 gives the same within its rounding, and says so") {
  const TemporaryFolder folder;
  const JobInput input = family("bloom", folder, stored_length);
  store_attention<Eigen::half>(input, folder / "a", "<f2");
  const Result direct = run_job(input.model, *input.source, quick_job());
  const JobInput stored = states_input(folder / "a");
  const Result result = run_job(stored.model, *stored.source, quick_job());
  CHECK(std::get<std::string>(result.provenance.at("stored_type")) == "float16");
  for (const char* name : {"offset_trace/mean_weight", "measured_offset/weight", "head_types/previous"}) {
    CAPTURE(name);
    const auto &exact = direct.at(name).doubles(), &rounded = result.at(name).doubles();
    REQUIRE(exact.size() == rounded.size());
    for (std::size_t n = 0; n < exact.size(); ++n) {
      if (std::isnan(exact[n])) continue;
      CHECK(std::abs(exact[n] - rounded[n]) <= 0x1p-11 * exact[n] + 0x1p-25);  // means of rounded weights
    }
  }
}
