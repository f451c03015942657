#pragma once

#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../drawing/terminal_table.h"

namespace headwave {

/// Two results head by head, changed heads first: "-1 -> +1 *" is first -> second, with a star if the change is beyond the
/// interval; one text if both are the same. Beside the weights is the offset at which the profile changed most.
/// @param all   every head; else only heads that changed
/// @param wide  every measure and word; else what fits a terminal: offset, weight at the first result's offset, bits, and
///              which measures changed beyond their intervals
/// @returns no columns if the result is not a comparison
/// @throws ShapeError if the Fields have other axes than described, or ranks are not a permutation
std::vector<TableColumn> comparison_columns(const Result& result, bool all, bool wide);

/// What cells and columns of the wide comparison_columns() mean. Empty if the result is not a comparison.
std::string comparison_note(const Result& result);

/// How many heads changed, and the probability of that by chance: "2 of 72 heads changed beyond the intervals (...)"; or
/// why documents cannot decide. Empty if the result is not a comparison.
std::string comparison_sentence(const Result& result);

/// What the two runs were told differently, model first: "interventions: none -> shuffled-words".
std::vector<std::string> other_settings(const Result& result);

/// Everything in one paragraph: what was compared, what differed between the runs, and what became of the heads. Empty if
/// the result is not a comparison.
std::string comparison_paragraph(const Result& result);

}  // namespace headwave
