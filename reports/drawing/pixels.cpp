#include "pixels.h"

namespace headwave {

DataTable pixels(const Cells& cells, std::size_t across, std::size_t up) {
  // The middle of a pixel, in cells.
  const auto middle = [](std::size_t pixel, std::size_t block) {
    return (static_cast<double>(pixel) + 0.5) / static_cast<double>(block) - 0.5;
  };
  DataTable table({"x", "y", "amount"});
  for (std::size_t y = 0; y < cells.rows * up; ++y)
    for (std::size_t x = 0; x < cells.columns * across; ++x)
      table.add_row({cells.x(middle(x, across)), cells.y(middle(y, up)), cells.amount(x / across, y / up)});
  return table;
}

}  // namespace headwave
