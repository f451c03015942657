#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/fields/field.h"

namespace headwave {

/// The numbers of a Field whose axes are the ones named, in that order; row-major, as many as the axes say.
///
/// A Result may come from a file that anybody wrote: everything a report reads goes through here.
/// @throws ShapeError if the Field is missing, has other axes, another type, or not as many values as its axes say
const std::vector<double>& doubles_of(const Result& result, std::string_view name,
                                      std::initializer_list<std::string_view> axes);
const std::vector<std::string>& strings_of(const Result& result, std::string_view name,
                                           std::initializer_list<std::string_view> axes);
const std::vector<std::uint8_t>& flags_of(const Result& result, std::string_view name,
                                          std::initializer_list<std::string_view> axes);
const std::vector<std::int64_t>& counts_of(const Result& result, std::string_view name,
                                           std::initializer_list<std::string_view> axes);

/// The numbers of a Field, whatever they are kept as.
/// @throws ShapeError if they are texts
std::vector<double> as_doubles(const Field& field);

/// Where along an axis of texts one of them stands.
/// @throws ShapeError naming the text and those there are
std::size_t place_of(const Field& field, std::string_view axis, std::string_view label);

/// One number per head. Statistics that differ by which query-key pairs count have an axis `pairs` outermost, of which
/// one slice is taken; others have the axes (layer, head) alone.
/// @param pairs  "all", "without_special", "without_sink"
/// @returns (layers * heads) row-major
/// @throws ShapeError as doubles_of() and place_of()
std::vector<double> head_doubles(const Result& result, std::string_view name, std::string_view pairs);
std::vector<std::uint8_t> head_flags(const Result& result, std::string_view name, std::string_view pairs);

/// An axis' coordinates as numbers.
/// @throws ShapeError if they are texts
std::vector<double> coordinates(const Field& field, std::string_view axis);

/// An axis' coordinates as whole numbers: layers, heads, positions, clusters.
/// @throws ShapeError if they are texts or not whole
std::vector<Index> whole_coordinates(const Field& field, std::string_view axis);

/// An axis' coordinates as texts.
/// @throws ShapeError if they are numbers
const std::vector<std::string>& labels_of(const Field& field, std::string_view axis);

}  // namespace headwave
