#pragma once

#include <vector>

#include "../../core/fields/field.h"
#include "../drawing/terminal_table.h"

namespace headwave {

/// One row per checkpoint of a training run: its name, how many heads have a measured offset, and how many heads have each
/// verdict of the account.
/// @returns no columns if the result is not of checkpoints
/// @throws ShapeError if the Fields have other axes than described
std::vector<TableColumn> checkpoint_columns(const Result& result);

/// One row per head, the strongest first: from which checkpoint on it has the offset of the last one, from which on it is
/// positional, and the strength of its profile at the last.
/// @returns no columns if the result is not of checkpoints
/// @throws ShapeError if the Fields have other axes than described, or name an unknown checkpoint
std::vector<TableColumn> arrival_columns(const Result& result);

}  // namespace headwave
