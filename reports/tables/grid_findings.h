#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "../../core/fields/field.h"

namespace headwave {

/// Fields that are looked at.
inline constexpr std::array<const char*, 4> grid_names{"grid_offset/offset_down", "grid_offset/offset_right",
                                                       "grid_offset/status", "grid_offset/received"};

/// Where each head looks on the grid of an image's patches, in words: "1 left", "1 up, 2 right", "0"; "undefined (flat)".
/// @param heads  how many there are
/// @returns a text for each head, empty where the result knows of no grid
/// @throws ShapeError if the Fields have other axes than described
std::vector<std::string> grid_findings(const Result& result, std::size_t heads);

/// What offsets of one dimension mean where tokens are patches that stand row by row: a line. Empty elsewhere.
std::string grid_note(const Result& result);

}  // namespace headwave
