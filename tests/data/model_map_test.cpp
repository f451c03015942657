#include <fstream>
#include <sstream>

#include "../../core/model/model_pass.h"
#include "../../data/arrays/safetensors_file.h"
#include "../../data/files/replaced_file.h"
#include "../../data/models/config_arithmetic.h"
#include "../../data/models/model_directory.h"
#include "../../data/models/model_map_file.h"
#include "../catch.h"
#include "edited_model.h"
#include "test_files.h"

using namespace headwave;

namespace {

/// A map's text begins with a comment that says where it came from.
std::string without_reason(const std::string& text) {
  return text.substr(text.find('\n'));
}

}  // namespace

TEST_CASE("the map that is proposed for a family gives the same model bit for bit") {
  for (const std::string name :
       {"bert-mlm", "roberta-mlm", "distilbert", "gpt2", "bloom", "llama", "llama-rope-linear", "llama-rope-dynamic",
        "llama-rope-llama3", "llama-rope-yarn", "mistral", "qwen2", "t5", "t5-gated", "bart", "marian", "deberta-v2"}) {
    CAPTURE(name);
    const TemporaryFolder folder;
    const std::string text = model_map_text(model_map(family(name)));
    write_text(folder / "map.toml", text);
    CHECK(without_reason(model_map_text(model_map_file(folder / "map.toml"))) == without_reason(text));
    const Model by_config = open_model(family(name));
    const Model by_map = open_model({family(name), folder / "map.toml"});
    Document document;
    document.ids = {3, 1, 4, 1, 5, 9, 2, 6};
    if (by_config.decoder) document.target.ids = {2, 7, 1};
    const Matrix32 expected = model_pass(by_config, document, {}, {.final_states = true});
    CHECK(model_pass(by_map, document, {}, {.final_states = true}) == expected);
    CHECK(by_map.head.words.empty() == by_config.head.words.empty());
  }
}

TEST_CASE("a map that is wrong is described in one line") {
  const TemporaryFolder folder;
  const auto file = folder / "map.toml";
  std::string text = model_map_text(model_map(family("gpt2")));
  const auto with = [&](const std::string& what, const std::string& by) {
    write_text(file, text);
    replace_in(file, what, by);
    return ModelPlace{family("gpt2"), file};
  };
  CHECK_NOTHROW(open_model(with("family", "family")));
  CHECK_THROWS_WITH(open_model(with("heads =", "haeds =")), ContainsSubstring("'haeds' is not a key"));
  CHECK_THROWS_WITH(open_model(with("heads =", "# heads =")), ContainsSubstring("expected 'layers', 'vocabulary'"));
  CHECK_THROWS_WITH(open_model(with("causal =", "casual =")),
                    ContainsSubstring("[stack]: 'casual' is not a key that is known here"));
  CHECK_THROWS_WITH(open_model(with("\"qkv\"", "\"kqv\"")),
                    ContainsSubstring("'fusion' should be one of none, qkv, kv, qkv_by_head"));
  CHECK_THROWS_WITH(open_model(with("in_out = true", "in_out = 1")),
                    ContainsSubstring("'in_out' should be true or false"));
  CHECK_THROWS_WITH(open_model(with("in_out = true", "")), ContainsSubstring("h.0.attn.c_attn.weight"));
  CHECK_THROWS_WITH(open_model(with("layers = ", "layers = -")),
                    ContainsSubstring("'layers' should be a whole number"));
  CHECK_THROWS_WITH(open_model(with("[stack]", "[stack")), ContainsSubstring("map.toml: line "));
  CHECK_THROWS_WITH(open_model(with("ln_1", "ln_one")), ContainsSubstring("no tensor 'transformer.h.0.ln_one.weight'"));
  CHECK_THROWS_WITH(open_model({family("gpt2"), folder / "none.toml"}),
                    ContainsSubstring("none.toml: cannot be opened"));
  CHECK_THROWS_AS(model_map_file(folder / "none.toml"), IoError);
  std::istringstream pairs(model_map_text(model_map(family("bart"))));
  std::string without_cross;
  for (std::string line; std::getline(pairs, line);)
    if (!line.starts_with("cross_")) without_cross += line + "\n";
  write_text(file, without_cross);
  CHECK_THROWS_WITH(model_map_file(file), ContainsSubstring("[decoder]: expected 'cross_query' and the like"));
  text = model_map_text(model_map(family("deberta-v2")));
  CHECK_THROWS_WITH(open_model(with("buckets = 8", "buckets = 1")), ContainsSubstring("'buckets' of disentangled"));
  CHECK_THROWS_WITH(open_model(with("vectors = ", "# vectors = ")), ContainsSubstring("positions need 'vectors'"));
  CHECK_THROWS_WITH(open_model(with("kind = \"disentangled\"", "kind = \"none\" #")),
                    ContainsSubstring("is not a key"));
  text = model_map_text(model_map(family("gpt2")));
  CHECK_THROWS_WITH(open_model(with("heads =", std::string((1U << 20U) + 1, '#') + "\nheads =")),
                    ContainsSubstring("at most 1 MB"));
}

TEST_CASE("a tensor of a layer that nothing reads is refused, another one is told") {
  // Llama's map on Qwen2's checkpoint: the biases of query, key and value would be left out in silence.
  const TemporaryFolder folder;
  copy_model(family("qwen2"), folder / "model");
  replace_in(folder / "model/config.json", "\"model_type\": \"qwen2\"", "\"model_type\": \"llama\"");
  CHECK_THROWS_WITH(open_model(folder / "model"),
                    ContainsSubstring("self_attn.k_proj.bias' belongs to a layer, but a llama does not read it"));
  replace_in(folder / "model/config.json", "\"model_type\": \"llama\"", "\"model_type\": \"qwen2\"");
  replace_in(folder / "model/config.json", "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1");
  CHECK_THROWS_WITH(open_model(folder / "model"), ContainsSubstring("model.layers.1."));
}

TEST_CASE("of a family that is not known, the map of the one that fits best is proposed and never taken") {
  const TemporaryFolder folder;
  for (const std::string name : {"llama", "gpt2", "bert-mlm", "t5"}) {
    CAPTURE(name);
    const auto model = folder / name;
    copy_model(family(name), model);
    const std::string known = model_map(model).family;
    replace_in(model / "config.json", "\"model_type\": \"" + known + "\"", "\"model_type\": \"quantum\"");
    CHECK_THROWS_WITH(open_model(model), ContainsSubstring("model type 'quantum' is not known"));
    const ModelCheck check = model_check(model);
    CHECK(check.problems.empty());
    CHECK(check.map.reason ==
          "config.json says 'quantum', which is not known; of the known families " + check.map.family + " fits best");
    write_text(folder / "map.toml", model_map_text(check.map));
    Document document;
    document.ids = {3, 1, 4};
    if (check.map.decoder) document.target.ids = {2, 7};
    CHECK(model_pass(open_model({model, folder / "map.toml"}), document, {}, {.final_states = true}) ==
          model_pass(open_model(family(name)), document, {}, {.final_states = true}));
  }
  // What fits nothing has no proposal.
  copy_model(family("llama"), folder / "odd");
  replace_in(folder / "odd/config.json", "\"model_type\": \"llama\"", "\"model_type\": \"quantum\"");
  replace_in(folder / "odd/config.json", "\"hidden_size\": 32", "\"hidden_size\": 48");
  CHECK_THROWS_WITH(model_check(folder / "odd"),
                    ContainsSubstring("model type 'quantum' is not known") && ContainsSubstring("no map is proposed"));
}

TEST_CASE("where no family fits, the nearest one is named with what stands in its way") {
  const TemporaryFolder folder;
  const auto stranger = [&](const std::string& name, const std::string& what, const std::string& by) {
    const auto model = folder / name;
    std::filesystem::remove_all(model);
    copy_model(family(name), model);
    replace_in(model / "config.json", "\"model_type\": \"" + model_map(model).family + "\"",
               "\"model_type\": \"quantum\"");
    replace_in(model / "config.json", what, by);
    return model;
  };
  // Tensors of another shape, and a key that nobody reads.
  CHECK_THROWS_WITH(model_check(stranger("llama", "\"hidden_size\": 32", "\"hidden_size\": 48, \"logit_scale\": 2.0")),
                    ContainsSubstring("by the names of its tensors llama comes nearest (12 of 12 are there), but ") &&
                        ContainsSubstring("tensor 'model.embed_tokens.weight' has shape (60, 32), expected (60, 48)") &&
                        ContainsSubstring("more like it)") &&
                        ContainsSubstring("'logit_scale' may change its numbers"));
  // No family reads the config.
  CHECK_THROWS_WITH(
      model_check(stranger("gptj", "\"n_layer\"", "\"n_layers_of_ours\"")),
      ContainsSubstring("gptj comes nearest") && ContainsSubstring("but 'n_layer' is missing") &&
          ContainsSubstring("; 'n_layers_of_ours' may change its numbers in a way that is not known here: no map"));
  // Nothing is called so.
  const auto alien = stranger("gptj", "\"n_layer\"", "\"n_layers_of_ours\"");
  const std::vector<float> one{1.0F};
  write_safetensors(alien / "model.safetensors", {{"spin.up", {1}, one.data()}, {"spin.down", {1}, one.data()}});
  CHECK_THROWS_WITH(model_check(alien), ContainsSubstring("no known family has tensors of such names"));
  CHECK_THROWS_WITH(model_check(stranger("llama", "{", "{\"quantization_config\": {\"bits\": 4},")),
                    ContainsSubstring("'quantization_config' says that weights are quantised"));
  // A plain model type that is known is refused by its own settings, as it is without looking.
  const auto known = folder / "known";
  copy_model(family("llama"), known);
  replace_in(known / "config.json", "\"vocab_size\"", "\"vocab_sighs\"");
  CHECK_THROWS_WITH(model_check(known), ContainsSubstring("'vocab_size' is missing"));
}

TEST_CASE("a checkpoint of which a family reads little does not look like that family") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "model");
  // ModernBERT reads any config with these keys, and wants few tensors: so many others hid that it found none.
  write_text(folder / "model/config.json",
             R"({"model_type": "quantum", "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4,
                 "intermediate_size": 28, "vocab_size": 60, "max_position_embeddings": 24, "layer_norm_eps": 1e-5})");
  const std::vector<float> one{1.0F};
  std::vector<NamedTensor> tensors;
  for (int i = 0; i < 80; ++i) tensors.push_back({"towers." + std::to_string(i) + ".spin", {1}, one.data()});
  write_safetensors(folder / "model/model.safetensors", tensors);
  const auto told = [&] {
    try {
      model_check(folder / "model");
    } catch (const FormatError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(told().find("model type 'quantum' is not known; no known family has tensors of such names") !=
        std::string::npos);
  CHECK(told().find("modernbert") == std::string::npos);
  // One name in common is not enough to come nearest.
  tensors.push_back({"model.embed_tokens.weight", {1}, one.data()});
  write_safetensors(folder / "model/model.safetensors", tensors);
  CHECK(told().find("no known family has tensors of such names") != std::string::npos);
}

TEST_CASE("a config that changes the arithmetic in ways no map says is refused by name, and nothing is proposed") {
  const TemporaryFolder folder;
  const auto edited = [&](const std::string& name, const std::string& type, const std::string& more) {
    static int number = 0;
    const auto model = folder / std::to_string(number++);
    copy_model(family(name), model);
    replace_in(model / "config.json", "\"model_type\": \"" + model_map(model).family + "\"",
               "\"model_type\": \"" + type + "\"" + more);
    return model;
  };
  // Keys as Granite and Gemma 2 write them; they looked like a Llama, whose attention was then wrong by 0.47 and 0.36.
  for (const std::string key : {"embedding_multiplier", "residual_multiplier", "attention_multiplier", "logits_scaling",
                                "attn_logit_softcapping", "query_pre_attn_scalar", "some_key_of_the_future"}) {
    CAPTURE(key);
    CHECK_THROWS_WITH(model_check(edited("llama", "x", ", \"" + key + "\": 12.0")),
                      ContainsSubstring("'" + key + "'") && ContainsSubstring("no map is proposed"));
  }
  CHECK_THROWS_WITH(model_check(edited("llama", "x", ", \"a_scale\": 2, \"b_cap\": 3")),
                    ContainsSubstring("'a_scale', 'b_cap'"));
  // Nothing in the config of VaultGemma tells it from a Llama.
  CHECK_THROWS_WITH(model_check(edited("llama", "vaultgemma", "")), ContainsSubstring("1 + weight"));
  CHECK_THROWS_WITH(model_check(edited("llama", "helium", "")), ContainsSubstring("neighbours"));
  CHECK_THROWS_WITH(model_check(edited("llama", "x", ", \"token_dropout\": 0.1")),
                    ContainsSubstring("'token_dropout'"));
  // Inside an object that is read.
  const auto inner = edited("llama", "x", "");
  replace_in(inner / "config.json", "\"rope_type\"", "\"short_factor\": [1.5], \"rope_type\"");
  CHECK_THROWS_WITH(model_check(inner), ContainsSubstring("'rope_parameters.short_factor'"));
  // What is null, empty, off or about something else does not stand in the way.
  CHECK(model_check(edited("llama", "x",
                           ", \"logit_cap\": null, \"pruned_heads\": {}, \"use_qk_norm\": false, \"use_cache\": true, "
                           "\"attention_dropout\": 0.1, \"sep_token_id\": 4, \"temperature\": 0.7"))
            .proposed);
  CHECK_THROWS_WITH(model_check(edited("llama", "x", ", \"use_qk_norm\": true")), ContainsSubstring("'use_qk_norm'"));
}

TEST_CASE("a checkpoint with a tensor outside the layers that the proposed family does not read is refused by name") {
  const TemporaryFolder folder;
  copy_model(family("bart"), folder / "model");
  replace_in(folder / "model/config.json", "\"model_type\": \"bart\"", "\"model_type\": \"x\"");
  CHECK(model_check(folder / "model").proposed);
  // As MBart has it: a norm at the end of the encoder.
  const SafetensorsFile file(family("bart") / "model.safetensors");
  const std::vector<float> ones(32, 1.0F);
  std::vector<NamedTensor> tensors;
  for (const TensorInfo& tensor : file.tensors())
    tensors.push_back({tensor.name, tensor.shape, reinterpret_cast<const float*>(file.bytes(tensor).data())});
  tensors.push_back({"model.encoder.layer_norm.weight", {32}, ones.data()});
  write_safetensors(folder / "model/model.safetensors", tensors);
  CHECK_THROWS_WITH(model_check(folder / "model"), ContainsSubstring("'model.encoder.layer_norm.weight'"));
  CHECK(is_of_a_head("bert.pooler.dense.weight"));
  CHECK(is_of_a_head("lm_head.weight"));
  CHECK(is_of_a_head("cls.predictions.decoder.bias"));
  CHECK_FALSE(is_of_a_head("encoder.layer.0.attention.self.head_gate"));
  CHECK_FALSE(is_of_a_head("layers.11.cls.weight"));
  CHECK_FALSE(is_of_a_head("headless.norm.weight"));
}
