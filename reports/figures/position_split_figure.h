#pragma once

#include "figure_kind.h"

namespace headwave {

/// What hidden states are made of, layer by layer: shares of their variance as bars, and beside each bar the amplitude
/// spectrum of its position part as a row of a heat map, colours logarithmic over three decades at most. Where a wave
/// dies its column goes dark.
///
/// A mark in the bar shows what share noise alone is expected to put into the position part. Frequency 0 is left out;
/// where more than 512 frequencies would be shown, neighbours share a cell, which shows the largest.
FigureKind position_split_figure();

}  // namespace headwave
