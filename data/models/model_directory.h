#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/model/model.h"
#include "model_map.h"

namespace headwave {

class Checkpoint;

/// Where weights are while documents pass: all in memory, or each layer as it is needed, which is slower
/// where they would fit; either: in memory where their float32 takes no more than half of what there is. No
/// digit depends on it.
enum class WeightsIn { memory, layers, either };

/// Where a model lies: a Hugging Face folder with config.json and model.safetensors (or its shards), or a
/// safetensors file with config.json beside it; for any other checkpoint a map says what its tensors are
/// (model_map_file.h).
struct ModelPlace {
  ModelPlace(std::filesystem::path weights_path, std::filesystem::path map_path = {})  // NOLINT: a path is a place
      : weights(std::move(weights_path)), map(std::move(map_path)) {}

  std::filesystem::path weights;  ///< folder or file
  std::filesystem::path map;      ///< TOML file; empty: config.json says what the model is
  Index layers = 0;               ///< the first so many are opened, without what predicts tokens; 0: all
  WeightsIn weights_in = WeightsIn::either;
  std::int64_t memory = 0;  ///< bytes that there are for the program; 0: what the machine has free
};

/// What a model is: by its map, or by the family that its config.json names (families.h).
/// @throws IoError, FormatError naming the file, what was expected and what came
ModelMap model_map(const ModelPlace& place);

/// Opens a model. Weights stay in the memory-mapped file; what predicts tokens is there where the checkpoint
/// has it.
/// @throws IoError, FormatError naming the file and the tensor: missing, of the wrong shape, not expected, or
///         holding NaN or infinity (in a layer that is read as it is needed: then); ShapeError if more layers
///         are asked for than there are, or only some of an encoder-decoder, whose decoder reads the
///         encoder's end
Model open_model(const ModelPlace& place);

/// The same of what is in memory: the text of a config.json, and tensors, which the model keeps.
/// @throws FormatError as above, beginning with the checkpoint's name
Model open_model(const std::string& config, std::shared_ptr<const Checkpoint> checkpoint);

/// What a model is by such a text, and the names of its tensors.
/// @param called  what messages call it
/// @throws FormatError as model_map
ModelMap model_map(const std::string& config, const std::string& called, const std::vector<std::string>& tensors);

/// A model as far as a checkpoint has it: what is missing is empty in the model, and named beside it.
struct PartialModel {
  Model model;
  std::vector<std::string> missing;  ///< names of tensors
};
/// @throws as open_model, but for tensors that are missing
PartialModel open_partial_model(const ModelPlace& place);

/// What a map finds in a checkpoint, without looking at the values: only headers are read.
struct ModelCheck {
  ModelMap map;
  std::vector<std::string> problems;  ///< one line each; none: the model can be opened
  std::vector<std::string> unused;    ///< tensors that the model does not read
  std::vector<std::string> unread;  ///< settings of config.json that the map does not read and that may change numbers
};
/// @throws as model_map
ModelCheck model_check(const ModelPlace& place);

/// The position table of a model alone, without the rows before token 0's: (positions, d_model). Works for
/// checkpoints that hold little else.
/// @throws FormatError if the model has no position table
Matrix32 position_table(const ModelPlace& place);

/// What a result should remember of a model: its path as `model`, and as `model_sha256` the digests of what
/// describes it and of its weights. Nothing is parsed but the weights' headers.
/// @throws IoError if a file cannot be read; FormatError if the weights are none
Attributes model_provenance(const ModelPlace& place);

}  // namespace headwave
