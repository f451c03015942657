#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model_config.h"
#include "model_map.h"

namespace headwave {

/// Whether a checkpoint holds a tensor of that name.
using HasTensor = std::function<bool(const std::string&)>;

/// What a Hugging Face model is, from its config.json: the families that headwave knows by name.
///
/// Which prefix stands before the names ("bert.", "model."), and whether there is a prediction head, is taken from the
/// tensors that are there. A setting that would change the numbers and is not known is refused by name.
/// @throws FormatError if the family is not known, or naming the key, what was expected and what came
ModelMap family_map(const ModelConfig& config, const HasTensor& has);

/// Names of the families that family_map() knows.
std::vector<std::string> known_families();

/// One description each. BERT also stands for RoBERTa, XLM-R, CamemBERT and ELECTRA; Llama for Mistral, Qwen2 and 3, Gemma
/// 1 to 3, Phi-3, OLMo-2, Granite and SmolLM3; BART for Marian; ViT for DeiT; DeBERTa for its second and third.
ModelMap bert_map(const ModelConfig& config, const HasTensor& has);
ModelMap distilbert_map(const ModelConfig& config, const HasTensor& has);
ModelMap albert_map(const ModelConfig& config, const HasTensor& has);
ModelMap deberta_map(const ModelConfig& config, const HasTensor& has);
ModelMap nomic_bert_map(const ModelConfig& config, const HasTensor& has);
ModelMap modernbert_map(const ModelConfig& config, const HasTensor& has);
ModelMap vit_map(const ModelConfig& config, const HasTensor& has);
ModelMap whisper_map(const ModelConfig& config, const HasTensor& has);
ModelMap openai_gpt_map(const ModelConfig& config, const HasTensor& has);
ModelMap gpt_neo_map(const ModelConfig& config, const HasTensor& has);
ModelMap gptj_map(const ModelConfig& config, const HasTensor& has);
ModelMap gpt_neox_map(const ModelConfig& config, const HasTensor& has);
ModelMap opt_map(const ModelConfig& config, const HasTensor& has);
ModelMap gpt2_map(const ModelConfig& config, const HasTensor& has);
ModelMap bloom_map(const ModelConfig& config, const HasTensor& has);
ModelMap llama_map(const ModelConfig& config, const HasTensor& has);
ModelMap t5_map(const ModelConfig& config, const HasTensor& has);
ModelMap bart_map(const ModelConfig& config, const HasTensor& has);

/// How a family spells its rotary positions, and what it takes where nothing is said.
struct RotaryDefaults {
  double base = 10000;
  const char* base_key = "rope_theta";
  const char* group = nullptr;  ///< the object inside rope_parameters, where layers differ; nullptr: that is one itself
  bool scaled = true;           ///< rope_scaling is of these layers too
  bool partial = false;         ///< a share of the channels may turn
  const char* partial_key = "partial_rotary_factor";
  double share = 1;  ///< of the channels
};

/// The rotary positions of a config: rope_theta and rope_scaling, or rope_parameters.
/// @throws FormatError if the scaling is not known, naming it
RotaryOptions rotary_options(const ModelConfig& config, Index d_head, const RotaryDefaults& usual = {});

/// The matrix that turns states into words: of its own where the checkpoint holds one and is not tied, else the word
/// embeddings again where it is tied.
TensorNames causal_head(const ModelConfig& config, const HasTensor& has, const std::string& words, bool tied_default);

/// The layers that 'layer_types' calls "sliding_attention".
/// @throws FormatError if one is neither that nor "full_attention"
std::vector<Index> local_layers(const ModelConfig& config, Index layers);

/// @throws FormatError if there are more layers than any model has: what is said layer by layer is not made of them
void require_few_layers(const ModelConfig& config, Index layers);

/// @throws FormatError if the config says that weights are quantised
void require_floating_point(const ModelConfig& config);

/// @throws FormatError if a switch is on
void require_off(const ModelConfig& config, const char* key);

/// The names NAME.weight and NAME.bias.
TensorNames weight_and_bias(const std::string& name);
/// The name NAME.weight alone.
TensorNames weight_alone(const std::string& name);

/// The first prefix with which a checkpoint holds one of the tensors; the first of all where it holds none.
std::string prefix_before(std::initializer_list<const char*> prefixes, std::initializer_list<const char*> tensors,
                          const HasTensor& has);

/// Fills in how many layers, words and channels there are, by the names of most families: num_hidden_layers, vocab_size,
/// hidden_size, intermediate_size.
/// @throws FormatError if one is missing
void set_sizes(StackMap& stack, const ModelConfig& config);

/// Fills in how heads share the width: d_head as the config says or d_model / heads, scale 1/sqrt(d_head).
/// @param d_head    key of the head's own width, or nullptr
/// @param kv_heads  how many; 0: as many as heads
/// @param usual     width of a head where the config says nothing; 0: d_model / heads
/// @throws FormatError if the numbers do not divide
void set_heads(StackMap& stack, const ModelConfig& config, const char* heads, const char* d_head, Index kv_heads,
               Index usual = 0);

}  // namespace headwave
