#pragma once

#include "figure_kind.h"

namespace headwave {

/// Every head, coloured by what accounts for its profile.
FigureKind head_account_figure();

}  // namespace headwave
