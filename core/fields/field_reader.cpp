#include "field_reader.h"

#include <algorithm>
#include <type_traits>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../errors/error.h"

namespace headwave {

namespace {

std::string axes_text(const std::vector<Axis>& axes) {
  std::string text;
  for (const Axis& axis : axes) text += (text.empty() ? "" : ", ") + quotable(axis.name);
  return text.size() > 100 ? text.substr(0, 97) + "..." : text;
}

/// Whether the axes' sizes multiply to exactly `count`, without overflowing.
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
  if (!std::ranges::equal(field.axes, axes, {}, &Axis::name))
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
std::vector<Value> slice_of_heads(const Result& result, std::string_view name, std::string_view slice,
                                  const char* type) {
  const Field& field = result.at(name);
  if (field.axes.size() != 3) return values_of<Value>(result, name, {"layer", "head"}, type);
  const bool last = field.axes[0].name == "layer";
  const std::string& axis = field.axes[last ? 2 : 0].name;
  const auto& all = last ? values_of<Value>(result, name, {"layer", "head", axis}, type)
                         : values_of<Value>(result, name, {axis, "layer", "head"}, type);
  const std::size_t place = place_of(field, axis, slice), entries = static_cast<std::size_t>(field.axis(axis).size()),
                    heads = all.size() / entries;
  std::vector<Value> values;
  for (std::size_t head = 0; head < heads; ++head)
    values.push_back(all[last ? head * entries + place : place * heads + head]);
  return values;
}

}  // namespace

const std::vector<double>& doubles_of(const Result& result, std::string_view name,
                                      std::initializer_list<std::string_view> axes) {
  return values_of<double>(result, name, axes, "doubles");
}

const std::vector<std::string>& strings_of(const Result& result, std::string_view name,
                                           std::initializer_list<std::string_view> axes) {
  return values_of<std::string>(result, name, axes, "strings");
}

const std::vector<std::uint8_t>& flags_of(const Result& result, std::string_view name,
                                          std::initializer_list<std::string_view> axes) {
  return values_of<std::uint8_t>(result, name, axes, "flags (uint8)");
}

const std::vector<std::int64_t>& counts_of(const Result& result, std::string_view name,
                                           std::initializer_list<std::string_view> axes) {
  return values_of<std::int64_t>(result, name, axes, "whole numbers");
}

std::vector<double> as_doubles(const Field& field) {
  return std::visit(
      [&](const auto& values) -> std::vector<double> {
        if constexpr (std::is_same_v<std::decay_t<decltype(values)>, std::vector<std::string>>)
          throw ShapeError(fmt::format("{}: expected numbers, found strings", field.name));
        else
          return {values.begin(), values.end()};
      },
      field.values);
}

std::size_t place_of(const Field& field, std::string_view axis, std::string_view label) {
  const std::vector<std::string> labels = entries_of(field, axis);
  const auto found = std::ranges::find(labels, label);
  if (found != labels.end()) return static_cast<std::size_t>(found - labels.begin());
  std::string there;
  for (const std::string& one : labels) there += (there.empty() ? "" : ", ") + quotable(one);
  throw ShapeError(fmt::format("{}: '{}' is not on the axis '{}', which has: {}", field.name, quotable(label), axis,
                               there.size() > 400 ? there.substr(0, 397) + "..." : there));
}

std::vector<double> head_doubles(const Result& result, std::string_view name, std::string_view slice) {
  return slice_of_heads<double>(result, name, slice, "doubles");
}

std::vector<std::string> head_meanings(const Result& result, std::string_view name, std::string_view slice) {
  std::vector<std::string> words;
  const auto& meanings = result.at(name).flag_meanings;
  for (const std::uint8_t flag : slice_of_heads<std::uint8_t>(result, name, slice, "flags (uint8)"))
    words.push_back(flag < meanings.size() ? meanings[flag] : fmt::format("status {}", flag));
  return words;
}

std::vector<double> coordinates(const Field& field, std::string_view axis) {
  const auto& values = field.axis(axis).values;
  if (const auto* doubles = std::get_if<std::vector<double>>(&values)) return *doubles;
  if (const auto* counts = std::get_if<std::vector<std::int64_t>>(&values)) return {counts->begin(), counts->end()};
  throw ShapeError(fmt::format("{}: expected numbers on the axis '{}', found strings", field.name, axis));
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
  throw ShapeError(fmt::format("{}: expected strings on the axis '{}', found numbers", field.name, axis));
}

std::vector<std::string> entries_of(const Field& field, std::string_view axis) {
  std::vector<std::string> entries;
  std::visit(
      [&](const auto& values) {
        for (const auto& value : values) entries.push_back(fmt::format("{}", value));
      },
      field.axis(axis).values);
  return entries;
}

bool has_axis(const Field& field, std::string_view axis) {
  return std::ranges::find(field.axes, axis, &Axis::name) != field.axes.end();
}

std::size_t FieldHeads::row_of(const HeadName& name) const {
  const auto layer = std::ranges::find(layers, name.layer);
  const auto head = std::ranges::find(heads, name.head);
  if (layer == layers.end() || head == heads.end()) return size();
  return static_cast<std::size_t>(layer - layers.begin()) * heads.size() +
         static_cast<std::size_t>(head - heads.begin());
}

FieldHeads field_heads(const Field& field) {
  return {whole_coordinates(field, "layer"), whole_coordinates(field, "head")};
}

double attribute_number(const Attributes& attributes, const std::string& name, double otherwise) {
  const auto found = attributes.find(name);
  if (found == attributes.end()) return otherwise;
  if (const auto* number = std::get_if<double>(&found->second)) return *number;
  const auto* whole = std::get_if<std::int64_t>(&found->second);
  return whole == nullptr ? otherwise : static_cast<double>(*whole);
}

void require_fitting(const Result& result, const std::vector<std::string>& names) {
  std::vector<const Field*> fields;
  for (const std::string& name : names)
    if (const Field* field = result.find(name)) fields.push_back(field);
  for (const Field* field : fields) {
    const auto count = std::visit([](const auto& values) { return values.size(); }, field->values);
    if (!holds(field->axes, count))
      throw ShapeError(
          fmt::format("{}: holds {} values, which is not the product of its axes' sizes", field->name, count));
    if (count == 0) throw ShapeError(fmt::format("{}: holds no values", field->name));
    for (const Axis& axis : field->axes)
      for (const Field* other : fields)
        if (has_axis(*other, axis.name) && other->axis(axis.name).size() != axis.size())
          throw ShapeError(fmt::format("{}: expected {} entries on the axis '{}', as in {}, found {}", other->name,
                                       axis.size(), quotable(axis.name), field->name, other->axis(axis.name).size()));
  }
}

}  // namespace headwave
