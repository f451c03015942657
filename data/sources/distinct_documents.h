#pragma once

#include <memory>

#include "../../core/model/source.h"

namespace headwave {

/// A source without the documents that are equal to an earlier document.
///
/// Uncertainty is estimated over documents, as if they were independent. The noise of a repeated document
/// would look like a replicated result. So documents with equal ids, special tokens and stored arrays count
/// once. Names, and tokens as strings, are not compared. A document that cannot be read stays, so that the
/// code that reads it gets the error. The provenance says how many were removed (`equal_documents`).
///
/// @param quick  the same documents with less content, cheaper to read. Only documents that are equal in
///               `quick` are compared in full. Null: all documents are read in full
std::unique_ptr<Source> distinct_documents(std::unique_ptr<Source> source, const Source* quick = nullptr);

}  // namespace headwave
