#pragma once

#include <vector>

#include "comparison.h"

namespace headwave {

/// What two results' provenance says differently, model first; times, threads and paths of commands left out.
std::vector<ProvenanceChange> provenance_changes(const Attributes& first, const Attributes& second);

/// Whether both looked at the same documents: the same source, by its digest, cut in the same way.
bool same_documents(const Result& first, const Result& second);

/// @throws ShapeError that names what the two differ in: layers, heads, reach or axes, kind of attention
void require_comparable(const Result& first, const Result& second, const std::vector<std::string>& names);

}  // namespace headwave
