#pragma once

#include <optional>
#include <string>
#include <vector>

#include "array_map.h"
#include "named_arrays.h"

namespace headwave {

/// One kind of array of one layer.
struct LayerArray {
  std::string name;             ///< {document} in it stands for the document
  std::vector<ArrayAxis> axes;  ///< as many as the array has
  Index entry = -1;             ///< which along the axis of layers; -1: there is no such axis

  [[nodiscard]] bool has(ArrayAxis axis) const;
};

/// What is stored of one layer: states, or queries and keys, or all of them; or finished attention.
struct FoundLayer {
  Index layer = 0;
  std::optional<LayerArray> states, queries, keys, attention;

  /// Those that there are.
  [[nodiscard]] std::vector<const LayerArray*> parts() const;
};

/// What was found in a file.
struct FoundArrays {
  std::vector<FoundLayer> layers;                   ///< ascending
  std::vector<std::string> documents;               ///< what {document} stands for, in order; empty: names have none
  std::string ids, special, tokens, document_name;  ///< names; empty: there is none
  std::string attention_mask;                       ///< the same; it has to be 1 of every token
};

/// How arrays are looked for.
struct ArraySearch {
  std::optional<ArrayMap> map;  ///< what they are; nothing: by the names that are usual
  std::optional<Index> layer;   ///< that states enter of which nothing says the layer; nothing: 0
  bool one_document = false;    ///< the arrays are of one document: three axes are layer, token, width
};

/// Finds what is stored. Without a map states are looked for, each name as far as the one before it is not found, as
///
///     hidden_states/layer_L  hidden_states_layer_L  hidden_states/L  hidden_states_L  layer_L/hidden_states  layer_L
///     hidden_states  states  embeddings  last_hidden_state; or the only array that there is
///
/// and queries and keys as the first four with their own word; where there is nothing of these, finished attention by
/// its usual_attention_names(), or the only array of five axes. Axes are (token, width), (document, token, width),
/// (layer, document, token, width) of states, where a name does not say the layer; of queries and keys
/// (document, head, token, width) where there are four; of attention as many of (layer, document, head, query, key),
/// from the last on, as there are.
/// @throws FormatError naming the array, its shape and what was expected, or the nearest names if there is none of that
///         name; ShapeError if a layer was asked for but the names say them
FoundArrays find_arrays(const NamedArrays& arrays, const ArraySearch& search);

/// (documents, T, width), the width that of all heads; of finished attention the number of heads.
struct ArrayExtent {
  Index documents = 1, length = 0, width = 0;
  Index heads = 0;  ///< along an axis of their own; 0: there is none
};

/// @throws FormatError if there is no such array, it has another shape, or attention not as many keys as queries
ArrayExtent array_extent(const NamedArrays& arrays, const LayerArray& part, const std::string& document);

}  // namespace headwave
