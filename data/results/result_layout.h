#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/fields/field.h"

namespace headwave {

/// What keeps attributes_digest() of an array or a group.
inline constexpr const char* attributes_digest_name = "attributes_sha256";

/// What lists the attributes and members that an object was written with, so that what others add is told apart:
/// "axes/signal//layer/mean_weight", names of attributes, two slashes, names of members. None of them has a slash.
inline constexpr const char* written_name = "written";

/// Names that the result file gives to attributes of a Field's dataset; a Field's own attributes may not use them.
inline constexpr auto result_own_attributes = std::to_array<std::string_view>(
    {"long_name", "units", "_FillValue", "flag_values", "flag_meanings", "flag_labels", "sha256", "CLASS",
     attributes_digest_name, written_name, "DIMENSION_LIST", "REFERENCE_LIST", "_Netcdf4Dimid", "_Netcdf4Coordinates"});

/// Names that it gives to attributes of its groups; provenance may not use them.
inline constexpr std::array<std::string_view, 3> group_own_attributes = {"NX_class", attributes_digest_name,
                                                                         written_name};

/// One analysis in the file: its Fields, in order, and every axis that any of them has.
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

/// How hard chunks are packed, zlib's level.
inline constexpr unsigned result_packing = 2;

/// Chunk sizes of an array: whole last axes as long as a chunk stays within 1 MB, and axes before the last two only
/// within 64 kB, so that one head can be read without its neighbours. Empty: the array is small and lies in one piece.
std::vector<Index> result_chunks(const std::vector<Index>& shape, std::size_t entry_bytes);

}  // namespace headwave
