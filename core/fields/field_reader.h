#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "field.h"
#include "head_name.h"

// The only way to read Fields. A Result may come from a file that anybody wrote, so these functions check
// names, axes, types and sizes, and their errors name the Field.

namespace headwave {

/// The values of a Field, row-major. It must have the given axes, in that order.
/// @throws ShapeError if the Field is missing, or has other axes, another type or a wrong number of values
const std::vector<double>& doubles_of(const Result& result, std::string_view name,
                                      std::initializer_list<std::string_view> axes);
const std::vector<std::string>& strings_of(const Result& result, std::string_view name,
                                           std::initializer_list<std::string_view> axes);
const std::vector<std::uint8_t>& flags_of(const Result& result, std::string_view name,
                                          std::initializer_list<std::string_view> axes);
const std::vector<std::int64_t>& counts_of(const Result& result, std::string_view name,
                                           std::initializer_list<std::string_view> axes);

/// The numbers of a Field of any type, converted to double.
/// @throws ShapeError if the values are strings
std::vector<double> as_doubles(const Field& field);

/// Part `place` of row-major values that are cut into parts of `size` entries, such as profiles of heads.
inline std::span<const double> slice_of(const std::vector<double>& values, std::size_t place, std::size_t size) {
  return std::span(values).subspan(place * size, size);
}

/// The index of an entry on an axis. Numbers are written as by entries_of().
/// @throws ShapeError naming the label and the entries of the axis
std::size_t place_of(const Field& field, std::string_view axis, std::string_view label);

/// One value per head. The Field has the axes (layer, head), or a third axis before or after them, of which
/// `slice` is the entry to read: "all" of the axis `pairs`, for example.
/// @returns (layers * heads) row-major
/// @throws ShapeError as doubles_of() and place_of()
std::vector<double> head_doubles(const Result& result, std::string_view name, std::string_view slice);
/// The meanings of flags, one per head; "status 7" for a flag 7 without a meaning.
std::vector<std::string> head_meanings(const Result& result, std::string_view name, std::string_view slice);

/// An axis' coordinates as numbers.
/// @throws ShapeError if they are strings
std::vector<double> coordinates(const Field& field, std::string_view axis);

/// An axis' coordinates as whole numbers: layers, heads, positions, clusters.
/// @throws ShapeError if they are strings or not whole
std::vector<Index> whole_coordinates(const Field& field, std::string_view axis);

/// An axis' coordinates as strings.
/// @throws ShapeError if they are numbers
const std::vector<std::string>& labels_of(const Field& field, std::string_view axis);

/// An axis' coordinates as strings, numbers converted.
std::vector<std::string> entries_of(const Field& field, std::string_view axis);

bool has_axis(const Field& field, std::string_view axis);

/// The heads along a Field's axes `layer` and `head`. Rows are (layer, head), row-major.
struct FieldHeads {
  std::vector<Index> layers, heads;

  [[nodiscard]] std::size_t size() const { return layers.size() * heads.size(); }
  [[nodiscard]] HeadName operator[](std::size_t row) const { return {layers[line(row)], heads[column(row)]}; }
  /// A head's place in a grid with one line per layer and one column per head.
  [[nodiscard]] std::size_t line(std::size_t row) const { return row / heads.size(); }
  [[nodiscard]] std::size_t column(std::size_t row) const { return row % heads.size(); }
  /// @returns the row of that head; size() if it is not among them
  [[nodiscard]] std::size_t row_of(const HeadName& name) const;
};

/// Reads the axes `layer` and `head`. @throws ShapeError if one is missing or not of whole numbers
FieldHeads field_heads(const Field& field);

/// A remark that is a number, whole or not; `otherwise` if there is no number of that name.
double attribute_number(const Attributes& attributes, const std::string& name, double otherwise = std::nan(""));

/// Requires that Fields which are read together fit: equally named axes have equal sizes, none is empty.
/// @param names  of Fields; names that the result lacks are ignored
/// @throws ShapeError naming two Fields that differ, or an empty one
void require_fitting(const Result& result, const std::vector<std::string>& names);

}  // namespace headwave
