#include "terminal_table.h"

#include <algorithm>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "visible_text.h"

namespace headwave {

std::string terminal_table(const std::vector<TableColumn>& columns) {
  if (columns.empty()) return {};
  const std::size_t rows = columns.front().cells.size();
  std::vector<std::string> lines(rows + 2);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const TableColumn& column = columns[c];
    if (column.cells.size() != rows)
      throw ShapeError(fmt::format("table: expected {} cells in column '{}', found {}", rows,
                                   visible_text(column.header), column.cells.size()));
    std::vector<std::string> texts{visible_text(column.header), ""};
    for (const std::string& cell : column.cells) texts.push_back(visible_text(cell));
    Index width = 0;
    for (const std::string& text : texts) width = std::max(width, display_width(text));
    texts[1] = std::string(static_cast<std::size_t>(width), '-');
    for (std::size_t l = 0; l < lines.size(); ++l) {
      const std::string space(static_cast<std::size_t>(width - display_width(texts[l])), ' ');
      lines[l] += (c == 0 ? "" : "  ") + (column.align == Align::right ? space + texts[l] : texts[l] + space);
    }
  }
  std::string table;
  for (const std::string& line : lines) table += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  return table;
}

}  // namespace headwave
