#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/model/model.h"
#include "model_map.h"

namespace headwave {

class Checkpoint;

/// Where weights are while documents pass through the model: all in memory, or each layer read when it is
/// needed, which is slower. `either` means memory if the weights take at most half of the free memory.
/// Results are identical.
enum class WeightsIn { memory, layers, either };

/// The files of a model: a Hugging Face folder with config.json and model.safetensors (or its shards), or a
/// safetensors file with config.json beside it. Other checkpoints need a map that names their tensors
/// (families.h).
struct ModelPlace {
  ModelPlace(std::filesystem::path weights_path, std::filesystem::path map_path = {})  // NOLINT: a path is a place
      : weights(std::move(weights_path)), map(std::move(map_path)) {}

  std::filesystem::path weights;  ///< folder or file
  std::filesystem::path map;      ///< TOML file of the map; empty: the map follows from config.json
  Index layers = 0;               ///< open only this many layers, from the first; 0: all
  WeightsIn weights_in = WeightsIn::either;
  std::int64_t memory = 0;  ///< bytes that the program may use; 0: all free memory
};

/// The description of a model, by its own map or by the map of its family.
/// @throws IoError, FormatError naming the file, what was expected and what was found
ModelMap model_map(const ModelPlace& place);

/// Opens a model. Weights stay in the memory-mapped file.
/// @throws IoError if a file cannot be read; FormatError naming the file and a tensor that is missing,
///         unexpected, of the wrong shape, or not finite (in a layer that is read when needed, this is found
///         later); ShapeError if the model has fewer layers than asked for, or only some layers of an
///         encoder-decoder are asked for, whose decoder reads the encoder's last layer
Model open_model(const ModelPlace& place);

/// Opens a model in memory, from the text of a config.json and tensors. The model keeps the tensors alive.
/// @throws FormatError as above. The message begins with the checkpoint's name
Model open_model(const std::string& config, std::shared_ptr<const Checkpoint> checkpoint);

/// The description of a model by the text of its config.json and the names of its tensors.
/// @param called  name of the model in messages
/// @throws FormatError as model_map()
ModelMap model_map(const std::string& config, const std::string& called, const std::vector<std::string>& tensors);

/// The part of a model that a checkpoint holds. Missing tensors are empty in the model.
struct PartialModel {
  Model model;
  std::vector<std::string> missing;  ///< names of the missing tensors
};
/// @throws as open_model(), except for missing tensors
PartialModel open_partial_model(const ModelPlace& place);

/// Comparison of a map with a checkpoint. Only headers are read, no values.
struct ModelCheck {
  ModelMap map;
  std::vector<std::string> problems;  ///< one line each; empty: the model can be opened
  std::vector<std::string> unused;    ///< tensors that the model does not read
  std::vector<std::string> unread;    ///< settings of config.json that are not read and may change results
};
/// @throws as model_map()
ModelCheck model_check(const ModelPlace& place);

/// The position table or sinusoids of a model, from the row of token 0 on. Other tensors may be missing.
/// @returns (positions, d_model), or (positions, d_embedding) if word embeddings are narrower than d_model
/// @throws FormatError if the model has neither, or the table is not finite
Matrix32 position_table(const ModelPlace& place);

/// The folder of a model, where its tokenizer is.
std::filesystem::path tokenizer_place(const ModelPlace& place);

/// Token ids from settings of config.json, such as "eos_token_id"; -1 if the setting or the file is missing.
/// @throws IoError or FormatError if the file is damaged
std::vector<std::int32_t> configured_ids(const ModelPlace& place, std::initializer_list<const char*> keys);

/// The token id that a decoder reads first: `decoder_start_token_id` in config.json, or else in
/// generation_config.json.
/// @throws IoError if config.json cannot be read; FormatError if neither file has the id, or one is damaged
std::int32_t decoder_start(const std::filesystem::path& folder);

/// The provenance of a model in a result. `model` is its path. `model_sha256` has the digests of the weights
/// and, if they were read, of config.json and the map. `first_layers` is given if not all layers are open.
/// @throws IoError if a file cannot be read; FormatError if the weights are not a checkpoint
Attributes model_provenance(const ModelPlace& place);

/// Finds lengths in a checkpoint's files that the longest document exceeds. Training texts were no longer
/// than such a length, or texts are truncated to it. The files and settings are:
///
///     sentence_bert_config.json  max_seq_length
///     tokenizer_config.json      model_max_length
///     config.json                max_position_embeddings
///
/// A length of 2^24 or more means no limit. A missing or unreadable file names no length. sliding_window and
/// original_max_position_embeddings do not count: models read longer documents by design.
/// @param folder  folder of the checkpoint
/// @param tokens  length of the longest document
/// @returns `named_length`, the shortest exceeded length, and `named_lengths`, all exceeded lengths in words;
///          empty if no length is exceeded
Attributes exceeded_lengths(const std::filesystem::path& folder, Index tokens);

}  // namespace headwave
