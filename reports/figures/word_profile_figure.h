#pragma once

#include "figure_kind.h"

namespace headwave {

/// Where every head would look, from random words: predicted weight by offset, a panel per head, layers in rows.
FigureKind word_profile_figure();

}  // namespace headwave
