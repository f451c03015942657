#pragma once

#include "figure_kind.h"

namespace headwave {

/// What wrote what the heads of each layer read of positions, layer by layer.
FigureKind score_sources_figure();

/// The table of query sources and key sources of single heads.
FigureKind source_table_figure();

}  // namespace headwave
