#pragma once

// Included by sources that read maps, never by a header that others see.

#include <map>
#include <string>

#include "../files/toml_reader.h"
#include "families.h"
#include "map_expression.h"

namespace headwave {

/// A map file with all conditions decided: the rest describes one model and names its tensors.
struct ResolvedMap {
  toml::table table;
  std::map<std::string, std::string> names;  ///< what [let] defines
};

/// Decides everything in a map that depends on the model: merges it into the family that `base` names, finds
/// which of `prefixes` the checkpoint's names have, merges every [[when]] whose condition holds, in order,
/// and gives a decoder that is `like` the stack what it does not say itself. Of two tables the later one's
/// keys win; a table in braces replaces the earlier one as a whole.
/// @param place  what messages begin with
/// @throws FormatError if the map is malformed, [expect] or [[refuse]] says that config.json asks for
///         something else
ResolvedMap resolved_map(const toml::table& file, const ModelFacts& facts, const std::string& place);

/// Reads a map. Missing keys have the default that most models have: kv_heads = heads, d_head = d_model / heads,
/// score_scale = 1/sqrt(d_head). Nothing else is guessed.
/// @throws FormatError as resolved_map(), and naming the key that is missing, not known, or of another type
ModelMap model_map_of(const toml::table& file, const ModelFacts& facts, const std::string& place);

/// The map file of a family, data/models/families/FAMILY.toml, on top of the family that it is based on.
/// @throws FormatError beginning with `place` if there is none of that name
toml::table family_file(const std::string& family, const std::string& place);

/// Asks config.json for every key that a map names, whichever of its conditions hold: a key that was not
/// asked for is a setting that the map does not know (ModelConfig::unread()).
void ask_for_all(const toml::node& map, const ModelConfig& config);

/// The family whose `classes` a class of transformers belongs to: "XLMRobertaForMaskedLM" to "xlm-roberta".
/// Empty: none.
std::string family_of_class(const std::string& name);

}  // namespace headwave
