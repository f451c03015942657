#pragma once

#include <filesystem>
#include <string>

#include "headwave/core/model.h"

namespace headwave {

/// What config.json says of a model, checked.
struct ModelConfig {
  ModelSpec spec;
  Index token_types = 0;    ///< rows of the token-type table
  Index position_rows = 0;  ///< rows of the position table, with those before spec.first_position
  float norm_eps = 1e-12F;
  std::filesystem::path file;  ///< where this was read
};

/// Reads config.json of a Hugging Face model directory. Nothing is guessed: a size that is missing is an error, and so
/// is an option that would change the numbers and is not known here.
///
/// @throws IoError if there is no config.json; FormatError naming the key, what was expected and what came
ModelConfig model_config(const std::filesystem::path& model_directory);

}  // namespace headwave
