#include "layer_bars.h"

namespace headwave {

DataTable layer_bars() {
  return DataTable({"middle", "row", "left", "right", "bottom", "top"});
}

void add_bar(DataTable& bars, std::size_t row, double left, double right) {
  const auto place = static_cast<double>(row);
  bars.add_row({(left + right) / 2, place, left, right, place - 0.4, place + 0.4});
}

void add_layer_axis(Panel& panel, const PanelGrid& grid, const std::vector<Index>& layers, bool leftmost) {
  panel.tic_length(0.3);
  panel.y_cells(layers.size(), {.named = spaced(layers, grid.panel.height, 0.13), .points = 7});
  if (leftmost) panel.title_left("layer", 0.34);
}

}  // namespace headwave
