#include "terminal_table.h"

#include <algorithm>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "visible_text.h"

namespace headwave {

namespace {

using Texts = std::vector<std::string>;

std::string painted(const std::string& cell, bool header) {
  if (cell.empty()) return cell;
  if (header) return "\x1b[1m" + cell + "\x1b[0m";
  return cell == "differs" ? "\x1b[31m" + cell + "\x1b[0m" : cell;
}

std::string line_of(const std::vector<TableColumn>& columns, const std::vector<Index>& widths, const Texts& cells,
                    bool color, bool header) {
  std::string line;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    const std::string space(static_cast<std::size_t>(widths[c] - display_width(cells[c])), ' ');
    const std::string text = color ? painted(cells[c], header) : cells[c];
    if (c != 0) line += "  ";
    line += columns[c].align == Align::right ? space + text : text + space;
  }
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

}  // namespace

std::string terminal_table(const std::vector<TableColumn>& columns, bool color) {
  if (columns.empty()) return {};
  const std::size_t rows = columns.front().cells.size();
  std::vector<Index> widths;
  std::vector<Texts> lines(rows + 2);
  for (const TableColumn& column : columns) {
    if (column.cells.size() != rows)
      throw ShapeError(fmt::format("table: expected {} cells in column '{}', found {}", rows,
                                   visible_text(column.header), column.cells.size()));
    lines[0].push_back(visible_text(column.header));
    lines[1].emplace_back();
    for (std::size_t r = 0; r < rows; ++r) lines[r + 2].push_back(visible_text(column.cells[r]));
    Index width = 0;
    for (const Texts& line : lines) width = std::max(width, display_width(line.back()));
    widths.push_back(width);
  }
  for (std::size_t c = 0; c < columns.size(); ++c) lines[1][c] = std::string(static_cast<std::size_t>(widths[c]), '-');
  std::string table;
  for (std::size_t l = 0; l < lines.size(); ++l) table += line_of(columns, widths, lines[l], color, l == 0);
  return table;
}

}  // namespace headwave
