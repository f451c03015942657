#include "../../data/models/model_config.h"

#include <nlohmann/json.hpp>

#include "../../core/errors/error.h"
#include "../../data/models/class_family.h"
#include "../../data/models/model_family.h"
#include "../catch.h"

using namespace headwave;

namespace {

/// What is asked of a config that says this.
class Asked {
 public:
  explicit Asked(const char* text) : value_(nlohmann::json::parse(text)), config_(value_, "config.json") {}
  const ModelConfig* operator->() const { return &config_; }
  const ModelConfig& operator*() const { return config_; }

 private:
  nlohmann::json value_;
  ModelConfig config_;
};

}  // namespace

TEST_CASE("a config that is no object is refused") {
  CHECK_THROWS_AS(ModelConfig(nlohmann::json::array(), "config.json"), FormatError);
  CHECK_THROWS_WITH(ModelConfig(7, "config.json"), ContainsSubstring("config.json: expected an object of settings"));
}

TEST_CASE("an answer that is missing, of another type or out of range names the key") {
  const Asked config(
      R"({"a": 0, "b": 1.5, "c": "x", "d": -1, "e": true, "f": null, "g": 1e99, "h": 18446744073709551615})");
  CHECK(config->size("a", 0) == 0);
  CHECK_THROWS_WITH(config->size("a"), ContainsSubstring("config.json: 'a' is 0, expected 1 to"));
  for (const char* key : {"b", "c", "d", "e", "f", "g", "h", "none"}) CHECK_THROWS_AS(config->size(key), FormatError);
  CHECK_THROWS_WITH(config->size("none"), ContainsSubstring("'none' is missing"));
  CHECK_THROWS_AS(config->size_or("c", 3), FormatError);
  CHECK(config->size_or("f", 3) == 3);
  CHECK(config->positive("b") == 1.5);
  for (const char* key : {"a", "c", "d", "e", "f", "none"}) CHECK_THROWS_AS(config->positive(key), FormatError);
  CHECK_THROWS_AS(config->positive_or("d", 1), FormatError);
  CHECK_THROWS_AS(config->text_or("a", ""), FormatError);
  CHECK_THROWS_AS(config->flag_or("a", false), FormatError);
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
  CHECK_THROWS_WITH(config->words("number"), ContainsSubstring("'number' is no list of words"));
  CHECK_THROWS_AS(config->words("mixed"), FormatError);
}

TEST_CASE("the class of a model says its family where there is no model type") {
  CHECK(family_of_class("XLMRobertaForMaskedLM") == "xlm-roberta");
  CHECK(family_of_class("DebertaV2ForMaskedLM") == "deberta-v2");
  CHECK(family_of_class("DebertaModel") == "deberta");
  CHECK(family_of_class("NomicBertModel") == "nomic_bert");
  CHECK(family_of_class("GPTNeoXForCausalLM") == "gpt_neox");
  CHECK(family_of_class("QuantumForMaskedLM") == "QuantumForMaskedLM");
  CHECK(Asked(R"({"architectures": ["DebertaV2Model"]})")->family() == "deberta-v2");
}

TEST_CASE("an option that would change the numbers, and an activation that is not known, are refused") {
  const Asked config(R"({"scale": true, "kind": "relative", "act": "swiglu"})");
  CHECK_NOTHROW(config->require("scale", true));
  CHECK_NOTHROW(config->require("none", false));
  CHECK_THROWS_WITH(config->require("scale", false), ContainsSubstring("'scale' is true, which changes the numbers"));
  CHECK_THROWS_WITH(config->require_text("kind", "absolute"),
                    ContainsSubstring("'kind' is 'relative', expected absolute"));
  CHECK_THROWS_WITH(config->activation("act", "gelu"), ContainsSubstring("config.json: 'act'"));
  CHECK(config->activation("none", "relu") == Activation::relu);
  CHECK_THROWS_AS(activation_of("swiglu", "map"), FormatError);
  CHECK_THROWS_WITH(activation_of("swiglu", "map.toml: [stack]"), ContainsSubstring("map.toml: [stack]"));
}

TEST_CASE("families, scalings and heads that are not known or do not fit are refused") {
  const auto nothing = [](const std::string&) { return false; };
  CHECK_THROWS_AS(family_map(*Asked(R"({"model_type": "mamba"})"), nothing), FormatError);
  CHECK_THROWS_AS(family_map(*Asked("{}"), nothing), FormatError);
  CHECK_THROWS_AS(bert_map(*Asked(R"({"model_type": "bert"})"), nothing), FormatError);
  CHECK_THROWS_WITH(rotary_options(*Asked(R"({"rope_scaling": {"rope_type": "longrope", "factor": 2}})"), 8),
                    ContainsSubstring("longrope"));
  StackMap stack;
  stack.d_model = 10;
  CHECK_THROWS_AS(set_heads(stack, *Asked(R"({"heads": 3})"), "heads", nullptr, 0), FormatError);
  stack.d_model = 12;
  CHECK_THROWS_AS(set_heads(stack, *Asked(R"({"heads": 4})"), "heads", nullptr, 3), FormatError);
}
