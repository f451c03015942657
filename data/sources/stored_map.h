#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stated_attention.h"

namespace headwave {

/// What an axis of a stored array counts. Finished attention has queries and keys where other arrays have tokens and
/// their width.
enum class StoredAxis { layer, document, head, token, width, query, key };
constexpr std::size_t stored_axis_kinds = 7;

/// Axes in their order from a text: "layer,document,token,width", "layer,document,head,query,key".
/// @returns nothing where a word is none of these or stands twice, or they have neither token and width alone nor query
///          and key alone
std::optional<std::vector<StoredAxis>> stored_axes(std::string_view text);
/// What it takes, for messages.
constexpr const char* expected_axes =
    "some of layer, document, head, token, width in their order, token and width among them; of finished attention "
    "query and key in their place";
/// Whether they are those of finished attention.
bool has_keys(const std::vector<StoredAxis>& axes);
/// The same back: "layer, document, token, width".
std::string axes_text(const std::vector<StoredAxis>& axes);

/// Where arrays of one kind lie, of all layers and documents.
struct StoredDataset {
  std::string name;  ///< {layer}: the layer's number, {document}: any text without '/'; empty: none is stored
  std::vector<StoredAxis> axes;  ///< empty: as their number says
  Index first_number = 0;        ///< what {layer} begins with
  Index first_layer = 0;         ///< the layer that the first of them enters
  std::vector<Index> layers;     ///< those that the axis of layers counts; empty: first_layer, first_layer + 1, ...
};

/// What the arrays of somebody else's file are.
struct StoredMap {
  StoredDataset states, queries, keys;
  StoredDataset attention;  ///< finished; then none of the others
  std::string ids, special, tokens, document_name;
  StatedAttention stated;  ///< counts more than what the file says
};

/// A map of stored arrays as TOML; docs/stored-states.md explains every key.
/// @throws IoError if the file cannot be read; FormatError naming the file and the key
StoredMap stored_map_file(const std::filesystem::path& file);

}  // namespace headwave
