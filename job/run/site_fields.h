#pragma once

#include <vector>

#include "../../core/fields/field.h"
#include "document_pass.h"

namespace headwave {

/// Everything that a job finds of one kind of attention, one analysis after the other: those that JobOptions::wants().
/// @param first    the first document, whose words and maps are shown
/// @param threads  at least 1; changes no digit
/// @param report   is told of each analysis by its name
std::vector<Field> site_fields(const Model& model, const Document& first, const Passed& passed,
                               const JobOptions& options, int threads, StageReport& report);

}  // namespace headwave
