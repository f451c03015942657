#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../../core/model/source.h"
#include "stored_arrays.h"

namespace headwave {

/// "queries/layer_2" of "queries" and 2.
std::string at_layer(const char* what, Index layer);

/// What is stored of one layer.
struct StoredLayerNames {
  Index layer = 0;
  bool states = false, projected = false;  ///< hidden_states; queries and keys
};

/// Every layer of which states, or queries and keys, are stored, in order.
/// @throws FormatError if there is none, or of one only the queries or only the keys
std::vector<StoredLayerNames> stored_layers(const StoredArrays& arrays);

/// (documents, T, width), where a single document may have been stored as (T, width).
struct StoredExtent {
  Index documents = 0, length = 0, width = 0;
  bool single = false;
  bool operator==(const StoredExtent&) const = default;
};

/// @throws FormatError if there is no such array, or it has another shape
StoredExtent stored_extent(const StoredArrays& arrays, const std::string& name);

/// The stored arrays, document by document.
/// @param at_most  documents; 0: all
/// @throws FormatError if the layers differ in documents or length, there are fewer documents than asked for, or
///         'tokens' does not fit them
std::unique_ptr<Source> stored_documents(std::shared_ptr<const StoredArrays> arrays,
                                         std::vector<StoredLayerNames> layers, Index at_most);

}  // namespace headwave
