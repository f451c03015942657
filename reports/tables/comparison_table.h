#pragma once

#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../drawing/terminal_table.h"

namespace headwave {

/// Table of the result of comparison(), one row per head, changed heads first. A cell is "first -> second",
/// with a star if the interval of the change excludes 0, or a single text if both results give the same.
/// @param all   true: every head; false: only heads that changed
/// @param wide  true: every measure and word; false: what fits a terminal, which is offset, weight at the
///              first result's offset, bits, and the names of measures that changed beyond their intervals
/// @returns no columns if the result is not a comparison
/// @throws ShapeError if a Field lacks the axes that comparison() gives it, or ranks are not a permutation
std::vector<TableColumn> comparison_columns(const Result& result, bool all, bool wide);

/// Explains the cells and columns of the wide comparison_columns(). Empty if the result is not a comparison.
std::string comparison_note(const Result& result);

/// Says how many heads changed, and the probability that any does by chance: "2 of 72 heads changed beyond
/// the intervals (...)". If documents cannot decide, says why. Empty if the result is not a comparison.
std::string comparison_sentence(const Result& result);

/// The settings in which the two runs differ, the model's first: "interventions: none -> shuffled-words".
std::vector<std::string> other_settings(const Result& result);

/// Summarises the comparison in one paragraph: what was compared, how the runs differ, and how many heads
/// changed. Empty if the result is not a comparison.
std::string comparison_paragraph(const Result& result);

}  // namespace headwave
