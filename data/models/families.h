#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "map_expression.h"
#include "model_config.h"
#include "model_map.h"

namespace headwave {

/// A family's map file, data/models/families/FAMILY.toml, which is compiled into the program: a consumer, a
/// wheel and a checkout all find the same one, wherever they lie.
struct FamilyFile {
  std::string_view family;  ///< as config.json calls it: "bert", "gpt_neox"
  std::string_view text;
};

/// All of them, by name (cmake/families.cmake writes this).
const std::vector<FamilyFile>& family_files();

/// Names of the families that headwave knows.
std::vector<std::string> known_families();

/// The map of a Hugging Face model by its config.json: that of the family that `model_type` names, or else of
/// the family that its first architecture belongs to.
///
/// The names' prefix ("bert.", "model.") is taken from the tensors that are there. A setting that would change the
/// numbers and is not known is refused by name.
/// @throws FormatError if the family is not known, or naming the key, what was expected and what was found
ModelMap family_map(const ModelConfig& config, const HasTensor& has);

/// The map that a file of a user gives for one model: TOML, of the same format as the families' own (docs/model-map.md).
/// @throws IoError if the file cannot be read; FormatError naming the file, the line where TOML says it, and the key
ModelMap model_map_of(const std::filesystem::path& file, const ModelFacts& facts);

/// How a family spells its rotary positions in config.json, and its defaults: [positions.rope].
/// @param d_head  channels of a head
/// @throws FormatError if the scaling is not known, naming it
RotaryOptions rotary_options(const ModelConfig& config, Index d_head, const RopeKeys& keys = {});

}  // namespace headwave
