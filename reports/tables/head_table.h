#pragma once

#include <optional>
#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/fields/head_name.h"
#include "../drawing/terminal_table.h"

namespace headwave {

/// Which heads and columns a terminal shows.
struct HeadTableOptions {
  bool all = false;                     ///< every head; else the ten strongest
  bool wide = false;                    ///< every column that holds something; else where, how strongly and why
  std::string sort = {};                ///< a column of head_data(): numbers from the largest; empty: strongest first
  std::vector<std::string> heads = {};  ///< these alone: "L2H3"; empty: no choice
};

/// The columns of the table that is shown, with rows in the order of options.sort. They depend on the result:
/// - a run: the cells of head_sentences(); if it has none, the measured offset, its weight and multiples of chance
/// - an atlas: the offset that random words predict, with its weight and multiples of chance, and the offset that the
///   weights predict (exact in layer 0, a proxy above); without random words also the weight that the weights
///   predict, and what decided about the prediction
/// - a comparison: comparison_columns()
/// @returns no columns if the result has neither heads nor changes
/// @throws ShapeError if the Fields have other axes than described; or naming the columns to sort by, if there is no such one
std::vector<TableColumn> sorted_columns(const Result& result, const HeadTableOptions& options);

/// The rows of sorted_columns() that are shown: options.heads, or all, or the first ten.
std::vector<TableColumn> shown_rows(const std::vector<TableColumn>& columns, const HeadTableOptions& options);

/// shown_rows() of sorted_columns().
std::vector<TableColumn> shown_columns(const Result& result, const HeadTableOptions& options);

/// The offset at which each head looks, as a Field looks/offset of layer and head: that of head_sentences(), or else the
/// measured offset, 0 for heads that look at themselves.
/// @returns nothing if the result has no measured offsets
/// @throws ShapeError if the Fields have other axes than described
std::optional<Field> looks_field(const Result& result);

/// What was run and what was found, in a few sentences: what all attention is made of and how many heads have which largest
/// part; without attention_bits how many heads look at a preferred offset.
/// @param titled  omit what finding_title() says
std::string head_paragraph(const Result& result, bool titled = false);

/// What was found, as a title: "Attention of minilm: special tokens 47 %, position 28 %, ..."; without attention_bits "In
/// minilm 42 of 72 heads look at a preferred offset"; of a comparison how many heads changed; else the result's own title.
std::string finding_title(const Result& result);

/// The answer as text for a terminal: head_paragraph(), the table, what its columns mean, and what could not be found, with the reason.
/// @param columns  of shown_columns(), perhaps with more beside
std::string head_answer(const Result& result, const std::vector<TableColumn>& columns);

/// All heads, the strongest first, as the table has them; none if the result has neither measured nor predicted offsets.
std::vector<HeadName> heads_by_strength(const Result& result);

/// The places of some heads in that order; as they stand if the result has no such order.
std::vector<std::size_t> table_order(const Result& result, const std::vector<HeadName>& names);

/// Names of the Fields that the answer is made of, so that no more need be read.
std::vector<std::string> head_table_fields();

}  // namespace headwave
