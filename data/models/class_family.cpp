#include "class_family.h"

#include <utility>

namespace headwave {

std::string family_of_class(const std::string& name) {
  // Class names begin with the family's; the longer ones first, since "GPTNeo" begins GPTNeoX's.
  constexpr std::pair<const char*, const char*> families[]{
      // NOLINT(modernize-avoid-c-arrays): its length is its own
      {"DebertaV2", "deberta-v2"},
      {"Deberta", "deberta"},
      {"NomicBert", "nomic_bert"},
      {"XLMRoberta", "xlm-roberta"},
      {"ModernBert", "modernbert"},
      {"Electra", "electra"},
      {"Albert", "albert"},
      {"OpenAIGPT", "openai-gpt"},
      {"GPTNeoX", "gpt_neox"},
      {"GPTNeo", "gpt_neo"},
      {"GPTJ", "gptj"},
      {"OPT", "opt"},
      {"Qwen3", "qwen3"},
      {"Gemma3", "gemma3_text"},
      {"Gemma2", "gemma2"},
      {"Gemma", "gemma"},
      {"Phi3", "phi3"},
      {"Granite", "granite"},
      {"SmolLM3", "smollm3"},
      {"Olmo2", "olmo2"},
      {"Camembert", "camembert"},
      {"Roberta", "roberta"},
      {"DistilBert", "distilbert"},
      {"Bert", "bert"},
      {"GPT2", "gpt2"},
      {"Llama", "llama"},
      {"Mistral", "mistral"},
      {"Qwen2", "qwen2"},
      {"T5", "t5"},
      {"MT5", "mt5"},
      {"Bloom", "bloom"},
      {"Bart", "bart"},
      {"Marian", "marian"},
      {"ViTForImage", "vit"},
      {"ViTModel", "vit"},
      {"DeiT", "deit"},
      {"Whisper", "whisper"},
  };
  for (const auto& [begins, family] : families)
    if (name.starts_with(begins)) return family;
  return name;
}

}  // namespace headwave
