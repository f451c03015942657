#pragma once

#include <vector>

#include "../drawing/data_table.h"
#include "head_findings.h"

namespace headwave {

/// What was found about each head as numbers and words for programs, a row per head in the order given; undefined numbers
/// are NaN, absent words empty. docs/inspect-json.md says what the columns are. The last three, about what was planted, are
/// there only where something was.
DataTable head_values(const std::vector<HeadFinding>& findings);

}  // namespace headwave
