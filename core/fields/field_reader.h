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

// The one way to read Fields. A Result may come from a file that anybody wrote: whoever draws, tabulates or
// compares one reads it through these functions, which check names, axes, types and sizes, and whose errors
// name the Field.

namespace headwave {

/// The numbers of a Field whose axes are the ones named, in that order; row-major, as many as the axes say.
/// @throws ShapeError if the Field is missing, has other axes, another type, or not as many values as its
/// axes say
const std::vector<double>& doubles_of(const Result& result, std::string_view name,
                                      std::initializer_list<std::string_view> axes);
const std::vector<std::string>& strings_of(const Result& result, std::string_view name,
                                           std::initializer_list<std::string_view> axes);
const std::vector<std::uint8_t>& flags_of(const Result& result, std::string_view name,
                                          std::initializer_list<std::string_view> axes);
const std::vector<std::int64_t>& counts_of(const Result& result, std::string_view name,
                                           std::initializer_list<std::string_view> axes);

/// The numbers of a Field of any type, converted to double.
/// @throws ShapeError if they are texts
std::vector<double> as_doubles(const Field& field);

/// Entry `place` of row-major values that are split into parts of `size` entries: a head's profile, say.
inline std::span<const double> slice_of(const std::vector<double>& values, std::size_t place, std::size_t size) {
  return std::span(values).subspan(place * size, size);
}

/// The position of an entry on an axis; numbers as entries_of() writes them.
/// @throws ShapeError naming the text and those there are
std::size_t place_of(const Field& field, std::string_view axis, std::string_view label);

/// One value per head. The Field has the axes (layer, head), or before or after them an axis such as which
/// query-key pairs count; `slice` is the entry to read.
/// @param slice  of `pairs` "all", "without_special", "without_sink", say
/// @returns (layers * heads) row-major
/// @throws ShapeError as doubles_of() and place_of()
std::vector<double> head_doubles(const Result& result, std::string_view name, std::string_view slice);
/// Flags as the words that they stand for, "status 7" for a flag without a meaning.
std::vector<std::string> head_meanings(const Result& result, std::string_view name, std::string_view slice);

/// An axis' coordinates as numbers.
/// @throws ShapeError if they are texts
std::vector<double> coordinates(const Field& field, std::string_view axis);

/// An axis' coordinates as whole numbers: layers, heads, positions, clusters.
/// @throws ShapeError if they are texts or not whole
std::vector<Index> whole_coordinates(const Field& field, std::string_view axis);

/// An axis' coordinates as texts.
/// @throws ShapeError if they are numbers
const std::vector<std::string>& labels_of(const Field& field, std::string_view axis);

/// An axis' coordinates as texts, whatever they are.
std::vector<std::string> entries_of(const Field& field, std::string_view axis);

bool has_axis(const Field& field, std::string_view axis);

/// The heads along a Field's axes `layer` and `head`; rows are (layer, head), row-major.
struct FieldHeads {
  std::vector<Index> layers, heads;

  [[nodiscard]] std::size_t size() const { return layers.size() * heads.size(); }
  [[nodiscard]] HeadName operator[](std::size_t row) const { return {layers[line(row)], heads[column(row)]}; }
  /// Where a head stands in a grid of layers down and heads across.
  [[nodiscard]] std::size_t line(std::size_t row) const { return row / heads.size(); }
  [[nodiscard]] std::size_t column(std::size_t row) const { return row % heads.size(); }
  /// @returns the row of that head; size(): it is not among them
  [[nodiscard]] std::size_t row_of(const HeadName& name) const;
};

/// @throws ShapeError if one of the axes is missing or not of whole numbers
FieldHeads field_heads(const Field& field);

/// A remark that is a number, whole or not; `otherwise` if there is none of that name.
double attribute_number(const Attributes& attributes, const std::string& name, double otherwise = std::nan(""));

/// Checks that Fields which are read together fit each other: axes of one name have one size in all of them,
/// and each holds at least one value.
/// @param names  of Fields; those that are not in the result do not count
/// @throws ShapeError naming two Fields that differ, or an empty one
void require_fitting(const Result& result, const std::vector<std::string>& names);

}  // namespace headwave
