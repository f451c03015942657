#pragma once

#include <string>
#include <vector>

namespace headwave {

enum class Align { left, right };

/// One column of a table for people. Its cells may contain any characters, also control characters.
struct TableColumn {
  std::string header;
  Align align = Align::left;
  std::vector<std::string> cells;
};

/// Formats a table as plain text: headers, a rule, and one line per row. Two spaces separate columns, and no
/// line ends in spaces. Widths are counted in columns of a terminal, so that East Asian text stays aligned.
/// @throws ShapeError if columns have different numbers of cells
std::string terminal_table(const std::vector<TableColumn>& columns);

}  // namespace headwave
