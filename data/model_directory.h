#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "headwave/core/field.h"
#include "headwave/core/model.h"

namespace headwave {

/// Opens a Hugging Face model directory: config.json and model.safetensors (or its shards). Weights stay in the
/// memory-mapped file; names may carry the prefix of the task model ("bert.", "roberta.") or not.
///
/// Families: BERT and RoBERTa, with the layout of transformers' BertModel and RobertaModel.
/// @throws IoError, FormatError naming the file and the tensor: missing, of the wrong shape, or holding NaN or infinity
Model open_model(const std::filesystem::path& model_directory);

/// The position table of a model directory alone, without the rows before token 0's: (positions, d_model). Works for
/// checkpoints that hold little else, and for GPT-2 (wpe) beside the families above.
/// @throws FormatError if the checkpoint has no position table
Matrix32 position_table(const std::filesystem::path& model_directory);

/// What a result should remember of a model directory: its path, family, sizes, and the sha256 of config and weights.
Attributes model_provenance(const std::filesystem::path& model_directory);

}  // namespace headwave
