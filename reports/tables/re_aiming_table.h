#pragma once

#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../drawing/terminal_table.h"

namespace headwave {

/// A line for every head whose keys were re-aimed by u tokens: where its attention lands for each u, the slope of that
/// against u, -1 where position is all there is, and how much of it follows.
/// @returns no columns if the result is not of re-aiming
/// @throws ShapeError if the Fields have other axes than described
std::vector<TableColumn> re_aiming_columns(const Result& result);

/// What was re-aimed and what happened: "The keys of L0H2 and L1H8 were re-aimed by u = -4 to +4 tokens: the offset at
/// which they look moved by exactly -u in 15 of 16 trials." A trial is one head and one u other than 0.
/// @returns nothing if the result is not of re-aiming
/// @throws ShapeError if the Fields have other axes than described
std::string re_aiming_sentence(const Result& result);

}  // namespace headwave
