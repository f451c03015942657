#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/fields/field.h"

namespace headwave {

/// Names of attributes that the result file itself gives to a Field's dataset; a Field's own attributes may
/// not use them.
inline constexpr auto result_own_attributes = std::to_array<std::string_view>(
    {"long_name", "units", "_FillValue", "flag_values", "flag_meanings", "flag_labels", "CLASS", "DIMENSION_LIST",
     "REFERENCE_LIST", "_Netcdf4Dimid", "_Netcdf4Coordinates"});

/// Names of attributes that it gives to its groups; provenance may not use them.
inline constexpr auto group_own_attributes = std::to_array<std::string_view>({"NX_class"});

/// One analysis in the file: its Fields, in order, and all their axes.
struct ResultGroup {
  std::string name;
  std::vector<const Axis*> axes;  ///< in order of first use
  std::vector<const Field*> fields;

  /// The Field a viewer should draw: the first of numbers that has axes, else the first.
  [[nodiscard]] const Field& signal() const;
};

/// The groups of a result in order of first use, checked. Points into the result.
/// @throws ShapeError as write_result
std::vector<ResultGroup> result_groups(const Result& result);

/// zlib's level of compression for chunks.
inline constexpr unsigned result_packing = 2;

/// Chunk sizes of an array: whole last axes as long as a chunk stays within 1 MB, and axes before the last
/// two only within 64 kB, so that one head can be read without its neighbours. Empty for a small array, which
/// is stored in one piece.
std::vector<Index> result_chunks(const std::vector<Index>& shape, std::size_t entry_bytes);

}  // namespace headwave
