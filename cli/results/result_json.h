#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../../data/listing/listing.h"

namespace headwave::cli {

/// The text of `inspect --json` (docs/inspect-json.md): a listing and, for a headwave result, the findings
/// about its heads.
std::string listing_json(const Listing& listing);

/// The same for the result in a folder; a list if each kind of attention has one.
/// @throws IoError and FormatError as read_result()
std::string folder_json(const std::filesystem::path& folder);

/// Names of the Fields in the table of heads of a listed result, with those that ask for a column.
std::vector<std::string> fields_of_heads(const Listing& listing);

/// An attribute as JSON.
std::string attribute_json(const Attribute& attribute);

/// Whether a listing is that of a headwave result that can be read to its end.
bool is_result(const Listing& listing);

}  // namespace headwave::cli
