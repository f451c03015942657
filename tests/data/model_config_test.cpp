#include "../../data/models/model_config.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../core/errors/error.h"
#include "../../data/models/families.h"
#include "../../data/models/resolved_map.h"
#include "../catch.h"

using namespace headwave;

namespace {

/// What is asked of a config that says this.
class Asked {
 public:
  explicit Asked(const std::string& text) : value_(nlohmann::json::parse(text)), config_(value_, "config.json") {}
  const ModelConfig* operator->() const { return &config_; }
  const ModelConfig& operator*() const { return config_; }

 private:
  nlohmann::json value_;
  ModelConfig config_;
};

}  // namespace

TEST_CASE("a config that is no object is refused") {
  CHECK_THROWS_AS(ModelConfig(nlohmann::json::array(), "config.json"), FormatError);
  CHECK_THROWS_WITH(ModelConfig(7, "config.json"), ContainsSubstring("config.json: expected an object, found 7"));
}

TEST_CASE("an answer that is missing, of another type or out of range names the key") {
  const Asked config(
      R"({"a": 0, "b": 1.5, "c": "x", "d": -1, "e": true, "f": null, "g": 1e99, "h": 18446744073709551615})");
  CHECK_THROWS_WITH(config->size("a"), ContainsSubstring("config.json: 'a' is 0, expected 1 to"));
  for (const char* key : {"b", "c", "d", "e", "f", "g", "h", "none"}) CHECK_THROWS_AS(config->size(key), FormatError);
  CHECK_THROWS_WITH(config->size("none"), ContainsSubstring("'none' is missing"));
  CHECK(config->positive("b") == 1.5);
  for (const char* key : {"a", "c", "d", "e", "f", "none"}) CHECK_THROWS_AS(config->positive(key), FormatError);
  CHECK_THROWS_AS(config->positive_or("d", 1), FormatError);
  CHECK_THROWS_AS(config->text("a", ""), FormatError);
  CHECK_THROWS_AS(config->flag("a", false), FormatError);
}

TEST_CASE("settings inside settings are asked for by name, and refused where they are no object") {
  const Asked config(R"({"rope": {"factor": 2}, "plain": 3})");
  CHECK(config->object("rope").positive("factor") == 2);
  CHECK_THROWS_WITH(config->object("rope").positive("base"), ContainsSubstring("config.json: rope: 'base' is missing"));
  CHECK_THROWS_AS(config->object("plain"), FormatError);
  CHECK_THROWS_WITH(config->object("none"), ContainsSubstring("'none' is missing; expected an object"));
}

TEST_CASE("words come as a list or in one text, and nothing else is one") {
  const Asked config(R"({"list": ["c2p", " P2C"], "text": "c2p| p2c |", "none": "", "number": 3, "mixed": ["a", 1]})");
  CHECK(config->words("list") == std::vector<std::string>{"c2p", "p2c"});
  CHECK(config->words("text") == config->words("list"));
  CHECK(config->words("none").empty());
  CHECK(config->words("absent").empty());
  CHECK_THROWS_WITH(config->words("number"), ContainsSubstring("expected a list of strings, or one string such as"));
  CHECK_THROWS_AS(config->words("mixed"), FormatError);
}

TEST_CASE("the class of a model says its family where there is no model type") {
  CHECK(family_of_class("XLMRobertaForMaskedLM") == "xlm-roberta");
  CHECK(family_of_class("DebertaV2ForMaskedLM") == "deberta-v2");
  CHECK(family_of_class("DebertaModel") == "deberta");
  CHECK(family_of_class("NomicBertModel") == "nomic_bert");
  CHECK(family_of_class("GPTNeoXForCausalLM") == "gpt_neox");
  CHECK(family_of_class("QuantumForMaskedLM").empty());
  CHECK(Asked(R"({"architectures": ["DebertaV2Model"]})")->architecture() == "DebertaV2Model");
}

TEST_CASE("a path leads into an object") {
  const Asked config(R"({"a": {"b": 2}, "one": 7, "two": [3, 4], "on": true})");
  CHECK(config->number("a.b") == 2);
  CHECK_FALSE(config->number("a.c"));
  CHECK_FALSE(config->number("none.b"));
  CHECK_FALSE(config->number("one.height"));
  CHECK(config->number("on") == 1);
  CHECK_THROWS_WITH(config->number("two"), ContainsSubstring("'two' is [3,4], expected a number, true or false"));
}

TEST_CASE("families and scalings that are not known are refused") {
  const auto nothing = [](const std::string&) { return false; };
  CHECK_THROWS_WITH(family_map(*Asked(R"({"model_type": "retnet"})"), nothing), ContainsSubstring("is not known"));
  for (const char* config :
       {R"({"model_type": "gemma4", "text_config": {"model_type": "gemma4_text"}})", R"({"model_type": "qwen3_next"})"})
    CHECK_THROWS_WITH(family_map(*Asked(config), nothing),
                      ContainsSubstring("is not known") && ContainsSubstring("headwave.watch"));
  CHECK_THROWS_AS(family_map(*Asked("{}"), nothing), FormatError);
  CHECK_THROWS_WITH(family_map(*Asked(R"({"model_type": "bert"})"), nothing), ContainsSubstring("is missing"));
  CHECK_THROWS_WITH(rotary_options(*Asked(R"({"rope_scaling": {"rope_type": "spiral", "factor": 2}})"), 8),
                    ContainsSubstring("'spiral' is not known") && ContainsSubstring("longrope"));
  CHECK_THROWS_WITH(rotary_options(*Asked(R"({"max_position_embeddings": 64, "rope_scaling": {"rope_type": "longrope",
      "short_factor": [1, 2, 3], "long_factor": [1, 2, 3, 4], "original_max_position_embeddings": 16}})"),
                                   8),
                    ContainsSubstring("longrope has 3 factors, expected 4"));
  CHECK_THROWS_WITH(family_map(*Asked(R"({"model_type": "talks", "text_config": {"model_type": "retnet"}})"), nothing),
                    ContainsSubstring("'talks' is not known"));
  CHECK_THROWS_WITH(
      family_map(*Asked(R"({"model_type": "bert", "num_hidden_layers": 1, "vocab_size": 4, "hidden_size": 10,
      "intermediate_size": 8, "num_attention_heads": 3, "max_position_embeddings": 4})"),
                 nothing),
      ContainsSubstring("does not divide"));
}

// Su and others' equation with a factor for each pair; M = 16, four times longer: sqrt(1 + ln 4 / ln 16) = sqrt(1.5).
TEST_CASE("longrope divides by one list up to the trained length and by another beyond") {
  const char* config = R"({"max_position_embeddings": 64, "rope_scaling": {"type": "su", "short_factor": [1, 2],
      "long_factor": [4, 8], "original_max_position_embeddings": 16}})";
  const RotaryTerm term(rotary_options(*Asked(config), 4));
  CHECK(term.frequency(16)[1] == Approx(0.01 / 2));
  CHECK(term.frequency(17)[0] == Approx(1.0 / 4));
  CHECK(term.frequency(17)[1] == Approx(0.01 / 8));
  CHECK(term.options().attention_factor == Approx(std::sqrt(1.5)));
}

TEST_CASE("proportional scaling lets the slowest pairs stand still") {
  const char* config = R"({"rope_parameters": {"rope_type": "proportional", "rope_theta": 100, "factor": 2,
      "partial_rotary_factor": 0.5}})";
  const RotaryTerm term(rotary_options(*Asked(config), 8));
  REQUIRE(term.frequency(9).size() == 4);
  CHECK(term.frequency(9)[0] == Approx(0.5));
  CHECK(term.frequency(9)[1] == Approx(std::pow(100.0, -0.25) / 2));
  CHECK(term.frequency(9)[2] == 0);
  CHECK(term.frequency(9)[3] == 0);
}

TEST_CASE("every family's map file can be read") {
  for (const std::string& family : known_families()) {
    CAPTURE(family);
    const nlohmann::json json{{"model_type", family}};
    // What stops is what the config lacks.
    CHECK_THROWS_WITH(family_map(ModelConfig(json, "config.json"), [](const std::string&) { return true; }),
                      ContainsSubstring("config.json: '") && ContainsSubstring("' is missing; expected a"));
  }
}

TEST_CASE("the text part of Gemma 3 4B says less than its sizes, as it is published") {
  const Asked config(R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "hidden_size": 2560,
      "intermediate_size": 10240, "num_hidden_layers": 34, "sliding_window": 1024,
      "rope_scaling": {"factor": 8.0, "rope_type": "linear"}}})");
  const ModelMap map = family_map(*config, [](const std::string&) { return false; });
  CHECK(map.stack.block.heads == 8);
  CHECK(map.stack.block.kv_heads == 4);
  CHECK(map.stack.block.d_head == 256);
  CHECK(map.stack.vocabulary == 262208);
  CHECK(map.longest == 131072);
  CHECK(map.stack.positions.rotary.base == 1e6);
  CHECK(map.stack.positions.rotary.factor == 8);
  CHECK(map.stack.others.positions.rotary.base == 1e4);
  CHECK(map.stack.others.positions.rotary.scaling == RotaryScaling::none);
}

TEST_CASE("quantised weights of a model that reads images too are refused by their method") {
  const Asked config(R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text"},
      "quantization_config": {"quant_method": "bitsandbytes"}})");
  CHECK_THROWS_WITH(family_map(*config, [](const std::string&) { return false; }),
                    ContainsSubstring("quantised by 'bitsandbytes'"));
}

TEST_CASE("what gpt-oss is published with changes nothing, or is refused") {
  const auto nothing = [](const std::string&) { return false; };
  const std::string gpt_oss = R"({"model_type": "gpt_oss", "num_hidden_layers": 2, "hidden_size": 16, "vocab_size": 8,
      "num_attention_heads": 8, "intermediate_size": 8, "rope_scaling": {"rope_type": "default"},
      "initial_context_length": 4096, "num_experts_per_tok": 4, "experts_per_token": )";
  const Asked same(gpt_oss + "4}"), others(gpt_oss + "2}");
  (void)family_map(*same, nothing);
  CHECK(same->unread().empty());
  CHECK_THROWS_WITH(family_map(*others, nothing), ContainsSubstring("'experts_per_token' is 2"));
}
