#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/attention/block.h"

namespace headwave {

class NamedArrays;

/// What is known of stored attention beside the arrays; nothing where nobody says.
struct AttentionFacts {
  std::optional<Index> heads, d_head, window;
  std::optional<bool> causal, turned;
  std::optional<double> scale;
  bool operator==(const AttentionFacts&) const = default;
};

/// "num_heads 8, causal 1"; "nothing" where nothing is said.
std::string text_of(const AttentionFacts& stated);

/// What a map says, and where that is silent the numbers beside the arrays.
/// @throws FormatError if one is out of range
AttentionFacts attention_facts(const NamedArrays& arrays, const AttentionFacts& mapped);

/// What is said must be what the model does: states of another model would give attention that nobody computed.
/// @param path  for messages
/// @throws ShapeError if they differ
void require_same_attention(const std::filesystem::path& path, const AttentionFacts& stated, const BlockSpec& spec);

/// What an axis of a stored array counts. Finished attention has queries and keys where other arrays have tokens and
/// their width.
enum class ArrayAxis { layer, document, head, token, width, query, key };
constexpr std::size_t array_axis_kinds = 7;

/// Axes in their order from a text: "layer,document,token,width", "layer,document,head,query,key".
/// @returns nothing where a word is none of these or stands twice, or they have neither token and width alone nor query
///          and key alone
std::optional<std::vector<ArrayAxis>> array_axes(std::string_view text);
/// What it takes, for messages.
constexpr const char* expected_axes =
    "some of layer, document, head, token, width in their order, token and width among them; of finished attention "
    "query and key in their place";
/// Whether they are those of finished attention.
bool has_keys(const std::vector<ArrayAxis>& axes);
/// The same back: "layer, document, token, width".
std::string axes_text(const std::vector<ArrayAxis>& axes);

/// Where arrays of one kind lie, of all layers and documents.
struct MappedArray {
  std::string name;  ///< {layer}: the layer's number, {document}: any text without '/'; empty: none is stored
  std::vector<ArrayAxis> axes;  ///< empty: as their number says
  Index first_number = 0;       ///< what {layer} begins with
  Index first_layer = 0;        ///< the layer that the first of them enters
  std::vector<Index> layers;    ///< those that the axis of layers counts; empty: first_layer, first_layer + 1, ...
};

/// What the arrays of somebody else's file are.
struct ArrayMap {
  MappedArray states, queries, keys;
  MappedArray attention;  ///< finished; then none of the others
  std::string ids, special, tokens, document_name;
  AttentionFacts stated;  ///< counts more than what the file says
};

/// A map of stored arrays as TOML; docs/stored-states.md explains every key.
/// @throws IoError if the file cannot be read; FormatError naming the file and the key
ArrayMap read_array_map(const std::filesystem::path& file);

}  // namespace headwave
