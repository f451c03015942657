#pragma once

#include <vector>

#include "../drawing/page.h"

namespace headwave {

/// Horizontal bars of layers, one below the other: what panels of them share.

/// Boxes of bars, for Panel::boxes() with the columns "1:2:3:4:5:6".
DataTable layer_bars();
/// Adds a piece of the bar in a row, from `left` to `right`.
void add_bar(DataTable& bars, std::size_t row, double left, double right);

/// A row for every layer, named as far as names do not touch.
void add_layer_axis(Panel& panel, const PanelGrid& grid, const std::vector<Index>& layers, bool leftmost);

}  // namespace headwave
