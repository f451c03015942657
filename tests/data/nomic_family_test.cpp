#include "../../data/models/families.h"
#include "../../data/models/model_directory.h"
#include "../catch.h"
#include "edited_model.h"
#include "test_files.h"

using namespace headwave;

TEST_CASE("settings of the published NomicBERT code that change the numbers and are not followed are refused by name") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& from, const std::string& to, const std::string& why) {
    CAPTURE(to);
    const auto model = folder / "model";
    copy_model(family("nomic-bert-published"), model);
    std::filesystem::rename(model / "config_legacy.json", model / "config.json");
    replace_in(model / "config.json", from, to);
    CHECK_THROWS_WITH(open_model(model), ContainsSubstring(why));
    std::filesystem::remove_all(model);
  };
  refused("\"prenorm\": false", "\"prenorm\": true", "'prenorm' is true");
  refused("\"causal\": false", "\"causal\": false, \"moe_every_n_layers\": 2", "'moe_every_n_layers' is 2");
  refused("\"swiglu\"", "\"gelu\"", "'activation_function' is 'gelu', expected geglu or swiglu");
  refused("\"rotary_emb_fraction\": 1.0", "\"rotary_emb_fraction\": 1.5",
          "'channels' of rotary positions must be even and at most 'd_head'");
  refused("\"rotary_emb_fraction\": 1.0", "\"rotary_emb_fraction\": 0.1", "rotary_emb_fraction");
  refused("\"rotary_emb_scale_base\": null", "\"rotary_emb_scale_base\": 512",
          "'rotary_emb_scale_base' makes keys fade");
  refused("\"qkv_proj_bias\": false", "\"qkv_proj_bias\": true", "attn.Wqkv.bias");
  refused("\"mlp_fc2_bias\": false", "\"mlp_fc2_bias\": true", "mlp.fc2.bias");
  refused("\"vocab_size\": 60", "\"vocab_size\": 55", "word_embeddings.weight");  // 56 rows, padded to fours
}

TEST_CASE("the published NomicBERT code says what turns, and on which texts the base is stretched") {
  const TemporaryFolder folder;
  const auto model = folder / "model";
  copy_model(family("nomic-bert-published"), model);
  std::filesystem::rename(model / "config_legacy.json", model / "config.json");
  replace_in(model / "config.json", "\"rotary_emb_fraction\": 1.0", "\"rotary_emb_fraction\": 0.5");
  replace_in(model / "config.json", "\"rotary_emb_interleaved\": false", "\"rotary_emb_interleaved\": true");
  replace_in(model / "config.json", "\"rotary_scaling_factor\": null", "\"rotary_scaling_factor\": 2");
  replace_in(model / "config.json", "\"n_positions\": 32", "\"n_positions\": 64");
  const ModelMap map = model_map(model);
  const RotaryOptions& rotary = map.stack.positions.rotary;
  CHECK(rotary.channels == 4);
  CHECK(rotary.base == 300);
  CHECK(rotary.pairing == RotaryPairing::neighbours);
  CHECK(rotary.scaling == RotaryScaling::dynamic);
  CHECK(rotary.factor == 2);
  CHECK(rotary.trained == 32);
  CHECK(map.longest == 64);
}
