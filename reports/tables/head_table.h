#pragma once

#include <optional>
#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/fields/head_name.h"
#include "../drawing/terminal_table.h"

namespace headwave {

struct HeadTableOptions {
  bool all = false;                     ///< every head; otherwise the ten strongest
  bool wide = false;                    ///< every column with content; otherwise where, how strongly, why
  std::string sort = {};                ///< by a column of head_data(); empty: strongest first
  std::vector<std::string> heads = {};  ///< only these: "L2H3"; empty: no choice
};

/// The columns of the table, with rows in the order of options.sort. They depend on the result:
/// - a run: the cells of head_sentences(), or the measured offset with its weight in multiples of chance
/// - an atlas: the offset that random words predict, with its weight in multiples of chance, and the offset
///   that weights predict (exact in layer 0, a proxy above); without random words also the test of the latter
/// - a comparison: comparison_columns()
/// @returns no columns if the result has neither heads nor changes
/// @throws ShapeError if the Fields have other axes than described, or there is no column to sort by
std::vector<TableColumn> sorted_columns(const Result& result, const HeadTableOptions& options);

/// The rows of sorted_columns() to show: options.heads, or all, or the first ten.
std::vector<TableColumn> shown_rows(const std::vector<TableColumn>& columns, const HeadTableOptions& options);

/// shown_rows() of sorted_columns().
std::vector<TableColumn> shown_columns(const Result& result, const HeadTableOptions& options);

/// The offset at which each head looks, as a Field looks/offset of layer and head: that of head_sentences(),
/// or the measured offset if there are none, 0 for heads that look at themselves.
/// @returns nothing if the result has no measured offsets
/// @throws ShapeError if the Fields have other axes than described
std::optional<Field> looks_field(const Result& result);

/// What was run and what was found, in a few sentences: the parts of all attention, and how many heads have
/// which largest part; without attention_bits, how many heads look at a preferred offset.
/// @param titled  leave out what finding_title() says
std::string head_paragraph(const Result& result, bool titled = false);

/// The main finding: "Attention of minilm: special tokens 47 %, position 28 %, ..."; without attention_bits
/// "In minilm 42 of 72 heads look at a preferred offset", or how many changed; else the result's title.
std::string finding_title(const Result& result);

/// The answer for a terminal: head_paragraph(), the table, what its columns mean, and what is missing.
/// @param columns  of shown_columns(), possibly with others added
std::string head_answer(const Result& result, const std::vector<TableColumn>& columns);

/// All heads in the table's order, strongest first; none without measured or predicted offsets.
std::vector<HeadName> heads_by_strength(const Result& result);

/// The order of the table as indices into `names`; their own order if the result has none.
std::vector<std::size_t> table_order(const Result& result, const std::vector<HeadName>& names);

/// Names of the Fields that the answer is made from, so that no others need be read.
std::vector<std::string> head_table_fields();

}  // namespace headwave
