#pragma once

#include "figure_kind.h"

namespace headwave {

/// Which delay each frequency of chosen heads points to, and the one that all agree on best, a panel per head, see
/// chosen_heads(): t^(f) as dots whose area follows |C(f)|, the fitted delay as a line with its interval as a band.
///
/// One frequency knows its delay up to T/f only: the panel is grey beyond +-T/(2f), and where the fitted delay lies
/// there a hollow dot shows t^(f) plus the multiple of T/f that comes nearest to it, for frequencies with at least 1 %
/// of the largest |C(f)|. Dots beyond the panel are left out.
FigureKind delay_spectrum_figure();

}  // namespace headwave
