#pragma once

#include <vector>

#include "../../core/fields/field.h"
#include "../drawing/terminal_table.h"

namespace headwave {

/// A line for every checkpoint of a training run: its name, how many heads have a measured offset that stands out, and of
/// how many their account says what.
/// @returns no columns where the result is of no checkpoints
/// @throws ShapeError if the Fields have other axes than described
std::vector<TableColumn> checkpoint_columns(const Result& result);

/// A line for every head: from which checkpoint on its offset is that of the last one, and from which on it is
/// positional, with the strength of its profile at the last; the strongest first.
/// @returns no columns where the result is of no checkpoints
/// @throws ShapeError if the Fields have other axes than described, or name a checkpoint that is not there
std::vector<TableColumn> arrival_columns(const Result& result);

}  // namespace headwave
