#include "model_family.h"

#include <cmath>
#include <map>

#include <fmt/format.h>

#include "../files/printable.h"

namespace headwave {

namespace {

using Describe = ModelMap (*)(const ModelConfig&, const HasTensor&);

const std::map<std::string, Describe>& families() {
  static const std::map<std::string, Describe> all{{"bert", bert_map},
                                                   {"roberta", bert_map},
                                                   {"xlm-roberta", bert_map},
                                                   {"camembert", bert_map},
                                                   {"bart", bart_map},
                                                   {"marian", bart_map},
                                                   {"t5", t5_map},
                                                   {"mt5", t5_map},
                                                   {"gpt2", gpt2_map},
                                                   {"bloom", bloom_map},
                                                   {"llama", llama_map},
                                                   {"mistral", llama_map},
                                                   {"qwen2", llama_map},
                                                   {"qwen3", llama_map},
                                                   {"gemma", llama_map},
                                                   {"gemma2", llama_map},
                                                   {"gemma3_text", llama_map},
                                                   {"phi3", llama_map},
                                                   {"olmo2", llama_map},
                                                   {"granite", llama_map},
                                                   {"smollm3", llama_map},
                                                   {"openai-gpt", openai_gpt_map},
                                                   {"gpt_neo", gpt_neo_map},
                                                   {"gptj", gptj_map},
                                                   {"gpt_neox", gpt_neox_map},
                                                   {"opt", opt_map},
                                                   {"electra", bert_map},
                                                   {"albert", albert_map},
                                                   {"modernbert", modernbert_map},
                                                   {"distilbert", distilbert_map},
                                                   {"deberta", deberta_map},
                                                   {"deberta-v2", deberta_map},
                                                   {"nomic_bert", nomic_bert_map},
                                                   {"vit", vit_map},
                                                   {"deit", vit_map},
                                                   {"whisper", whisper_map}};
  return all;
}

}  // namespace

std::vector<std::string> known_families() {
  std::vector<std::string> names;
  for (const auto& [name, describe] : families()) names.push_back(name);
  return names;
}

ModelMap family_map(const ModelConfig& config, const HasTensor& has) {
  const std::string family = config.family();
  const auto found = families().find(family);
  if (found == families().end()) {
    std::string known;
    for (const auto& [name, describe] : families()) known += (known.empty() ? "" : ", ") + name;
    config.fail(
        fmt::format("model type '{}' is not known; headwave reads {}, and any other through a map (--map FILE.toml)",
                    printable(family, 60), known));
  }
  require_floating_point(config);
  ModelMap map = found->second(config, has);
  map.family = family;
  map.reason =
      fmt::format("config.json says {} '{}'", config.has("model_type") ? "model_type" : "architectures", family);
  return map;
}

TensorNames weight_and_bias(const std::string& name) {
  return {name + ".weight", name + ".bias"};
}

TensorNames weight_alone(const std::string& name) {
  return {name + ".weight", ""};
}

std::string prefix_before(std::initializer_list<const char*> prefixes, std::initializer_list<const char*> tensors,
                          const HasTensor& has) {
  for (const char* prefix : prefixes)
    for (const char* tensor : tensors)
      if (has(std::string(prefix) + tensor)) return prefix;
  return *prefixes.begin();
}

TensorNames causal_head(const ModelConfig& config, const HasTensor& has, const std::string& words, bool tied_default) {
  if (config.flag_or("tie_word_embeddings", tied_default)) return {words, ""};
  for (const char* name : {"lm_head.weight", "language_model.lm_head.weight"})
    if (has(name)) return {name, ""};
  return {};
}

void require_floating_point(const ModelConfig& config) {
  if (config.has("quantization_config"))
    config.fail(
        "'quantization_config' says that weights are quantised, which is not read here; give a checkpoint of "
        "floating-point weights");
}

std::vector<Index> local_layers(const ModelConfig& config, Index layers) {
  const std::vector<std::string> types = config.by_layer("layer_types", layers);
  std::vector<Index> local;
  for (Index layer = 0; layer < layers; ++layer) {
    const std::string& type = types[static_cast<std::size_t>(layer)];
    if (type == "sliding_attention")
      local.push_back(layer);
    else if (type != "full_attention")
      config.fail(
          fmt::format("'layer_types' has '{}', expected sliding_attention or full_attention", printable(type, 60)));
  }
  return local;
}

void require_few_layers(const ModelConfig& config, Index layers) {
  if (layers > most_layers) config.fail(fmt::format("it has {} layers; expected at most {}", layers, most_layers));
}

void require_off(const ModelConfig& config, const char* key) {
  config.require(key, false);
}

void set_sizes(StackMap& stack, const ModelConfig& config) {
  stack.layers = config.size("num_hidden_layers");
  stack.vocabulary = config.size("vocab_size");
  stack.d_model = config.size("hidden_size");
  stack.d_feed_forward = config.size("intermediate_size");
}

void set_heads(StackMap& stack, const ModelConfig& config, const char* heads, const char* d_head, Index kv_heads,
               Index usual) {
  BlockSpec& block = stack.block;
  block.heads = config.size(heads);
  block.kv_heads = kv_heads > 0 ? kv_heads : block.heads;
  if (block.heads % block.kv_heads != 0)
    config.fail(fmt::format("{} query heads ('{}') cannot share {} key-value heads evenly", block.heads, heads,
                            block.kv_heads));
  const bool own_width = d_head != nullptr && config.has(d_head);
  if (!own_width && usual == 0 && stack.d_model % block.heads != 0)
    config.fail(fmt::format("'{}' is {}, which does not divide the width {}", heads, block.heads, stack.d_model));
  block.d_head = own_width ? config.size(d_head) : usual > 0 ? usual : stack.d_model / block.heads;
  block.score_scale = 1.0 / std::sqrt(static_cast<double>(block.d_head));
}

}  // namespace headwave
