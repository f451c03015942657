#pragma once

#include "figure_kind.h"

namespace headwave {

/// Small multiples of all heads: mean attention weight against the offset key minus query, |t| <= 16, layers down.
///
/// Each panel is scaled to its own largest value, written above it, since heads differ a hundredfold. A dot and a
/// number mark the measured offset where the result has one; an arrow where it lies outside the panel.
FigureKind offset_profile_figure();

}  // namespace headwave
