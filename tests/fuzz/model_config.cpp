#include "../../data/models/model_config.h"

#include <nlohmann/json.hpp>

#include "../../data/files/json_file.h"
#include "../../data/models/families.h"
#include "fuzz.h"

using namespace headwave;

FUZZ_SEEDS(
    R"({"model_type":"bert","hidden_size":8,"num_hidden_layers":2,"num_attention_heads":2,"intermediate_size":16,"vocab_size":10,"max_position_embeddings":16,"type_vocab_size":2,"hidden_act":"gelu","layer_norm_eps":1e-12})",
    R"({"model_type":"llama","hidden_size":8,"num_hidden_layers":2,"num_attention_heads":2,"num_key_value_heads":1,"intermediate_size":16,"vocab_size":10,"max_position_embeddings":16,"hidden_act":"silu","rms_norm_eps":1e-6,"rope_theta":10000,"rope_scaling":{"rope_type":"yarn","factor":4,"original_max_position_embeddings":8}})")

// The config as each family reads it.
FUZZ(bytes) {
  refused_in_one_line([&] {
    const nlohmann::json json = json_of_text(bytes, "config.json");
    const auto read = [](const nlohmann::json& as) {
      refused_in_one_line([&] {
        const ModelConfig config(as, "config.json");
        (void)family_map(config, [](const std::string& name) { return name.size() % 2 == 0; });
        (void)config.unread();
      });
    };
    read(json);
    for (const std::string& family : known_families()) {
      nlohmann::json as = json;
      if (as.is_object()) as["model_type"] = family;
      read(as);
    }
  });
}
