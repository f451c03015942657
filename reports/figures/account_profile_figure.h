#pragma once

#include "figure_kind.h"

namespace headwave {

/// The measured offset profile of a few heads, and what position, content and spread make of it.
FigureKind account_profile_figure();

}  // namespace headwave
