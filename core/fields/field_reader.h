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

/// The values of a Field, row-major. The Field must have the given axes in the given order.
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

/// Part number `place`, from 0, of row-major values that are cut into parts of `size` entries. For example,
/// one part is the profile of one head.
inline std::span<const double> slice_of(const std::vector<double>& values, std::size_t place, std::size_t size) {
  return std::span(values).subspan(place * size, size);
}

/// The index of a coordinate on an axis. Numbers are labelled as entries_of() writes them.
/// @throws ShapeError naming the label and the coordinates, if the axis is missing or does not have the label
std::size_t place_of(const Field& field, std::string_view axis, std::string_view label);

/// One value per head. The Field has the axes (layer, head), and may have a third axis before or after them.
/// Then `slice` is the coordinate on the third axis to read, for example "all" on the axis `pairs`.
/// @returns (layers * heads) row-major
/// @throws ShapeError as doubles_of() and place_of()
std::vector<double> head_doubles(const Result& result, std::string_view name, std::string_view slice);
/// The meaning of the flag of each head. A flag without a meaning is written as a number: "status 7".
std::vector<std::string> head_meanings(const Result& result, std::string_view name, std::string_view slice);

/// The coordinates of an axis as numbers.
/// @throws ShapeError if coordinates are strings
std::vector<double> coordinates(const Field& field, std::string_view axis);

/// The coordinates of an axis as whole numbers, for example layers or positions.
/// @throws ShapeError if coordinates are strings or not whole numbers
std::vector<Index> whole_coordinates(const Field& field, std::string_view axis);

/// The coordinates of an axis that are strings.
/// @throws ShapeError if coordinates are numbers
const std::vector<std::string>& labels_of(const Field& field, std::string_view axis);

/// The coordinates of an axis as strings. Numbers are converted to strings.
std::vector<std::string> entries_of(const Field& field, std::string_view axis);

bool has_axis(const Field& field, std::string_view axis);

/// The heads on a Field's axes `layer` and `head`. They are numbered by `row`: all heads of the first layer,
/// then all heads of the second layer, and so on.
struct FieldHeads {
  std::vector<Index> layers, heads;

  [[nodiscard]] std::size_t size() const { return layers.size() * heads.size(); }
  [[nodiscard]] HeadName operator[](std::size_t row) const { return {layers[line(row)], heads[column(row)]}; }
  /// A head's place in a grid with one line per layer and one column per head.
  [[nodiscard]] std::size_t line(std::size_t row) const { return row / heads.size(); }
  [[nodiscard]] std::size_t column(std::size_t row) const { return row % heads.size(); }
  /// @returns the row of a head; size() if the Field does not have the head
  [[nodiscard]] std::size_t row_of(const HeadName& name) const;
};

/// Reads the axes `layer` and `head`. @throws ShapeError if an axis is missing or not of whole numbers
FieldHeads field_heads(const Field& field);

/// The remark `name` as a double, or `otherwise` if there is no such remark or it is not a number.
double attribute_number(const Attributes& attributes, const std::string& name, double otherwise = std::nan(""));

/// Checks that Fields can be read together: none is empty, and axes with the same name have the same size.
/// @param names  names of the Fields; a name that the result does not contain is ignored
/// @throws ShapeError naming two Fields whose axes differ, a Field that is empty, or a Field whose number of
///         values is not the product of its axes' sizes
void require_fitting(const Result& result, const std::vector<std::string>& names);

}  // namespace headwave
