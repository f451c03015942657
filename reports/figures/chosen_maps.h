#pragma once

#include <cstddef>
#include <vector>

#include "figure_kind.h"

namespace headwave {

inline constexpr const char* map_weight_name = "attention_map/weight";

/// Which of a result's attention maps to draw, as places along the axis `map_head`: the ones asked for, or all there
/// are, of more than nine the strongest head of every offset first, since heads of one offset look alike.
/// @throws ShapeError if a head asked for has no map, naming it and those there are; FormatError if its name is none
std::vector<std::size_t> chosen_maps(const Result& result, const FigureOptions& options);

}  // namespace headwave
