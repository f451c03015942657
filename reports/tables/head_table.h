#pragma once

#include <optional>
#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/fields/head_name.h"
#include "../drawing/terminal_table.h"

namespace headwave {

struct HeadTableOptions {
  bool all = false;                     ///< true: every head; false: the first ten rows, the strongest heads by default
  bool wide = false;                    ///< true: every column with content; false: where, how strongly and why
  std::string sort = {};                ///< name of a column of head_data() to sort by; empty: strongest first
  std::vector<std::string> heads = {};  ///< the heads to show ("L2H3"); empty: all heads, or the first ten rows
};

/// Makes the columns of the table of heads, with all rows in the order of options.sort. The columns depend on
/// the result:
/// - For a run, they are the cells of head_sentences(). Without sentences, they are the measured offset and
///   its weight in multiples of chance.
/// - For an atlas, they are the offset that random words predict, with its weight in multiples of chance, and
///   the offset that the weights of the model predict (exact in layer 0, a proxy above). Without random words
///   they also show the test of the prediction from weights.
/// - For a comparison, they are those of comparison_columns().
/// @returns an empty list if the result contains neither heads nor a comparison
/// @throws ShapeError if a Field lacks the axes that its analysis gives it, or options.sort names no column
std::vector<TableColumn> sorted_columns(const Result& result, const HeadTableOptions& options);

/// Keeps the rows to show: those of options.heads, or if that is empty those that options.all says.
/// @param columns  from sorted_columns()
std::vector<TableColumn> shown_rows(const std::vector<TableColumn>& columns, const HeadTableOptions& options);

/// Applies sorted_columns(), then shown_rows().
std::vector<TableColumn> shown_columns(const Result& result, const HeadTableOptions& options);

/// The offset at which each head looks, in tokens, as a Field looks/offset (layer, head): the offset of
/// head_sentences(); without sentences the measured offset, or 0 for heads that look at their own token.
/// @returns nothing if the result has no measured offsets
/// @throws ShapeError if a Field lacks the axes that its analysis gives it
std::optional<Field> looks_field(const Result& result);

/// Summarises in a few sentences what was run and what was found: how all attention divides into parts, and
/// how many heads have which largest part. Without attention_bits it says how many heads look at a preferred
/// offset.
/// @param titled  true: omit what finding_title() says
std::string head_paragraph(const Result& result, bool titled = false);

/// The main result as a title: "Attention of minilm: special tokens 47 %, position 28 %, ...". Without
/// attention_bits it is "In minilm 42 of 72 heads look at a preferred offset", or for a comparison how many
/// heads changed. If none of these is known, it is the result's own title.
std::string finding_title(const Result& result);

/// The text that a terminal shows: head_paragraph(), the table, what its columns mean, and what is missing.
/// @param columns  from shown_columns(), possibly with columns added
std::string head_answer(const Result& result, const std::vector<TableColumn>& columns);

/// All heads, strongest first. Empty if the result has neither measured nor predicted offsets.
std::vector<HeadName> heads_by_strength(const Result& result);

/// Sorts `names` by the order of heads_by_strength(), and returns their indices in that order. The indices
/// are 0, 1, ... if the result gives no such order.
std::vector<std::size_t> table_order(const Result& result, const std::vector<HeadName>& names);

/// Names of the Fields that head_answer() uses, so that only these need be read from a file.
std::vector<std::string> head_table_fields();

}  // namespace headwave
