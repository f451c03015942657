#pragma once

#include <memory>

#include "../../core/model/source.h"

namespace headwave {

/// Removes documents that equal an earlier one from a source.
///
/// Uncertainty is counted over documents, as if each said something new. A document that comes twice does
/// not, and its noise looks like a fact that was found again. So documents with equal ids and stored
/// arrays count once. A document that cannot be read stays, so that its reader is told why. The provenance
/// says how many documents were removed (`equal_documents`).
///
/// @param quick  the same documents with less content, cheaper to read: only those that are equal
///               there are compared in full; null: all are read in full
std::unique_ptr<Source> distinct_documents(std::unique_ptr<Source> source, const Source* quick = nullptr);

}  // namespace headwave
