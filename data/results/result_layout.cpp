#include "result_layout.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../files/printable.h"

namespace headwave {

namespace {

/// Whether netCDF, CF and languages with attributes accept a name.
bool is_identifier(const std::string& name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && is_letter(name.front()) && name.size() <= 200 && std::ranges::all_of(name, [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '.';
  });
}

[[noreturn]] void refuse(const std::string& name, const std::string& problem) {
  throw ShapeError(fmt::format("write_result: '{}': {}", printable(name), problem));
}

void check_field(const Field& field) {
  if (field.name.find('/') == field.name.npos || !is_identifier(field.group()) || !is_identifier(field.quantity()) ||
      field.group() == "provenance")
    refuse(field.name, "a Field's name must be 'group/quantity' of letters, digits, '_', '-' and '.'");
  const auto count = std::visit([](const auto& list) { return static_cast<Index>(list.size()); }, field.values);
  if (count != field.size())
    refuse(field.name, fmt::format("its axes hold {} entries, {} values came", field.size(), count));
}

void add_axes(ResultGroup& group, const Field& field) {
  for (const Axis& axis : field.axes) {
    const auto known = std::ranges::find(group.axes, axis.name, [](const Axis* a) { return a->name; });
    if (known == group.axes.end())
      group.axes.push_back(&axis);
    else if ((*known)->unit != axis.unit || (*known)->values != axis.values)
      refuse(field.name,
             fmt::format("the axis '{}' has other values or units than elsewhere in '{}': call it otherwise", axis.name,
                         group.name));
  }
}

}  // namespace

const Field& ResultGroup::signal() const {
  const auto is_drawable = [](const Field* field) {
    return !field->axes.empty() && !std::holds_alternative<std::vector<std::string>>(field->values);
  };
  const auto found = std::ranges::find_if(fields, is_drawable);
  return found == fields.end() ? *fields.front() : **found;
}

std::vector<ResultGroup> result_groups(const Result& result) {
  std::vector<ResultGroup> groups;
  std::set<std::string> names;
  for (const Field& field : result.fields) {
    check_field(field);
    if (!names.insert(field.name).second) refuse(field.name, "two Fields have this name");
    auto group = std::ranges::find(groups, field.group(), &ResultGroup::name);
    if (group == groups.end()) group = groups.insert(groups.end(), ResultGroup{field.group(), {}, {}});
    group->fields.push_back(&field);
    add_axes(*group, field);
  }
  return groups;
}

std::vector<Index> result_chunks(const std::vector<Index>& shape, std::size_t entry_bytes) {
  constexpr Index small_array = 4096;
  constexpr Index one_head = 1'000'000;
  constexpr Index several_heads = 65'536;
  Index bytes = static_cast<Index>(entry_bytes);
  for (const Index size : shape) bytes *= size;
  if (bytes <= small_array) return {};
  std::vector<Index> chunk(shape.size(), 1);
  Index used = static_cast<Index>(entry_bytes);
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const Index limit = axis + 2 >= shape.size() ? one_head : several_heads;
    chunk[axis] = std::clamp<Index>(limit / used, 1, shape[axis]);
    used *= chunk[axis];
    if (chunk[axis] < shape[axis]) break;
  }
  return chunk;
}

}  // namespace headwave
