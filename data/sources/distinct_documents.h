#pragma once

#include <memory>

#include "../../core/model/source.h"

namespace headwave {

/// A source without the documents that equal an earlier one.
///
/// Uncertainty is estimated over documents, as if they were independent. The noise of a repeated document
/// would look like a replicated fact. So documents with equal ids, special tokens and stored arrays count
/// once; names and texts of tokens do not matter. A document that cannot be read stays, so that its reader
/// gets the error. The provenance says how many were removed (`equal_documents`).
///
/// @param quick  the same documents with less content, cheaper to read: only documents that are equal there
///               are compared in full; null: all are read in full
std::unique_ptr<Source> distinct_documents(std::unique_ptr<Source> source, const Source* quick = nullptr);

}  // namespace headwave
