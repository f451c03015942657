#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/numbers/matrix.h"
#include "array_map.h"

namespace headwave {

// Names of arrays of several layers and documents: "{document}/layer_{layer}/hidden". {layer} stands for a whole number,
// {document} for any text without '/'.

/// What the marks stand for.
struct NameMatch {
  Index number = -1;     ///< of {layer}; -1: there is none
  std::string digits;    ///< the same as it is written: "07"
  std::string document;  ///< of {document}; empty: there is none
};

/// Whether a name fits a pattern; of several ways the one with the shortest document.
bool fits_pattern(std::string_view pattern, std::string_view name, NameMatch& match);

[[nodiscard]] bool has_layer_mark(std::string_view pattern);
[[nodiscard]] bool has_document_mark(std::string_view pattern);

/// The pattern with a number in the place of {layer}.
std::string name_of_layer(std::string pattern, const std::string& digits);

/// The pattern with a text in the place of {document}.
std::string name_of_document(std::string pattern, const std::string& document);

/// By number where all are numbers, else by their bytes.
void sort_documents(std::vector<std::string>& documents);

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
std::vector<ArrayAxis> usual_axes(std::size_t count, bool projected, bool layers_named, bool one_document);

/// The same of finished attention: as many of layer, document, head, query, key, from the last on, as there are. Of four
/// without a known layer nobody knows what the first counts, unless there is but one document.
std::vector<ArrayAxis> usual_attention_axes(std::size_t count, bool layer_known, bool one_document);

}  // namespace headwave
