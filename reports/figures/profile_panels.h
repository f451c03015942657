#pragma once

#include <string>
#include <vector>

#include "../../core/fields/field.h"
#include "../drawing/figure_style.h"
#include "../drawing/gnuplot.h"

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
};

/// A panel for every head, layers in rows, each on its own scale; offsets below the ratio 2 are marked hollow.
GnuplotFigure profile_panels(const Profiles& profiles, const ProfileNames& names, const FigureStyle& style);

}  // namespace headwave
