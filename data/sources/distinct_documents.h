#pragma once

#include <functional>
#include <memory>
#include <string>

#include "../../core/model/source.h"

namespace headwave {

/// A text that differs between two documents only if they are not equal, and is cheaper than reading all of
/// them.
using QuickLook = std::function<std::string(Index document)>;

/// Removes documents that equal an earlier one from a source.
///
/// Uncertainty is counted over documents, as if each said something new. A document that comes twice does
/// not, and its noise looks like a fact that was found again. So documents with equal ids, signals and stored
/// arrays count once. A document that cannot be read stays, so that its reader is told why. The provenance
/// says how many documents were removed (`equal_documents`).
///
/// @param quick  documents that differ in it are not equal, others are compared in full; empty: all are read
///               in full
std::unique_ptr<Source> distinct_documents(std::unique_ptr<Source> source, const QuickLook& quick = {});

}  // namespace headwave
