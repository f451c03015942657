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

/// Rows of numbers and texts.
using Rows = std::vector<std::vector<Cell>>;

/// A table that is exported, as columns of one length.
struct DataColumn {
  std::string name;
  std::vector<Cell> cells;
};
using DataTable = std::vector<DataColumn>;

/// Comma-separated values after RFC 4180, for pandas, R and spreadsheets, in UTF-8 with bare line feeds: a
/// line of column names, then the rows. Doubles are written so that they read back to the same bits, undefined ones are
/// empty cells. Tab, line end and backslash in texts are written as \t, \n, \r and \\, other control characters as
/// \u001b, so that a row is one line. A text that begins with = + - @, which a spreadsheet could take for a formula, or
/// with an apostrophe, stands after an apostrophe. Texts stand in double quotes where they hold a comma, a quote, or a
/// space at an end, or are empty; bytes that are no UTF-8 become U+FFFD.
std::string comma_separated(const DataTable& table);

/// A cell of that, and a line of cells, for tables too long to be held. A line is never empty: programs skip
/// such.
std::string csv_cell(const Cell& cell);
std::string csv_line(const std::vector<std::string>& cells);

/// A data block of gnuplot: its name, the rows as lines, cells separated by tabs, and an end that no text is taken for.
/// Characters in texts that cannot be seen are written out (visible_text()), then double quotes, at which gnuplot ends a
/// text, and backslashes as escapes.
/// @param name  "$data0"
std::string data_block(const std::string& name, const Rows& rows);

}  // namespace headwave
