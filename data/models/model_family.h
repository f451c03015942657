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

/// One description each. BERT also stands for RoBERTa, XLM-R and CamemBERT; Llama for Mistral and Qwen2; BART for
/// Marian.
ModelMap bert_map(const ModelConfig& config, const HasTensor& has);
ModelMap distilbert_map(const ModelConfig& config, const HasTensor& has);
ModelMap gpt2_map(const ModelConfig& config, const HasTensor& has);
ModelMap bloom_map(const ModelConfig& config, const HasTensor& has);
ModelMap llama_map(const ModelConfig& config, const HasTensor& has);
ModelMap t5_map(const ModelConfig& config, const HasTensor& has);
ModelMap bart_map(const ModelConfig& config, const HasTensor& has);

/// The rotary positions of a config: rope_theta and rope_scaling, or rope_parameters.
/// @throws FormatError if the scaling is not known, naming it
RotaryOptions rotary_options(const ModelConfig& config, Index d_head);

/// The names NAME.weight and NAME.bias.
TensorNames weight_and_bias(const std::string& name);
/// The name NAME.weight alone.
TensorNames weight_alone(const std::string& name);

/// The first prefix with which a checkpoint holds one of the tensors; the first of all where it holds none.
std::string prefix_before(std::initializer_list<const char*> prefixes, std::initializer_list<const char*> tensors,
                          const HasTensor& has);

/// Fills in how heads share the width: d_head as the config says or d_model / heads, scale 1/sqrt(d_head).
/// @param d_head    key of the head's own width, or nullptr
/// @param kv_heads  how many; 0: as many as heads
/// @throws FormatError if the numbers do not divide
void set_heads(StackMap& stack, const ModelConfig& config, const char* heads, const char* d_head, Index kv_heads);

}  // namespace headwave
