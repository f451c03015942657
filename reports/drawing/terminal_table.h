#pragma once

#include <string>
#include <vector>

namespace headwave {

enum class Align { left, right };

/// One column of a table for people. Cells may come from anywhere: nothing in them reaches a terminal as a command.
struct TableColumn {
  std::string header;
  Align align = Align::left;
  std::vector<std::string> cells;
};

/// A table of plain text: headers, a rule, one line per row; two spaces between columns, no space at line ends. Widths
/// are those a terminal shows, so East Asian text stays in line.
/// @throws ShapeError if columns have different numbers of cells
std::string terminal_table(const std::vector<TableColumn>& columns);

}  // namespace headwave
