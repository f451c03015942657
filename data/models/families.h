#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "map_expression.h"
#include "model_config.h"
#include "model_map.h"

namespace headwave {

/// A family's map file, data/models/families/FAMILY.toml. It is compiled into the program, so that it is
/// found wherever the program is installed.
struct FamilyFile {
  std::string_view family;  ///< name in config.json, for example "bert"
  std::string_view text;
};

/// All map files, sorted by family. cmake/families.cmake writes this function.
const std::vector<FamilyFile>& family_files();

/// The names of the known families.
std::vector<std::string> known_families();

/// The map of a Hugging Face model, from its config.json. The family is named by `model_type`, or else by the
/// first architecture. A model with a `text_config` of a known family gets the map of its text part.
///
/// The prefix of tensor names, such as "bert.", is found from the tensors that exist. A setting that changes
/// results in an unsupported way is refused. model_check() lists settings that are not read.
/// @throws FormatError naming a setting, what was expected and what was found, or if the family is unknown
ModelMap family_map(const ModelConfig& config, const HasTensor& has);

/// The map of one model from a user's TOML file, in the format of the families' files (docs/model-map.md).
/// @throws IoError if the file cannot be read; FormatError naming the file, and the line or entry
ModelMap model_map_of(const std::filesystem::path& file, const ModelFacts& facts);

/// Rotary positions as config.json describes them. `keys` has the family's names of the settings and their
/// defaults, from [positions.rope] of its map.
/// @param d_head  channels of a head
/// @throws FormatError naming the kind of scaling if it is not known
RotaryOptions rotary_options(const ModelConfig& config, Index d_head, const RopeKeys& keys = {});

}  // namespace headwave
