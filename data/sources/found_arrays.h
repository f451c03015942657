#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/numbers/matrix.h"
#include "array_facts.h"
#include "named_arrays.h"

namespace headwave {

// Patterns of names: in "{document}/layer_{layer}/hidden" {layer} is a whole number and {document} any text
// without '/'.

/// The pattern with {document} replaced.
std::string name_of_document(std::string pattern, const std::string& document);

/// The array of one kind (states, queries, keys or attention) of one layer.
struct LayerArray {
  std::string name;             ///< may have {document} in it
  std::vector<ArrayAxis> axes;  ///< as many as the array has
  Index entry = -1;             ///< of the layer along an axis of layers; -1: there is no such axis

  [[nodiscard]] bool has(ArrayAxis axis) const;
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
///     hidden_states/layer_L  hidden_states_layer_L  hidden_states/L  hidden_states_L  layer_L/hidden_states  layer_L
///     hidden_states  states  embeddings  last_hidden_state; or the only array
///
/// and queries and keys have the first four names with their own word. If none of these is there, finished
/// attention is the first of the same names with attentions or attention, or the only array of five axes. Axes are (token,
/// width), (document, token, width) or, where the name does not say the layer, (layer, document, token,
/// width) of states; (document, head, token, width) of queries and keys with four axes; the last ones of
/// (layer, document, head, query, key) of attention.
/// @throws FormatError naming the array, its shape and what was expected, or the nearest names; ShapeError if
///         a layer was given though names say it
FoundArrays find_arrays(const NamedArrays& arrays, const ArraySearch& search);

/// The sizes of an array: (documents, T, width), the width of all heads together; of finished attention the
/// width is the number of heads.
struct ArrayExtent {
  Index documents = 1, length = 0, width = 0;
  Index heads = 0;  ///< along an axis of heads; 0: there is no such axis
};

/// The sizes of an array.
/// @param document  the value of {document}
/// @throws FormatError if there is no such array, it has another shape, or attention has not as many keys as
///         queries
ArrayExtent array_extent(const NamedArrays& arrays, const LayerArray& part, const std::string& document);

}  // namespace headwave
