#pragma once

#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/numbers/matrix.h"

namespace headwave {

// What comparison() reads of a result: entries of every head, rows being (layer, head). All throw ShapeError where a Field has
// other axes than described.

/// The Field of that name; nullptr if there is none, or only a NaN without axes that says why.
const Field* kept_field(const Result& result, const char* name);

/// @param name   of a Field (layer, head); nullptr: none
/// @param slice  of the axis of texts before these, "all" of pairs say; empty: there is none
/// @returns (rows)  NaN if the result has no such Field
Vector head_numbers(const Result& result, const char* name, const char* slice, Index rows);

/// The meaning of every head's flag.
/// @returns (rows)  empty if the result has no such Field
std::vector<std::string> head_words(const Result& result, const char* name, const char* slice, Index rows);

/// The offset that a result found, in tokens; 0 of a head whose maximum is at itself, NaN of one without.
Vector found_offsets(const Result& result, Index rows);

/// Mean attention weight at every offset in each document: what is summed along a diagonal over its pairs; between two
/// sequences over the pairs that documents have there on average.
/// @returns a matrix (rows, offsets) per document; none if the result does not keep documents apart
std::vector<Matrix> document_profiles(const Result& result, Index rows);

}  // namespace headwave
