#pragma once

#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../drawing/terminal_table.h"

namespace headwave {

/// Compares two results head by head, changed heads first. A cell is "first -> second", with a star if the
/// change is beyond its interval, or one text if both are the same.
/// @param all   every head; otherwise only heads that changed
/// @param wide  every measure and word; otherwise what fits a terminal: offset, weight at the first result's
///              offset, bits, and which measures changed beyond their intervals
/// @returns no columns if the result is not a comparison
/// @throws ShapeError if the Fields have other axes than described, or ranks are not a permutation
std::vector<TableColumn> comparison_columns(const Result& result, bool all, bool wide);

/// Explains the cells and columns of the wide comparison_columns(). Empty if the result is not a comparison.
std::string comparison_note(const Result& result);

/// How many heads changed, and the probability that any does by chance: "2 of 72 heads changed beyond the
/// intervals (...)"; or why documents cannot decide. Empty if the result is not a comparison.
std::string comparison_sentence(const Result& result);

/// The settings in which the two runs differ, model first: "interventions: none -> shuffled-words".
std::vector<std::string> other_settings(const Result& result);

/// The comparison in one paragraph: what was compared, how the runs differ, and how many heads changed. Empty
/// if the result is not a comparison.
std::string comparison_paragraph(const Result& result);

}  // namespace headwave
