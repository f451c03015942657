#pragma once

#include "figure_kind.h"

namespace headwave {

/// Where attention goes by where its query stands: bands of queries down, offsets across, weight as colour, each offset by
/// itself up to the reach and bins beyond, with the peaks there and whether positions bring them about. Of many heads
/// those with the largest peaks.
FigureKind offset_by_query_figure();

}  // namespace headwave
