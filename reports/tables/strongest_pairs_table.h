#pragma once

#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/fields/head_name.h"
#include "../drawing/terminal_table.h"

namespace headwave {

/// The Fields that strongest_pair_columns() reads.
const std::vector<std::string>& strongest_pair_fields();

/// A line for each of a head's strongest query-key pairs over all documents: weight, offset, document, and the text with
/// `[query]` and `(key)` marked; where tokens between them are missing stands "...".
/// @throws ShapeError if the result has no such pairs or no such head, or Fields have other axes than described
std::vector<TableColumn> strongest_pair_columns(const Result& result, const HeadName& head);

}  // namespace headwave
