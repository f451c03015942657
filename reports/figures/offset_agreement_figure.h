#pragma once

#include "figure_kind.h"

namespace headwave {

/// Predicted against measured offsets of all heads: a panel each for what weights alone, phases and scores predict,
/// with its interval as a bar; on the diagonal both are the same.
///
/// Axes are even about 0 and logarithmic further out, see offset_place(). Heads that cannot be told apart share a dot
/// with their number in it; others are moved aside a little. The farthest from the diagonal are named. Heads without
/// one of the two offsets are counted above each panel.
FigureKind offset_agreement_figure();

}  // namespace headwave
