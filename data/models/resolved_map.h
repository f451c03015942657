#pragma once

// Included only by sources that read maps, never by a header that others see.

#include <map>
#include <string>
#include <string_view>

#include "../files/toml_reader.h"
#include "families.h"
#include "map_expression.h"

namespace headwave {

/// A map file after all conditions are decided: the rest describes one model and names its tensors.
struct ResolvedMap {
  toml::table table;
  std::map<std::string, std::string> names;  ///< defined by [let]
};

/// Decides everything in a map that depends on the model. Merges it into the family that `base` names, finds
/// which of `prefixes` the checkpoint's names have, applies [[refuse]] and [expect], merges every [[when]]
/// whose condition holds, in order, and fills a decoder that is `like` the stack. Of two tables the later
/// one's keys win; a table in braces replaces the earlier one as a whole.
/// @param place  what messages begin with
/// @throws FormatError if the map is malformed, or [expect] or [[refuse]] rejects config.json
ResolvedMap resolved_map(const toml::table& file, const ModelFacts& facts, const std::string& place);

/// Reads a map. Missing keys get the usual defaults: kv_heads = heads, d_head = d_model / heads, score_scale
/// = 1/sqrt(d_head). Nothing else is guessed.
/// @throws FormatError as resolved_map(), and naming a key that is missing, unknown or of another type
ModelMap model_map_of(const toml::table& file, const ModelFacts& facts, const std::string& place);

/// The map file of a family, merged into that of the family that it is based on.
/// @throws FormatError beginning with `place` if there is no such family
toml::table family_file(const std::string& family, const std::string& place);

/// @throws FormatError always: what a key of a map should be
[[noreturn]] void fail_map_key(std::string_view place, std::string_view key, std::string_view expected);

/// Asks config.json for every key that a map names, whether or not its condition holds. Keys that were not
/// asked for are settings that the map does not know (ModelConfig::unread()).
void ask_for_all(const toml::node& map, const ModelConfig& config);

/// The family that a class of transformers belongs to by its `classes`: "xlm-roberta" for
/// "XLMRobertaForMaskedLM"; empty if there is none.
std::string family_of_class(const std::string& name);

}  // namespace headwave
