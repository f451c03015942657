#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../../data/listing/listing.h"

namespace headwave::cli {

/// The text of `inspect --json` (docs/inspect-json.md): a listing, and for a headwave result the findings
/// about its heads.
std::string listing_json(const Listing& listing);

/// The same for the result in a folder; a list if there is one for each kind of attention.
/// @throws IoError and FormatError as read_result()
std::string folder_json(const std::filesystem::path& folder);

/// Names of the Fields of a listed result that its table of heads is made of, those that ask for a column among them.
std::vector<std::string> fields_of_heads(const Listing& listing);

/// An attribute as JSON.
std::string attribute_json(const Attribute& attribute);

/// Whether a listing is of a headwave result that can be read to its end.
bool is_result(const Listing& listing);

}  // namespace headwave::cli
