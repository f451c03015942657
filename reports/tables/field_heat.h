#pragma once

#include <string>

#include "../../core/fields/field.h"
#include "../drawing/sparkline.h"
#include "../drawing/terminal_table.h"

namespace headwave {

/// A Field as signs for a terminal: of one axis a line, of two a map of rows and columns, of three a map for each entry of the
/// first; below what the signs stand for, with the unit. Flags are digits, and below what these mean. Lines longer than
/// 100 signs show means of so many values in a row, which is said. A map with values of both signs is one of numbers, if
/// these fit into 100 columns.
/// @param part  the only entry of the first of three axes to be shown, "all" of pairs; empty: every one
/// @throws ShapeError that says what was expected, where the Field holds texts, has no axis or more than three, more than 200
///         rows, more than 8 maps, or no such part
std::string field_heat(const Field& field, const std::string& part, Signs signs);

/// Every head's offset profile as a line of signs, mean weight at offsets -8 to 8 from its lowest to its highest, in the
/// order of a table of heads.
/// @param heads  "L2H3"
/// @returns a column without cells if the result has no profiles
/// @throws FormatError if a name is invalid; ShapeError if the Field has other axes than described
TableColumn profile_column(const Result& result, const std::vector<std::string>& heads, Signs signs);

}  // namespace headwave
