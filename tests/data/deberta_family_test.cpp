#include <cmath>

#include "../../data/models/families.h"
#include "../../data/models/model_directory.h"
#include "../catch.h"
#include "edited_model.h"
#include "test_files.h"

using namespace headwave;

TEST_CASE("settings of DeBERTa that change the numbers and are not followed are refused by name") {
  const TemporaryFolder folder;
  const auto replaced = [&](const std::string& name, const std::string& from, const std::string& to,
                            const std::string& why) {
    CAPTURE(name, to);
    const auto model = folder / "model";
    copy_model(family(name), model);
    replace_in(model / "config.json", from, to);
    CHECK_THROWS_WITH(open_model(model), ContainsSubstring(why));
    std::filesystem::remove_all(model);
  };
  const auto added = [&](const std::string& name, const std::string& more, const std::string& why) {
    replaced(name, "{", "{" + more + ",", why);
  };
  added("deberta-v2", R"("conv_kernel_size": 3)", "'conv_kernel_size' is 3");
  added("deberta-v2", R"("embedding_size": 12)",
        "'embedding_size' is 12, which changes what the model computes in an unknown way; expected 24");
  added("deberta", R"("talking_head": true)", "'talking_head' is true");
  replaced("deberta", "\"c2p\"", "\"p2p\"", "'pos_att_type' is 'p2p', expected c2p or p2c");
  replaced("deberta-v3", "\"norm_rel_ebd\": \"layer_norm\"", "\"norm_rel_ebd\": \"rms\"", "'norm_rel_ebd' is 'rms'");
  replaced("deberta-v3", "\"position_buckets\": 5", "\"position_buckets\": 1", "'buckets' of disentangled positions");
  replaced("deberta-v3", "\"position_buckets\": 5", "\"position_buckets\": 50", "'buckets' of disentangled positions");
}

TEST_CASE("DeBERTa: what is not relative, and which head there is, follows from the config") {
  const TemporaryFolder folder;
  const auto model = folder / "model";
  const auto map_of = [&](const std::string& name, const std::string& from, const std::string& to) {
    std::filesystem::remove_all(model);
    copy_model(family(name), model);
    replace_in(model / "config.json", from, to);
    return model_map(model);
  };
  const ModelMap v2 = model_map(family("deberta-v2"));
  CHECK(v2.stack.positions.kind == PositionKind::disentangled);
  CHECK(v2.stack.positions.has_table());
  CHECK(v2.stack.block.score_scale == Approx(1 / std::sqrt(8.0 * 3)));
  CHECK(position_table(family("deberta-v2")).rows() == 24);
  CHECK_THROWS_WITH(position_table(family("deberta-v3")), ContainsSubstring("a deberta-v2 has no position table"));
  // Terms that are not computed still count in the scale.
  const ModelMap absolute = map_of("deberta-v2", "\"relative_attention\": true", "\"relative_attention\": false");
  CHECK(absolute.stack.positions.kind == PositionKind::table);
  CHECK(absolute.stack.block.score_scale == v2.stack.block.score_scale);
  CHECK(absolute.stack.position_key.empty());
  const ModelMap none = map_of("deberta-v2-c2p", "\"c2p\"", "");
  CHECK(none.stack.positions.kind == PositionKind::none);
  CHECK(map_of("deberta", "\"max_position_embeddings\": 24", "\"max_position_embeddings\": 30")
            .stack.positions.disentangled.rows.farthest == 30);
  CHECK(model_map(family("deberta-v3")).stack.position_key.weight ==
        model_map(family("deberta-v3")).stack.self.key.weight);
}
