#pragma once

#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../drawing/terminal_table.h"

namespace headwave {

/// A line for under the table of heads, where a result looked for the offset that positions alone predict and the model
/// has no position table: that there is none, and what its positions are instead. Empty elsewhere.
std::string position_note(const Result& result);

/// head_table() with lines under it: that one, the predictions that are undefined for every head, and the grid of
/// patches; the lines alone where the table would hold nothing but names.
/// @param beside  see head_table()
/// @throws ShapeError as head_table
std::string noted_head_table(const Result& result, const std::vector<TableColumn>& beside = {});

}  // namespace headwave
