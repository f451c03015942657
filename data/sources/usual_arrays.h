#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "stored_map.h"

namespace headwave {

// What arrays are called, and which axes they have, where nobody says it.

/// "queries/layer_{layer}" and the other names of a kind of array that say the layer, the likeliest first.
std::vector<std::string> names_by_layer(const std::string& word);
/// Names of hidden states, the likeliest first.
const std::vector<std::string>& usual_state_names();
/// Names of finished attention, the likeliest first.
const std::vector<std::string>& usual_attention_names();

/// Axes of states, or of queries or keys, by their number.
/// @param projected     queries or keys
/// @param layers_named  the name says the layer
/// @param one_document  each document has arrays of its own
/// @returns nothing where none is usual
std::vector<StoredAxis> usual_axes(std::size_t count, bool projected, bool layers_named, bool one_document);

/// The same of finished attention: as many of layer, document, head, query, key, from the last on, as there are. Of four
/// without a known layer nobody knows what the first counts, unless there is but one document.
std::vector<StoredAxis> usual_attention_axes(std::size_t count, bool layer_known, bool one_document);

}  // namespace headwave
