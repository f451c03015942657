// Mixtures of experts and multi-head latent attention: what is said of their heads, how these are changed, and what is refused.

#include <array>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "../../core/model/intervention.h"
#include "../../core/model/model.h"
#include "../../core/model/model_pass.h"
#include "../../data/models/model_directory.h"
#include "../catch.h"
#include "edited_model.h"
#include "test_files.h"

using namespace headwave;

namespace {

/// Queries and keys of the first layer.
class FirstProjections : public Probe {
 public:
  using Probe::see;
  [[nodiscard]] bool wants_projections() const override { return true; }
  void see(const LayerProjections& seen) override {
    if (seen.layer > 0) return;
    query = seen.query;
    key = seen.key;
    turned_query = seen.turned_query;
  }
  void see(const Tile& /*tile*/) override {}
  Matrix32 query, key, turned_query;
};

FirstProjections& projections(const Model& model, FirstProjections& into) {
  Document document;
  document.ids = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8};
  const std::array<Probe*, 1> probes{&into};
  (void)model_pass(model, document, probes);
  return into;
}

}  // namespace

TEST_CASE("channels that do not turn come first in queries that are projected from compressed states") {
  for (const std::string name : {"deepseek-v2", "deepseek-v2-lite", "deepseek-v3"}) {
    CAPTURE(name);
    const Model model = open_model(family(name));
    FirstProjections before;
    projections(model, before);
    const Index d_head = model.stack.block.d_head;
    const Index first = model.stack.rotary(0)->options().first;
    CHECK(first > 0);
    CHECK(before.turned_query.middleCols(d_head, first) == before.query.middleCols(d_head, first));
    CHECK(before.turned_query.row(5) != before.query.row(5));
  }
}

TEST_CASE("the heads of latent attention share the turning channels of their keys") {
  const Model model = open_model(family("deepseek-v2"));
  FirstProjections seen;
  projections(model, seen);
  const Index d_head = model.stack.block.d_head, first = model.stack.rotary(0)->options().first;
  for (Index head = 1; head < model.stack.block.heads; ++head) {
    CHECK(seen.key.middleCols(head * d_head + first, d_head - first) == seen.key.middleCols(first, d_head - first));
    CHECK(seen.key.middleCols(head * d_head, first) != seen.key.middleCols(0, first));
  }
}

TEST_CASE("scores of compressed states are no product of states, and say so") {
  CHECK_THAT(not_bilinear(open_model(family("deepseek-v2")).stack), ContainsSubstring("compressed"));
  CHECK_THAT(not_bilinear(open_model(family("deepseek-v2-lite")).stack), ContainsSubstring("compressed"));
  CHECK_THAT(not_bilinear(open_model(family("llama4")).stack), ContainsSubstring("normalised"));
  CHECK(not_bilinear(open_model(family("mixtral")).stack).empty());
}

TEST_CASE("a Llama 4 of images is read as the words inside it") {
  const TemporaryFolder folder;
  const auto model = folder / "model";
  copy_model(family("llama4"), model);
  const std::string config = text_of_file(model / "config.json");
  std::ofstream(model / "config.json")
      << R"({"model_type": "llama4", "vision_config": {"hidden_size": 8}, "text_config": )" << config << "}";
  const Model inside = open_model(model), alone = open_model(family("llama4"));
  CHECK(inside.family == "llama4_text");
  FirstProjections here, there;
  CHECK(projections(inside, here).query == projections(alone, there).query);
  std::ofstream(model / "config.json") << R"({"model_type": "llama4", "vision_config": {"hidden_size": 8}})";
  CHECK_THROWS_WITH(open_model(model), ContainsSubstring("'llama4' is not known"));
}

TEST_CASE("what a map says of experts, sinks, compressed states and chunks matters to the goldens") {
  // A key of the golden's map, what it becomes, and a tensor that is then read by nobody.
  struct Left {
    std::string family, table, key, becomes, unread;
  };
  const std::vector<Left> all{
      {"mixtral", "experts", "normalised", "false", ""},
      {"mixtral", "", "window", "0", ""},
      {"mixtral", "experts", "chosen", "1", ""},
      {"qwen2-moe", "experts", "shared_weight", "\"\"", "*shared_expert_gate*"},
      {"qwen2-moe-no-bias", "experts", "normalised", "false", ""},
      {"qwen3-moe", "experts", "normalised", "false", ""},
      {"olmoe", "", "norm_eps", "1e-9", ""},
      {"gpt-oss", "tensors", "sinks", "\"\"", "*sinks"},
      {"gpt-oss", "", "gate_limit", "7.0", ""},
      {"gpt-oss", "", "gate_slope", "1.702", ""},
      {"gpt-oss", "experts", "alternating", "false", ""},
      {"gpt-oss", "experts", "score", "\"softmax\"", ""},
      {"deepseek-v2", "experts", "scale", "1.0", ""},
      {"deepseek-v2", "experts", "chosen_groups", "3", ""},
      {"deepseek-v2", "experts", "worth", "\"best_two\"", ""},
      {"deepseek-v2", "latent", "norm_eps", "1e-3", ""},
      {"deepseek-v2", "positions", "first_channel", "0", ""},
      {"deepseek-v2", "positions", "pairing", "\"halves\"", ""},
      {"deepseek-v2", "", "score_scale", "0.31622776601683794", ""},
      {"deepseek-v3", "experts", "correction", "\"\"", "*e_score_correction_bias"},
      {"deepseek-v3", "experts", "worth", "\"best\"", ""},
      {"deepseek-v3", "experts", "score", "\"softmax\"", ""},
      {"deepseek-v3", "experts", "normalised", "false", ""},
      {"deepseek-v3-halves", "positions", "pairing", "\"neighbours\"", ""},
      {"llama4", "", "chunk", "0", ""},
      {"llama4", "", "unit_head_norm", "false", ""},
      {"llama4", "others", "temperature", "0.0", ""},
      {"llama4", "others", "temperature_step", "1.0", ""},
      {"llama4", "experts", "weighs_input", "false", ""},
      {"llama4", "experts", "score", "\"softmax\"", ""},
      {"llama4", "positions", "pairing", "\"halves\"", ""},
  };
  const TemporaryFolder folder;
  const auto said = [&](const std::string& name, const std::string& more) {
    std::ofstream(folder / "map.toml") << "base = \"" << model_map(family(name)).family << "\"\n" << more;
    Document document;
    for (std::int32_t i = 0; i < 24; ++i) document.ids.push_back((7 * i * i + 3 * i + 5) % 60);
    return model_pass(open_model({family(name) / "model.safetensors", folder / "map.toml"}), document, {},
                      {.final_states = true});
  };
  for (const Left& left : all) {
    CAPTURE(left.family, left.key, left.becomes);
    const std::string ignored =
        left.unread.empty() ? "" : fmt::format("ignored = [\"{}\", \"lm_head.*\"]\n", left.unread);
    const Matrix32 whole = said(left.family, "");
    const Matrix32 other =
        said(left.family, fmt::format("{}[[when]]\nif = \"true\"\n[when.stack{}{}]\n{} = {}\n", ignored,
                                      left.table.empty() ? "" : ".", left.table, left.key, left.becomes));
    CHECK((other - whole).cwiseAbs().maxCoeff() > 1e-3F);
  }
}

TEST_CASE("settings of experts that are not computed are refused by name") {
  const auto refused = [](const std::string& name, const std::string& from, const std::string& to) {
    const TemporaryFolder folder;
    const auto model = folder / "model";
    copy_model(family(name), model);
    replace_in(model / "config.json", from, to);
    std::string said;
    try {
      (void)open_model(model);
    } catch (const Error& error) {
      said = error.what();
    }
    return said;
  };
  CHECK_THAT(refused("olmoe", "\"clip_qkv\": null", "\"clip_qkv\": 8.0"), ContainsSubstring("clip_qkv"));
  CHECK_THAT(refused("deepseek-v2", "\"norm_topk_prob\": false", "\"norm_topk_prob\": true"),
             ContainsSubstring("norm_topk_prob"));
  CHECK_THAT(refused("deepseek-v2", "\"group_limited_greedy\"", "\"noaux_tc\""), ContainsSubstring("topk_method"));
  CHECK_THAT(refused("mixtral", "\"num_experts_per_tok\": 2", "\"num_experts_per_tok\": 9"),
             ContainsSubstring("'chosen' must be at least 1"));
  CHECK_THAT(refused("gpt-oss-mxfp4", "\"mxfp4\"", "\"fp8\""), ContainsSubstring("quantised by 'fp8'"));
  CHECK_THAT(refused("mixtral", "\"num_local_experts\": 5", "\"num_local_experts\": 6"),
             ContainsSubstring("block_sparse_moe.gate.weight' has shape (5, 24), expected (6, 24)"));
  CHECK_THAT(refused("mixtral", "\"num_local_experts\": 5", "\"num_local_experts\": 4"),
             ContainsSubstring("block_sparse_moe.gate.weight' has shape (5, 24), expected (4, 24)"));
  CHECK_THAT(refused("mixtral", "\"num_local_experts\": 5", "\"num_local_experts\": 5000"),
             ContainsSubstring("5000 experts are expected"));
}
