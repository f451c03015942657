#pragma once

#include <filesystem>
#include <string>

#include "../../core/fields/field.h"
#include "../../data/listing/listing.h"

namespace headwave::cli {

/// What `inspect --json` prints, docs/inspect-json.md: a listing, and of a headwave result what was found about its heads.
std::string listing_json(const Listing& listing);

/// The same of the result in a folder; where each kind of attention has one there, a list of them.
/// @throws IoError and FormatError as read_result()
std::string folder_json(const std::filesystem::path& folder);

/// A remark as JSON.
std::string attribute_json(const Attribute& attribute);

/// Whether a listing is that of a headwave result that can be read to its end.
bool is_result(const Listing& listing);

}  // namespace headwave::cli
