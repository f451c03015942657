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
/// needed, which is slower; either: in memory if they take at most half of it. No digit of a result depends
/// on this.
enum class WeightsIn { memory, layers, either };

/// The files of a model: a Hugging Face folder with config.json and model.safetensors (or its shards), or a
/// safetensors file with config.json beside it.
/// Any other checkpoint needs a map that names its tensors (families.h).
struct ModelPlace {
  ModelPlace(std::filesystem::path weights_path, std::filesystem::path map_path = {})  // NOLINT: a path is a place
      : weights(std::move(weights_path)), map(std::move(map_path)) {}

  std::filesystem::path weights;  ///< folder or file
  std::filesystem::path map;      ///< TOML file; empty: config.json says what the model is
  Index layers = 0;               ///< open only the first layers; 0: all
  WeightsIn weights_in = WeightsIn::either;
  std::int64_t memory = 0;  ///< bytes that the program may use; 0: what the machine has free
};

/// The description of a model: its own map, or that of the family in its config.json (families.h).
/// @throws IoError, FormatError naming the file, what was expected and what was found
ModelMap model_map(const ModelPlace& place);

/// Opens a model. Weights stay in the memory-mapped file.
/// @throws IoError, FormatError naming the file and the tensor: missing, of the wrong shape, not expected, or
///         holding NaN or infinity (in a layer that is read as it is needed: then); ShapeError if more layers
///         are asked for than there are, or only some of an encoder-decoder, whose decoder reads the
///         encoder's end
Model open_model(const ModelPlace& place);

/// Opens a model from memory: the text of a config.json, and tensors, which the model keeps.
/// @throws FormatError as above, beginning with the checkpoint's name
Model open_model(const std::string& config, std::shared_ptr<const Checkpoint> checkpoint);

/// The description of a model by such a text and the names of its tensors.
/// @param called  what messages call it
/// @throws FormatError as model_map
ModelMap model_map(const std::string& config, const std::string& called, const std::vector<std::string>& tensors);

/// The part of a model that a checkpoint holds. Missing tensors are empty in the model, and named.
struct PartialModel {
  Model model;
  std::vector<std::string> missing;  ///< names of tensors
};
/// @throws as open_model, but for tensors that are missing
PartialModel open_partial_model(const ModelPlace& place);

/// A map compared with a checkpoint. Only headers are read, no values.
struct ModelCheck {
  ModelMap map;
  std::vector<std::string> problems;  ///< one line each; none: the model can be opened
  std::vector<std::string> unused;    ///< tensors that the model does not read
  std::vector<std::string> unread;  ///< settings of config.json that the map does not read and that may change numbers
};
/// @throws as model_map
ModelCheck model_check(const ModelPlace& place);

/// The position table of a model, without the rows before token 0's: (positions, d_model). The checkpoint may
/// lack other tensors.
/// @throws FormatError if the model has no position table
Matrix32 position_table(const ModelPlace& place);

/// The folder of a model, where its tokenizer is.
std::filesystem::path tokenizer_place(const ModelPlace& place);

/// Token ids by their keys in config.json: "eos_token_id"; -1 for a missing key.
/// @throws IoError, FormatError if the file is damaged
std::vector<std::int32_t> configured_ids(const ModelPlace& place, std::initializer_list<const char*> keys);

/// The token id that a decoder reads first: `decoder_start_token_id` of config.json,
/// or else of generation_config.json beside it.
/// @throws IoError if config.json cannot be read; FormatError if neither says it, or one is broken
std::int32_t decoder_start(const std::filesystem::path& folder);

/// The provenance of a model in a result: its path as `model`, and as `model_sha256` the digests of config.json
/// or the map and of the weights. Only headers of weights are parsed.
/// @throws IoError if a file cannot be read; FormatError if the weights are none
Attributes model_provenance(const ModelPlace& place);

/// The lengths that a checkpoint's files say it was trained on or truncates at, as far as documents exceed them:
///
///     sentence_bert_config.json  max_seq_length
///     tokenizer_config.json      model_max_length, unless it stands for "any" (1e30)
///     config.json                max_position_embeddings
///
/// A missing or unreadable file names none. sliding_window and original_max_position_embeddings are left out: models
/// read longer documents than these by design.
/// @param folder  of the checkpoint
/// @param tokens  of the longest document
/// @returns `named_length`, the shortest, and `named_lengths`, all of them in words; nothing if none is exceeded
Attributes exceeded_lengths(const std::filesystem::path& folder, Index tokens);

}  // namespace headwave
