#include "field_heat.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <variant>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/fields/field_reader.h"
#include "../../core/fields/head_name.h"
#include "../drawing/visible_text.h"

namespace headwave {

namespace {

constexpr Index widest = 100, most_rows = 200, most_heat_maps = 8;
constexpr Index profile_reach = 8;  // tokens

std::string label(const Axis& axis, Index i) {
  return std::visit(
      [&](const auto& values) { return visible_text(fmt::format("{}", values[static_cast<std::size_t>(i)])); },
      axis.values);
}

/// "head 0 .. 11"
std::string span(const Axis& axis) {
  return fmt::format("{} {} .. {}", axis.name, label(axis, 0), label(axis, axis.size() - 1));
}

std::string cell_of(const Field& field, double value, const SignScale& scale, Signs signs) {
  return field.flag_meanings.empty() ? sign_of(value, scale, signs) : fmt::format("{:.0f}", value);
}

/// A value of a Field that has both signs: signs of amounts would show -1 and +3 alike.
std::string signed_cell(double value) {
  return std::isnan(value) ? "?" : value == 0 ? "0" : fmt::format("{:+.3g}", value);
}

/// Rows of numbers under the labels of columns; empty: they are too wide for a terminal.
std::string number_map(const Field& field, const std::vector<double>& values) {
  const Axis &rows = field.axes[field.axes.size() - 2], &columns = field.axes.back();
  Index left = display_width(rows.name), wide = 1;
  for (Index r = 0; r < rows.size(); ++r) left = std::max(left, display_width(label(rows, r)));
  for (Index c = 0; c < columns.size(); ++c) wide = std::max(wide, display_width(label(columns, c)));
  for (const double value : values) wide = std::max(wide, display_width(signed_cell(value)));
  if (left + (wide + 1) * columns.size() > widest) return {};
  std::string text = fmt::format("{:<{}}  {}\n{:{}}", rows.name, left, span(columns), "", left);
  for (Index c = 0; c < columns.size(); ++c) text += fmt::format(" {:>{}}", label(columns, c), wide);
  for (Index r = 0; r < rows.size(); ++r) {
    text += fmt::format("\n{:>{}}", label(rows, r), left);
    for (Index c = 0; c < columns.size(); ++c)
      text += fmt::format(" {:>{}}", signed_cell(values[static_cast<std::size_t>(r * columns.size() + c)]), wide);
  }
  return text + '\n';
}

/// Rows with their labels, columns under theirs where there are few.
std::string map_text(const Field& field, const std::vector<double>& values, const SignScale& scale, Signs signs) {
  const Axis &rows = field.axes[field.axes.size() - 2], &columns = field.axes.back();
  const Index group = field.flag_meanings.empty() ? (columns.size() + widest - 1) / widest : 1;
  Index left = display_width(rows.name), wide = 1;
  for (Index r = 0; r < rows.size(); ++r) left = std::max(left, display_width(label(rows, r)));
  for (Index c = 0; c < columns.size(); ++c) wide = std::max(wide, display_width(label(columns, c)));
  const bool named = (wide + 1) * columns.size() <= widest;
  std::string text = fmt::format("{:<{}}  {}{}\n", rows.name, left, span(columns),
                                 group > 1 ? fmt::format(", each sign the mean of {}", group) : "");
  if (named) {
    std::string header(static_cast<std::size_t>(left) + 1, ' ');
    for (Index c = 0; c < columns.size(); ++c) header += fmt::format(" {:>{}}", label(columns, c), wide);
    text += header + "\n";
  }
  for (Index r = 0; r < rows.size(); ++r) {
    const auto begin = values.begin() + r * columns.size();
    text += fmt::format("{:>{}} ", label(rows, r), left);
    if (!named) text += ' ';
    for (const double value : in_groups({begin, begin + columns.size()}, group)) {
      const std::string cell = cell_of(field, value, scale, signs);
      if (named) text += ' ';
      const bool digit = !field.flag_meanings.empty();  // repeated it would be another number
      if (digit) text += std::string(static_cast<std::size_t>(named ? wide - 1 : 0), ' ');
      for (Index i = 0; i < (named && !digit ? wide : 1); ++i) text += cell;
    }
    text += '\n';
  }
  return text;
}

std::string legend(const Field& field, const SignScale& scale, Signs signs) {
  if (field.flag_meanings.empty()) {
    std::string text = scale_words(scale, field.unit, signs);
    const std::string why = attribute_text(field.attributes, "undefined");
    return text + (scale.undefined > 0 && !why.empty() ? fmt::format(": {}", visible_text(why)) : "");
  }
  std::string text;
  for (std::size_t i = 0; i < field.flag_meanings.size(); ++i)
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", i, visible_text(field.flag_meanings[i]));
  return text;
}

/// Which entries of the first of three axes are shown.
std::vector<Index> parts_of(const Field& field, const std::string& part) {
  if (field.axes.size() < 3) {
    if (!part.empty()) throw ShapeError(fmt::format("{}: expected no ':{}', it has one map", field.name, part));
    return {0};
  }
  const Axis& axis = field.axes[0];
  std::vector<Index> parts;
  std::string known;
  for (Index i = 0; i < axis.size(); ++i) {
    if (part.empty() || label(axis, i) == part) parts.push_back(i);
    if (i < most_heat_maps) known += (i == 0 ? "" : ", ") + label(axis, i);
  }
  if (parts.empty() || std::ssize(parts) > most_heat_maps)
    throw ShapeError(fmt::format("{}: {} maps along {}; name one behind a colon, {}:{} say, of {}{}", field.name,
                                 axis.size(), axis.name, field.name, label(axis, 0), known,
                                 axis.size() > most_heat_maps ? " ..." : ""));
  return parts;
}

}  // namespace

std::string field_heat(const Field& field, const std::string& part, Signs signs) {
  field.check_shape();
  const std::vector<double> all = as_doubles(field);
  const std::size_t axes = field.axes.size();
  if (axes == 0 || axes > 3 || all.empty())
    throw ShapeError(fmt::format("{}: expected one to three axes to show as signs, found {} with {} values", field.name,
                                 axes, all.size()));
  if (axes > 1 && field.axes[axes - 2].size() > most_rows)
    throw ShapeError(fmt::format("{}: expected at most {} rows to show as signs, found {}", field.name, most_rows,
                                 field.axes[axes - 2].size()));
  std::string text = fmt::format("{}: {}\n", field.name, visible_text(field.long_name));
  const std::vector<Index> parts = parts_of(field, part);
  const Index size = axes < 3 ? std::ssize(all) : std::ssize(all) / field.axes[0].size();
  for (const Index i : parts) {
    const std::vector<double> values(all.begin() + i * size, all.begin() + (i + 1) * size);
    const SignScale scale = sign_scale(values);
    if (axes == 3) text += fmt::format("\n{} {}\n", field.axes[0].name, label(field.axes[0], i));
    const bool shown =
        !field.flag_meanings.empty() || (!scale.is_empty() && (!scale.is_constant() || scale.undefined > 0));
    const bool both_signs = field.flag_meanings.empty() && scale.low < 0 && scale.high > 0;
    if (const std::string numbers = both_signs && axes > 1 ? number_map(field, values) : std::string();
        !numbers.empty()) {
      text += numbers;
      if (const std::string why = attribute_text(field.attributes, "undefined"); scale.undefined > 0 && !why.empty())
        text += fmt::format("?: undefined: {}\n", visible_text(why));
      if (field.unit != "1") text += fmt::format("unit: {}\n", visible_text(field.unit));
      continue;
    }
    if (shown && axes == 1) {
      const Index group = (size + widest - 1) / widest;
      std::string line;
      for (const double value : in_groups(values, group)) line += cell_of(field, value, scale, signs);
      text += fmt::format("{}  {}{}\n", line, span(field.axes[0]),
                          group > 1 ? fmt::format(", each sign the mean of {}", group) : "");
    } else if (shown) {
      text += map_text(field, values, scale, signs);
    }
    text += legend(field, scale, signs) + "\n";
  }
  return text;
}

TableColumn profile_column(const Result& result, const std::vector<std::string>& heads, Signs signs) {
  constexpr const char* name = "offset_trace/mean_weight";
  TableColumn column{"profile", Align::left, {}};
  if (result.find(name) == nullptr) return column;
  const auto& weights = doubles_of(result, name, {"pairs", "layer", "head", "offset"});
  const Field& field = result.at(name);
  const FieldHeads all = field_heads(field);
  const auto offsets = whole_coordinates(field, "offset");
  const std::size_t first = place_of(field, "pairs", "all") * all.size();
  for (const std::string& head : heads) {
    const std::size_t row = all.row_of(parse_head_name(head));
    if (row == all.size()) throw ShapeError(fmt::format("{}: expected a profile of {}, found none", name, head));
    std::vector<double> around;
    for (std::size_t t = 0; t < offsets.size(); ++t)
      if (std::abs(offsets[t]) <= profile_reach) around.push_back(weights[(first + row) * offsets.size() + t]);
    column.cells.push_back(sparkline(around, sign_scale(around), signs));
  }
  return column;
}

}  // namespace headwave
