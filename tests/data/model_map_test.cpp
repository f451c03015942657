#include <algorithm>

#include "../../core/model/model_pass.h"
#include "../../data/files/replaced_file.h"
#include "../../data/models/families.h"
#include "../../data/models/model_directory.h"
#include "../catch.h"
#include "edited_model.h"
#include "test_files.h"

using namespace headwave;

TEST_CASE("the map file of a family gives the same model bit for bit") {
  for (const FamilyFile& file : family_files()) {
    const auto golden = repository_file("tests/golden/families") / file.family;
    if (!std::filesystem::exists(golden)) continue;
    CAPTURE(file.family);
    const TemporaryFolder folder;
    write_text(folder / "map.toml", file.text);
    const Model by_config = open_model(golden), by_map = open_model({golden, folder / "map.toml"});
    Document document;
    document.ids = {3, 1, 4, 1, 5, 9, 2, 6};
    if (by_config.decoder) document.target.ids = {2, 7, 1};
    CHECK(model_pass(by_map, document, {}, {.final_states = true}) ==
          model_pass(by_config, document, {}, {.final_states = true}));
  }
}

TEST_CASE("a map that is wrong is described in one line") {
  const TemporaryFolder folder;
  const auto file = folder / "map.toml";
  std::string model = "gpt2";
  const auto with = [&](const std::string& what, const std::string& by) {
    const std::vector<FamilyFile>& files = family_files();
    write_text(file, std::ranges::find(files, model, &FamilyFile::family)->text);
    replace_in(file, what, by);
    return ModelPlace{family(model), file};
  };
  CHECK_NOTHROW(open_model(with("heads", "heads")));
  CHECK_THROWS_WITH(open_model(with("heads =", "haeds =")), ContainsSubstring("'haeds' is not a known key"));
  CHECK_THROWS_WITH(open_model(with("heads =", "# heads =")), ContainsSubstring("expected 'layers', 'vocabulary'"));
  CHECK_THROWS_WITH(open_model(with("\ncausal =", "\ncasual =")),
                    ContainsSubstring("[stack]: 'casual' is not a known key here"));
  CHECK_THROWS_WITH(open_model(with("\"qkv\"", "\"kqv\"")),
                    ContainsSubstring("'fusion' should be one of none, qkv, kv, qkv_by_head"));
  CHECK_THROWS_WITH(open_model(with("in_out = true", "in_out = 1")),
                    ContainsSubstring("'in_out' should be true or false"));
  CHECK_THROWS_WITH(open_model(with("in_out = true", "")), ContainsSubstring("h.0.attn.c_attn.weight"));
  CHECK_THROWS_WITH(open_model(with("layers = \"", "layers = -5 # \"")),
                    ContainsSubstring("'layers' should be a whole number"));
  CHECK_THROWS_WITH(open_model(with("[stack]", "[stack")), ContainsSubstring("map.toml: line "));
  CHECK_THROWS_WITH(open_model(with("ln_1", "ln_one")), ContainsSubstring("no tensor 'transformer.h.0.ln_one.weight'"));
  CHECK_THROWS_WITH(open_model({family("gpt2"), folder / "none.toml"}),
                    ContainsSubstring("none.toml: cannot be opened"));
  CHECK_THROWS_WITH(open_model(with("heads =", std::string((1U << 20U) + 1, '#') + "\nheads =")),
                    ContainsSubstring("at most 1 MiB"));
  model = "bart";
  CHECK_THROWS_WITH(open_model(with("cross_query", "# cross_query")),
                    ContainsSubstring("[decoder]: 'cross_query' is missing; expected it and the other tensors"));
  model = "deberta";
  CHECK_THROWS_WITH(open_model(with("vectors = ", "# vectors = ")), ContainsSubstring("positions need 'vectors'"));
  CHECK_THROWS_WITH(open_model(with("kind = \"disentangled\"", "kind = \"none\" #")),
                    ContainsSubstring("is not a known key"));
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

TEST_CASE("a family that is not known is refused by name, with what to do") {
  const TemporaryFolder folder;
  copy_model(family("llama"), folder / "model");
  replace_in(folder / "model/config.json", "\"model_type\": \"llama\"", "\"model_type\": \"quantum\"");
  CHECK_THROWS_WITH(model_check(folder / "model"),
                    ContainsSubstring("model type 'quantum' is not known; headwave reads albert, bart, bert, ") &&
                        ContainsSubstring("; give map=FILE.toml to say what its tensors are"));
  // A map of a line takes what another family says.
  write_text(folder / "map.toml", "base = \"llama\"\n");
  Document document;
  document.ids = {3, 1, 4};
  CHECK(model_pass(open_model({folder / "model", folder / "map.toml"}), document, {}, {.final_states = true}) ==
        model_pass(open_model(family("llama")), document, {}, {.final_states = true}));
  write_text(folder / "map.toml", "base = \"quantum\"\n");
  CHECK_THROWS_WITH(open_model({folder / "model", folder / "map.toml"}),
                    ContainsSubstring("map.toml: there is no family 'quantum'; expected one of albert, bart, "));
}

TEST_CASE("a map asks config.json and the checkpoint") {
  const TemporaryFolder folder;
  copy_model(family("gpt2"), folder / "model");
  const auto mapped = [&](const std::string& text) {
    write_text(folder / "map.toml", text);
    return model_map({folder / "model", folder / "map.toml"});
  };
  const ModelMap map = mapped(R"toml(
    base = "gpt2"
    [let]
    twice = "2 * n_layer"
    [stack]
    d_feed_forward = "(n_quantum else twice * n_embd) - 1"
    causal = "not true or 3 - 1 == 2 and 1 < 2"
    norm_eps = "layer_norm_epsilon / 2"
    activation = { key = "activation_function", words = { gelu_new = "relu" } }
    [stack.others]
    layers = "picks(kinds, 'local') else layer % 2 == 1"
    [[when]]
    if = "tensor('{prefix}wpe.weight') and given(n_embd) and not null(n_embd)"
    longest = 5
    [when.stack.tensors]
    widen = "{at}{weight,bias}"
    [[when]]
    if = "says(activation_function, 'relu')"
    longest = 7
    [[when]]
    if = "tensor('nothing') or null(no_such_key)"
    longest = 9
  )toml");
  CHECK(map.stack.d_feed_forward == 2 * map.stack.layers * map.stack.d_model - 1);
  CHECK(map.stack.block.causal);
  CHECK(map.stack.norm_eps == 5e-4F);
  CHECK(map.stack.block.activation == Activation::relu);
  CHECK(map.stack.others.layers == std::vector<Index>{1});
  CHECK(map.longest == 5);
  CHECK(map.stack.widen.weight == "transformer.h.{layer}.weight");
  CHECK(map.stack.widen.bias == "transformer.h.{layer}.bias");
  const auto refused = [&](const std::string& text, const std::string& why) {
    CAPTURE(text);
    CHECK_THROWS_WITH(mapped("base = \"gpt2\"\n" + text), ContainsSubstring(why));
  };
  refused("[stack]\nd_model = \"n_quantum\"", "config.json: 'n_quantum' is missing; expected a number");
  refused("[stack]\nd_model = \"n_embd / 7\"", "'n_embd / 7' is 4.57");
  refused("[stack]\nd_model = \"n_embd - n_embd\"", "'n_embd - n_embd' is 0, expected 1 to");
  refused("[stack]\nnorm_eps = \"0\"", "'0' is 0, expected a number above 0");
  refused("[stack]\nd_model = \"activation_function\"", "'activation_function' is \"gelu_new\", expected a number");
  for (const std::string broken :
       {"n_embd +", "(n_embd", "n_embd)", "2 3", "says(n_embd, 2)", "tensor(x)", "1..2", "'x'", "sqrt 2"})
    refused("[stack]\nd_model = \"" + broken + "\"", "is malformed from");
  refused("[stack]\nd_model = \"" + std::string(500, '(') + "\"", "is malformed from");
  refused("[let]\na = \"b\"\nb = \"a\"\n[stack]\nd_model = \"a\"", "is malformed from");
  refused("[expect]\nn_embd = 5",
          "'n_embd' is 32, which changes what the model computes in an unknown way; expected 5");
  refused("[expect]\nn_embd = \"n_layer\"",
          "'n_embd' is 32, which changes what the model computes in an unknown way; expected 2");
  refused("[expect]\nactivation_function = [\"relu\", \"silu\"]",
          "'activation_function' is 'gelu_new', expected relu or silu");
  refused("[[refuse]]\nif = \"n_embd > 3\"\nbecause = \"it is too wide\"", "config.json: it is too wide");
  refused("[[when]]\nlongest = 3", "'when' should be a list of tables, each with a condition 'if'");
  refused("[decoder]\nlike = \"others\"", "'like' should be \"stack\"");
  for (const std::string key : {"let", "expect"}) refused(key + " = 3", "'" + key + "' should be a table");
  refused("let = { a = 3 }", "'let' should be a string");
  for (const std::string key : {"prefixes", "known_by"}) {
    refused(key + " = \"h.\"", "'" + key + "' should be a list of strings");
    refused(key + " = [3]", "'" + key + "' should be a string");
  }
  refused("at = 3", "'at' should be a string");
  for (const std::string one : {"3", "\"x\"", "[0, 1]"})
    refused("[stack.others]\nlayers = " + one, "'layers' should be ");
  // Parts of a model that belong together.
  refused("[stack]\nd_embedding = 8", "'d_embedding' and 'embedding_projection' belong together");
  refused("[stack.tensors]\nfusion = \"kv_by_head\"", "[latent] 'key_rank' and fusion 'kv_by_head' belong together");
  refused("[stack.experts]\ncount = 4\nchosen = 2\nd_feed_forward = 8",
          "[experts] needs 'router', 'widen' and 'narrow'");
  // What the map follows from is in a result's provenance.
  write_text(folder / "map.toml", "base = \"gpt2\"");
  const ModelPlace place{folder / "model", folder / "map.toml"};
  const Attributes before = model_provenance(place);
  replace_in(folder / "model/config.json", "{", "{ ");
  CHECK(model_provenance(place) != before);
  write_text(folder / "map.toml", "base = \"gpt2\"");
  std::filesystem::remove(folder / "model/config.json");
  CHECK_THROWS_WITH(model_map({folder / "model", folder / "map.toml"}), ContainsSubstring("config.json: not found"));
}

TEST_CASE("of rules that name layers all that apply must name the same") {
  const TemporaryFolder folder;
  copy_model(family("smollm3-window"), folder / "model");
  CHECK_NOTHROW(model_map(folder / "model"));
  replace_in(folder / "model/config.json", "\"sliding_attention\"", "\"full_attention\"");
  CHECK_THROWS_WITH(model_map(folder / "model"), ContainsSubstring("differ in layer"));
}

TEST_CASE("settings that may change the numbers and that no map reads are told") {
  const TemporaryFolder folder;
  const auto unread = [&](const std::string& more) {
    std::filesystem::remove_all(folder / "model");
    copy_model(family("llama"), folder / "model");
    replace_in(folder / "model/config.json", "\"vocab_size\"", more + ", \"vocab_size\"");
    return model_check(folder / "model").unread;
  };
  CHECK(model_check(family("llama")).unread.empty());
  for (const std::string key : {"embedding_multiplier", "attn_logit_softcapping", "query_pre_attn_scalar",
                                "some_key_of_the_future", "token_dropout"})
    CHECK(unread("\"" + key + "\": 12.0") == std::vector<std::string>{key});
  CHECK(unread("\"use_qk_norm\": true") == std::vector<std::string>{"use_qk_norm"});
  // What is null, empty, off or about something else is not.
  CHECK(unread("\"logit_cap\": null, \"pruned_heads\": {}, \"use_qk_norm\": false, \"use_cache\": true, "
               "\"attention_dropout\": 0.1, \"sep_token_id\": 4, \"temperature\": 0.7")
            .empty());
  // Inside an object that is read.
  replace_in(folder / "model/config.json", "\"rope_type\"", "\"short_factor\": [1.5], \"rope_type\"");
  CHECK(model_check(folder / "model").unread == std::vector<std::string>{"rope_parameters.short_factor"});
}
