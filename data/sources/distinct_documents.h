#pragma once

#include <functional>
#include <memory>
#include <string>

#include "../../core/model/source.h"

namespace headwave {

/// What tells whether two documents may be equal, without reading all of them.
using QuickLook = std::function<std::string(Index document)>;

/// The source without documents that are equal to an earlier one.
///
/// Uncertainty is counted over documents, as if each said something of its own. One that comes twice says nothing new:
/// noise that comes twice looks like a fact that was found again. So documents of equal ids, signals and stored arrays
/// count once. One that cannot be read is equal to none, and stays: whoever asks for it is told why. How many were left out is in the provenance (`equal_documents`); where none is equal the source stays as
/// it is.
///
/// @param quick  of a document; two that differ in it are not equal. Empty: all of each document is read
std::unique_ptr<Source> distinct_documents(std::unique_ptr<Source> source, const QuickLook& quick = {});

}  // namespace headwave
