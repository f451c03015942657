#pragma once

#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../drawing/terminal_table.h"

namespace headwave {

/// What was found about each head, one row per head: its name, the measured offset and the mean attention weight there in
/// multiples of chance, the account's verdict with the profile's strength before it, the strongest heads first, what is
/// predicted for it, the weight itself and the null threshold it had to exceed; where the
/// result has them what of its attention lies beyond the reach, where that is more than a tenth, with the offset there that
/// draws most of it; the dominant cluster with its share of the texts, and the planted truth with a word on whether it was
/// found. Of an atlas alone what random words predict, with its weight in attention and in multiples of chance, and what
/// the weights predict for layer 0 and, as a proxy, for those above; without random words, the weights' own weight and
/// what decided about them. Heads with the largest weight stand first. Of a training run's checkpoints arrival_columns().
/// A prediction that is undefined for every head has no column: undefined_predictions().
///
/// When a planted head counts as found is head_findings()'s to say.
/// @param pairs  which query-key pairs count: "all", "without_special", "without_sink"
/// @returns no columns at all where the result has neither measured nor predicted offsets
/// @throws ShapeError if the Fields have other axes than described
std::vector<TableColumn> head_columns(const Result& result, const std::string& pairs = "all");

/// The headers of columns that the table beside measured offsets leaves out, since they say "undefined" of every head.
std::vector<std::string> undefined_predictions(const Result& result);

/// How many heads each prediction meets that predicts any offset, beside what always saying the same one would reach.
/// @returns no columns where the result does not say
/// @throws ShapeError if the Fields have other axes than described
std::vector<TableColumn> agreement_columns(const Result& result);

/// Names of the Fields that the table is made of, so that no more need be read.
std::vector<std::string> head_table_fields();

/// head_columns() as text for a terminal; below agreement_columns(), and telling_sentences() or why there are
/// no trials.
/// @param color   see terminal_table()
/// @param beside  more columns of the same heads, behind their names
/// @throws ShapeError if the result has neither measured offsets nor predicted ones, or Fields have other axes than
///         described
std::string head_table(const Result& result, bool color = false, const std::string& pairs = "all",
                       const std::vector<TableColumn>& beside = {});

}  // namespace headwave
