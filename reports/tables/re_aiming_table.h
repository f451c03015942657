#pragma once

#include <vector>

#include "../../core/fields/field.h"
#include "../drawing/terminal_table.h"

namespace headwave {

/// A line for every head whose keys were re-aimed by u tokens: where its attention lands for each u, the slope of that
/// against u, -1 where position is all there is, and how much of it follows.
/// @returns no columns if the result is not of re-aiming
/// @throws ShapeError if the Fields have other axes than described
std::vector<TableColumn> re_aiming_columns(const Result& result);

}  // namespace headwave
