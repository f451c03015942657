#pragma once

#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../drawing/terminal_table.h"

namespace headwave {

/// Two results head by head, those that changed first: "-1 > +1 *", first > second, the star where that is beyond the
/// interval; one text where both say the same. Weights have the offset beside them where the profile changed most.
/// @param all  every head; else those that changed
/// @returns no columns where the result is no comparison
/// @throws ShapeError if the Fields have other axes than described
std::vector<TableColumn> comparison_columns(const Result& result, bool all);

/// How many heads changed, and the chance of that by itself: "2 of 72 heads changed beyond the intervals (*, ...)"; or why
/// no document decides. Empty where the result is no comparison.
std::string comparison_sentence(const Result& result);

/// Rows (layer, head) of a comparison, those that changed first.
/// @throws ShapeError if ranks are not each row's own
std::vector<std::size_t> ranked_rows(const Result& result);

}  // namespace headwave
