#include "field.h"

#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace headwave {

std::string attribute_text(const Attributes& attributes, const std::string& name, const std::string& otherwise) {
  const auto found = attributes.find(name);
  const auto* text = found == attributes.end() ? nullptr : std::get_if<std::string>(&found->second);
  return text == nullptr ? otherwise : *text;
}

Index Axis::size() const {
  return std::visit([](const auto& list) { return static_cast<Index>(list.size()); }, values);
}

Index Field::size() const {
  Index product = 1;
  for (const Axis& axis : axes) product *= axis.size();
  return product;
}

void Field::check_shape() const {
  const auto came = std::visit([](const auto& list) { return list.size(); }, values);
  if (static_cast<std::size_t>(size()) != came)
    throw ShapeError(
        fmt::format("{}: expected {} values, the product of its axes' sizes, found {}", name, size(), came));
}

const std::vector<double>& Field::doubles() const {
  if (const auto* list = std::get_if<std::vector<double>>(&values)) return *list;
  throw ShapeError(fmt::format("{}: expected an array of doubles, found another type; read `values` instead", name));
}

const Axis& Field::axis(std::string_view axis_name) const {
  for (const Axis& axis : axes)
    if (axis.name == axis_name) return axis;
  throw ShapeError(fmt::format("{}: has no axis '{}'", name, axis_name));
}

std::string Field::group() const {
  return name.substr(0, name.find('/'));
}

std::string Field::quantity() const {
  const auto slash = name.find('/');
  return slash == std::string::npos ? name : name.substr(slash + 1);
}

const Field* Result::find(std::string_view name) const {
  for (const Field& field : fields)
    if (field.name == name) return &field;
  return nullptr;
}

const Field& Result::at(std::string_view name) const {
  if (const Field* field = find(name)) return *field;
  throw ShapeError(fmt::format("the result has no array '{}'; `headwave inspect` lists those it has", name));
}

Axis counting_axis(std::string name, std::string unit, std::string long_name, Index first, Index last) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(last - first + 1));
  std::iota(values.begin(), values.end(), first);
  return {std::move(name), std::move(unit), std::move(long_name), std::move(values)};
}

Axis layer_axis(const std::vector<Index>& layers) {
  return {"layer", "1", "layer, 0-based", std::vector<std::int64_t>(layers.begin(), layers.end())};
}

Axis layer_axis(Index layers) {
  return counting_axis("layer", "1", "layer, 0-based", 0, layers - 1);
}

Axis head_axis(Index heads) {
  return counting_axis("head", "1", "attention head, 0-based", 0, heads - 1);
}

Axis document_axis(Index documents) {
  return counting_axis("document", "1", "document, 0-based", 0, documents - 1);
}

Axis offset_axis(std::string name, Index first, Index last) {
  return counting_axis(std::move(name), "token", "offset: key position minus query position", first, last);
}

Field make_field(std::string name, std::vector<Axis> axes, std::string unit, std::string long_name,
                 std::vector<double> values) {
  Field field{std::move(name), std::move(axes), std::move(unit), std::move(long_name), std::move(values), {}, {}};
  field.check_shape();
  return field;
}

void append(std::vector<Field>& fields, std::vector<Field> more) {
  for (Field& field : more) fields.push_back(std::move(field));
}

}  // namespace headwave
