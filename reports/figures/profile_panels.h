#pragma once

#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../../core/fields/head_name.h"
#include "../drawing/figure_style.h"
#include "../drawing/gnuplot.h"
#include "../drawing/panel.h"

namespace headwave {

constexpr double profile_window = 16.0;  ///< tokens on either side

/// Weight by offset of every head, and the offset that is marked.
struct Profiles {
  std::vector<Index> layers, heads;
  std::vector<double> offsets;  ///< within the window
  std::vector<double> weights;  ///< (layers, heads, offsets)
  std::vector<double> marked;   ///< (layers, heads) NaN: undefined; empty: not in the result
  std::vector<double> ratio;    ///< (layers, heads) of the weight there to what it had to exceed; empty: not known
};

/// Takes those within the window.
/// @param all   (..., layer, head, offset), of which `first` rows are left out
/// @param name  of the Field, for messages
/// @throws ShapeError if there is nothing to draw, or too much
Profiles profiles_within(const Field& field, const std::vector<double>& all, const std::string& axis,
                         std::size_t first = 0);

/// What a figure of profiles is called in its numbers and beside its axes.
struct ProfileNames {
  std::string weight, marked;  ///< columns: "mean_weight", "measured_offset"
  std::string title;           ///< "mean attention weight"
  std::string mark;            ///< "measured offset"
};

/// The head's name above its panel's left end; of its layer left of the row where that is where layers are named.
/// @param column  of the panel
void add_head_name(Panel& panel, const HeadPanels& grid, Index column, const HeadName& name);

/// A panel for every head, layers in rows, each on its own scale. Where ratios are known, offsets below 2 are marked
/// hollow, and the ink below a curve is the fuller the larger they are, up to 32.
GnuplotFigure profile_panels(const Profiles& profiles, const ProfileNames& names, const FigureStyle& style);

}  // namespace headwave
