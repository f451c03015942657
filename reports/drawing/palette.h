#pragma once

#include <string>

#include "../../core/numbers/matrix.h"

namespace headwave {

/// Colour i of Okabe and Ito's set, "#0072B2", told apart by colour-blind eyes too; the next eight are lighter, eight
/// more darker, and then they come again.
///
/// Source: Okabe and Ito 2008, Color Universal Design. The order is ours: strong colours first, yellow last.
std::string categorical_color(Index i);

/// gnuplot's words for line i: its colour, with another dash and point for each, so that lines differ in black and
/// white.
/// @param width  half points
std::string line_style(Index i, double width = 1.8);

/// gnuplot's `set palette` for amounts from zero up (weights): viridis, perceptually even, readable in grey.
///
/// Source: van der Walt and Smith 2015; ten of its colours, the rest interpolated.
std::string sequential_palette();

/// gnuplot's `set palette` for signed numbers: blue below, white at zero, vermillion above. The colour range must be
/// symmetric, see symmetric_range().
std::string diverging_palette();

/// gnuplot's `set palette` for angles: the colours at -pi and pi are the same, light at 0 turns and dark at half a
/// turn.
std::string cyclic_palette();

/// gnuplot's `set cbrange` that puts the middle of diverging_palette() at zero.
/// @param largest  the largest absolute value shown
std::string symmetric_range(double largest);

}  // namespace headwave
