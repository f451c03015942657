#pragma once

#include "figure_kind.h"

namespace headwave {

/// Where the energy of chosen heads lies in frequency and phase: a heat map of g(f, theta) of the queries and one of
/// the keys, a row per head, see chosen_heads(). Thin lines are the ridges
///
///     theta = 2 pi f Delta / T, wrapped into (-pi, pi],   Delta = -3 .. 3 but 0, and the measured one             (1)
///
/// each labelled with t* = -Delta where it first leaves the panel.
///
/// Frequency 0 is left out. One colour scale for the two panels of a head, from 0 to the amplitude that one cell in a
/// thousand exceeds. Where more than 400 frequencies would be shown, neighbours share a cell, which shows the largest.
///
/// Source: Yamamoto and Matsuzaki 2023, section 3.5.
FigureKind phase_spectrum_figure();

}  // namespace headwave
