#pragma once

#include <filesystem>
#include <string>

#include "model_map.h"

namespace headwave {

/// A model map: TOML with a table [stack] (and [decoder] beside it in an encoder-decoder, [prediction] where
/// the checkpoint predicts tokens), written by hand or printed by `headwave inspect --map`. docs/model-map.md
/// explains every key. The families' own maps (families.h) are of the same format.
///
/// Missing keys have the default that most models have: kv_heads = heads, d_head = d_model / heads,
/// score_scale = 1/sqrt(d_head). Nothing else is guessed.
/// @throws IoError if the file cannot be read; FormatError naming the file, the line where TOML says it, and
///         the key, also if it asks for config.json: model_map_of() answers that
ModelMap model_map_file(const std::filesystem::path& file);

/// The same as text, which model_map_file() reads back to an equal map.
std::string model_map_text(const ModelMap& map);

}  // namespace headwave
