#pragma once

#include <concepts>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "../../core/numbers/matrix.h"

namespace headwave {

/// The content of one cell: a number, a count or a text.
struct Cell : std::variant<double, Index, std::string> {
  Cell(std::floating_point auto number) : variant(static_cast<double>(number)) {}  // NOLINT: implicit, rows are lists
  Cell(std::integral auto count) : variant(static_cast<Index>(count)) {}           // NOLINT: as above
  Cell(std::string text) : variant(std::move(text)) {}                             // NOLINT: as above
  Cell(const char* text) : variant(std::string(text)) {}                           // NOLINT: as above
};

using Rows = std::vector<std::vector<Cell>>;

/// A table for export: columns of equal length.
struct DataColumn {
  std::string name;
  std::vector<Cell> cells;
};
using DataTable = std::vector<DataColumn>;

/// Writes a table as comma-separated values (RFC 4180) in UTF-8 with bare line feeds: a line of column names,
/// then the rows. Reading the text gives doubles with the same bits; NaN is written as an empty cell. In
/// texts, tab, line feed, carriage return and backslash become \t, \n, \r and \\, and other control
/// characters become escapes such as \u001b, so that every row is one line. A text that begins with an
/// apostrophe, or with one of = + - @, gets an apostrophe in front, because a spreadsheet could take = + - @
/// for a formula. A text is quoted if it is empty, contains a comma or a quote, or begins or ends with a
/// space. Invalid UTF-8 becomes U+FFFD.
std::string comma_separated(const DataTable& table);

/// Write one cell, or one line of cells, in the format of comma_separated(), for tables too long to be held
/// in memory. A line is never empty, because readers skip empty lines.
std::string csv_cell(const Cell& cell);
std::string csv_line(const std::vector<std::string>& cells);

/// Writes a data block for gnuplot: its name, one line per row with cells separated by tabs, and an end mark
/// that no text contains. In texts, visible_text() replaces invisible characters. Then double quotes, which
/// would end a text, and backslashes become escapes.
/// @param name  name of the block: "$data0"
std::string data_block(const std::string& name, const Rows& rows);

}  // namespace headwave
