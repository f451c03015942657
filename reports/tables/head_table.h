#pragma once

#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../drawing/terminal_table.h"

namespace headwave {

/// What was found about each head, one row per head, the strongest first: its name, the measured offset and the mean
/// attention weight there in multiples of chance, the weight itself, the account's verdict after the profile's strength,
/// what is predicted for it, or the null threshold; if the result has them also what of its attention lies beyond the
/// reach (if that is more than a tenth, with the offset there that draws most of it), the cluster that holds most of its
/// texts, and the planted truth with a word on whether it was found.
///
/// Of an atlas alone the table holds what random words predict, with its weight in attention and in multiples of chance,
/// and what the weights predict for layer 0 and, as a proxy, for those above; without random words the weights' own weight
/// and what decided about them. Of a training run's checkpoints it is arrival_columns(), of a comparison
/// comparison_columns(). A prediction that is undefined for every head has no column: undefined_predictions().
/// @param pairs  which query-key pairs count: "all", "without_special", "without_sink"
/// @returns no columns if the result has neither measured nor predicted offsets
/// @throws ShapeError if the Fields have other axes than described
std::vector<TableColumn> head_columns(const Result& result, const std::string& pairs = "all");

/// The headers of columns that the table beside measured offsets omits, since they are undefined for every head.
std::vector<std::string> undefined_predictions(const Result& result);

/// How many heads each prediction agrees with, beside the count for always naming the same offset.
/// Predictions without any offset are omitted.
/// @returns no columns if the result does not say
/// @throws ShapeError if the Fields have other axes than described
std::vector<TableColumn> agreement_columns(const Result& result);

/// Names of the Fields that the table is made of, so that no more need be read.
std::vector<std::string> head_table_fields();

/// head_columns() as text for a terminal; below agreement_columns(), and telling_sentences() or why there are no trials.
/// @param beside  more columns of the same heads, after their names
/// @throws ShapeError if the result has neither measured offsets nor predicted ones, or Fields have other axes than
///         described
std::string head_table(const Result& result, const std::vector<TableColumn>& beside = {});

/// A line for below the table of heads, if a result looked for the offset that positions alone predict and the model has
/// no position table: it says so, and what its positions are instead. Else empty.
std::string position_note(const Result& result);

/// head_table() with lines below it: position_note(), the predictions that are undefined for every head, and
/// grid_note(); the lines alone if the table would hold nothing but names.
/// @param beside  see head_table()
/// @throws ShapeError as head_table()
std::string noted_head_table(const Result& result, const std::vector<TableColumn>& beside = {});

}  // namespace headwave
