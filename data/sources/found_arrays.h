#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/attention/block.h"
#include "named_arrays.h"

namespace headwave {

/// What an axis of an array counts. Finished attention has queries and keys where other arrays have tokens
/// and their width.
enum class ArrayAxis { layer, document, head, token, width, query, key };
constexpr std::size_t array_axis_kinds = 7;

/// Reads axes in their order: "layer,document,token,width", "layer,document,head,query,key".
/// @returns nothing where a word is no axis or comes twice, or there are neither token and width nor query
///         and key
std::optional<std::vector<ArrayAxis>> array_axes(std::string_view text);
/// What array_axes() expects, for messages.
constexpr const char* expected_axes =
    "some of layer, document, head, token, width in their order, token and width among them; of finished attention "
    "query and key in their place";
/// "layer, document, token, width"
std::string axes_text(const std::vector<ArrayAxis>& axes);

/// Facts about the attention of stored arrays, as numbers beside them state them. Unset: not stated.
struct AttentionFacts {
  std::optional<Index> heads, d_head, window;
  std::optional<bool> causal, turned;
  std::optional<double> scale;

  AttentionFacts() = default;
  /// @throws FormatError if a number is out of range
  explicit AttentionFacts(const NamedArrays& arrays);
};

// Patterns of names: in "{document}/layer_{layer}/hidden" {layer} is a whole number and {document} any text
// without '/'.

/// The array of one kind (states, queries, keys or attention) of one layer.
struct LayerArray {
  std::string name;             ///< may have {document} in it
  std::vector<ArrayAxis> axes;  ///< as many as the array has
  Index entry = -1;             ///< of the layer along an axis of layers; -1: there is no such axis

  /// Its name, of one document.
  [[nodiscard]] std::string of(const std::string& document) const;
};

/// The arrays of one layer: states, or queries and keys, or all of these; or finished attention.
struct FoundLayer {
  Index layer = 0;
  std::optional<LayerArray> states, queries, keys, attention;

  /// The arrays that are there.
  [[nodiscard]] std::vector<const LayerArray*> parts() const;
};

/// The arrays of a file by their meaning.
struct FoundArrays {
  std::vector<FoundLayer> layers;                   ///< ascending
  std::vector<std::string> documents;               ///< values of {document}, in order; empty: names have none
  std::string ids, special, tokens, document_name;  ///< names of arrays; empty: missing
  std::string attention_mask;                       ///< the same; its entries must be 1
};

/// What is known before the search for arrays.
struct ArraySearch {
  std::string dataset = {};          ///< pattern of the name of states or finished attention; empty: the usual names
  std::vector<ArrayAxis> axes = {};  ///< of the dataset; empty: the default axes for their number
  std::optional<Index> layer = {};   ///< layer that states enter if names do not say it; unset: 0
};

/// Finds states, queries and keys, or finished attention among the arrays of a file. Without a dataset
/// states are the first of
///
///     hidden_states/layer_L  hidden_states_layer_L  hidden_states; or the only array
///
/// and queries and keys have these names with their own word. If none of them is there, finished attention has them with
/// `attentions`, or is the only array of five axes. Axes are (token, width), (document, token, width) or, where the name
/// does not say the layer, (layer, document, token, width) of states; (document, head, token, width) of queries and keys
/// with four axes; the last ones of (layer, document, head, query, key) of attention.
/// @throws FormatError naming the array, its shape and what was expected, or the nearest names; ShapeError if
///         a layer was given though names say it
FoundArrays find_arrays(const NamedArrays& arrays, const ArraySearch& search);

/// The sizes of an array: (documents, T, width), the width of all heads together; of finished attention the
/// width is the number of heads.
struct ArrayExtent {
  Index documents = 1, length = 0, width = 1;
  Index heads = 0;  ///< along an axis of heads; 0: there is no such axis
};

/// The sizes of an array.
/// @param document  the value of {document}
/// @throws FormatError if there is no such array, it has another shape, or attention has not as many keys as
///         queries
ArrayExtent array_extent(const NamedArrays& arrays, const LayerArray& part, const std::string& document);

}  // namespace headwave
