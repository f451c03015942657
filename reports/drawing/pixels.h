#pragma once

#include <cstddef>
#include <functional>

#include "data_table.h"

namespace headwave {

/// The cells of a heat map: amounts in columns and rows, and where they stand on the axes.
struct Cells {
  std::size_t columns = 0, rows = 0;
  std::function<double(std::size_t column, std::size_t row)> amount;
  std::function<double(double column)> x;  ///< of 0.0, the middle of the first column, 0.25, ...
  std::function<double(double row)> y;
};

/// Every cell as a block of pixels, x, y and amount of each: viewers that smooth small images then soften edges only.
/// gnuplot draws no image of a single row or column of pixels.
/// @param across  pixels to a cell
/// @param up      pixels to a cell
DataTable pixels(const Cells& cells, std::size_t across, std::size_t up);

}  // namespace headwave
