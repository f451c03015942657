#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../../core/numbers/matrix.h"

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

}  // namespace headwave
