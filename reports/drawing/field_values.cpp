#include "field_values.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <variant>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "visible_text.h"

namespace headwave {

namespace {

std::string axes_text(const std::vector<Axis>& axes) {
  std::string text;
  for (const Axis& axis : axes) text += (text.empty() ? "" : ", ") + visible_text(axis.name);
  return shortened(text, 100);
}

/// Whether a and b, ... multiply to exactly `count`, without overflowing.
bool holds(const std::vector<Axis>& axes, std::size_t count) {
  std::size_t product = 1;
  for (const Axis& axis : axes) {
    const auto size = static_cast<std::size_t>(axis.size());
    if (size == 0) return count == 0;
    if (product > count / size) return false;
    product *= size;
  }
  return product == count;
}

template <class Value>
const std::vector<Value>& values_of(const Result& result, std::string_view name,
                                    std::initializer_list<std::string_view> axes, const char* type) {
  const Field& field = result.at(name);
  bool same = field.axes.size() == axes.size();
  for (std::size_t i = 0; same && i < axes.size(); ++i) same = field.axes[i].name == axes.begin()[i];
  if (!same)
    throw ShapeError(fmt::format("{}: expected the axes ({}), found ({})", name,
                                 fmt::join(axes.begin(), axes.end(), ", "), axes_text(field.axes)));
  const auto* values = std::get_if<std::vector<Value>>(&field.values);
  if (values == nullptr) throw ShapeError(fmt::format("{}: expected {}, found values of another type", name, type));
  if (!holds(field.axes, values->size()))
    throw ShapeError(
        fmt::format("{}: holds {} values, which is not the product of its axes' sizes", name, values->size()));
  return *values;
}

template <class Value>
std::vector<Value> slice_of_pairs(const Result& result, std::string_view name, std::string_view pairs,
                                  const char* type) {
  const Field& field = result.at(name);
  if (field.axes.size() != 3) return values_of<Value>(result, name, {"layer", "head"}, type);
  const auto& all = values_of<Value>(result, name, {"pairs", "layer", "head"}, type);
  const std::size_t place = place_of(field, "pairs", pairs);
  const auto size = static_cast<std::ptrdiff_t>(all.size() / labels_of(field, "pairs").size());
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(place) * size;
  return {begin, begin + size};
}

}  // namespace

std::vector<double> as_doubles(const Field& field) {
  return std::visit(
      [&](const auto& values) -> std::vector<double> {
        if constexpr (std::is_same_v<std::decay_t<decltype(values)>, std::vector<std::string>>)
          throw ShapeError(fmt::format("{}: expected numbers, found texts", field.name));
        else
          return {values.begin(), values.end()};
      },
      field.values);
}

std::size_t place_of(const Field& field, std::string_view axis, std::string_view label) {
  const auto& labels = labels_of(field, axis);
  const auto found = std::find(labels.begin(), labels.end(), label);
  if (found == labels.end())
    throw ShapeError(fmt::format("{}: '{}' is not on the axis '{}'; there are: {}", field.name,
                                 shortened(visible_text(label), 40), axis,
                                 shortened(visible_text(fmt::format("{}", fmt::join(labels, ", "))), 400)));
  return static_cast<std::size_t>(found - labels.begin());
}

std::vector<double> head_doubles(const Result& result, std::string_view name, std::string_view pairs) {
  return slice_of_pairs<double>(result, name, pairs, "doubles");
}

std::vector<std::uint8_t> head_flags(const Result& result, std::string_view name, std::string_view pairs) {
  return slice_of_pairs<std::uint8_t>(result, name, pairs, "flags (uint8)");
}

const std::vector<double>& doubles_of(const Result& result, std::string_view name,
                                      std::initializer_list<std::string_view> axes) {
  return values_of<double>(result, name, axes, "doubles");
}

const std::vector<std::string>& strings_of(const Result& result, std::string_view name,
                                           std::initializer_list<std::string_view> axes) {
  return values_of<std::string>(result, name, axes, "texts");
}

const std::vector<std::uint8_t>& flags_of(const Result& result, std::string_view name,
                                          std::initializer_list<std::string_view> axes) {
  return values_of<std::uint8_t>(result, name, axes, "flags (uint8)");
}

const std::vector<std::int64_t>& counts_of(const Result& result, std::string_view name,
                                           std::initializer_list<std::string_view> axes) {
  return values_of<std::int64_t>(result, name, axes, "whole numbers");
}

std::vector<double> coordinates(const Field& field, std::string_view axis) {
  const auto& values = field.axis(axis).values;
  if (const auto* doubles = std::get_if<std::vector<double>>(&values)) return *doubles;
  if (const auto* counts = std::get_if<std::vector<std::int64_t>>(&values)) return {counts->begin(), counts->end()};
  throw ShapeError(fmt::format("{}: expected numbers on the axis '{}', found texts", field.name, axis));
}

std::vector<Index> whole_coordinates(const Field& field, std::string_view axis) {
  std::vector<Index> whole;
  for (const double value : coordinates(field, axis)) {
    if (!(std::abs(value) < 1e15) || value != std::floor(value))
      throw ShapeError(fmt::format("{}: expected whole numbers on the axis '{}', found {}", field.name, axis, value));
    whole.push_back(static_cast<Index>(value));
  }
  return whole;
}

const std::vector<std::string>& labels_of(const Field& field, std::string_view axis) {
  if (const auto* labels = std::get_if<std::vector<std::string>>(&field.axis(axis).values)) return *labels;
  throw ShapeError(fmt::format("{}: expected texts on the axis '{}', found numbers", field.name, axis));
}

}  // namespace headwave
