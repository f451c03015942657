#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../../data/listing/listing.h"

namespace headwave::cli {

/// Makes the output of `inspect --json` (docs/inspect-json.md): a listing of the file and, for a headwave
/// result, what was found about its heads.
std::string listing_json(const Listing& listing);

/// Makes the output of `inspect --json` for the result in a folder; a list of such outputs if each kind of
/// attention has its own result.
/// @throws IoError and FormatError as read_result()
std::string folder_json(const std::filesystem::path& folder);

/// Names of the Fields that a listed result's table of heads needs, with those that ask for a column.
std::vector<std::string> fields_of_heads(const Listing& listing);

/// Formats an attribute as JSON.
std::string attribute_json(const Attribute& attribute);

/// Whether a listing describes a headwave result that can be read to its end.
bool is_result(const Listing& listing);

}  // namespace headwave::cli
