#pragma once

#include <vector>

#include "../drawing/data_table.h"
#include "head_findings.h"

namespace headwave {

/// What was found about each head as numbers and words for programs, a row per head in the order given; undefined numbers
/// are NaN, absent words empty. docs/inspect-json.md says what the columns are. `on_grid` is there of images
/// alone, and the last three, about what was planted, only where something was.
DataTable head_values(const std::vector<HeadFinding>& findings);

}  // namespace headwave
