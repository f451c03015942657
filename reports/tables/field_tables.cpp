#include "field_tables.h"

#include <algorithm>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../data/files/printable.h"

namespace headwave {

namespace {

constexpr std::size_t piece = 1 << 16;

/// A result may come from a file that anybody wrote, and names become names of files.
void require_plain(const std::string& name, const Field& field) {
  const bool plain = !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (!plain)
    throw FormatError(fmt::format("{}: cannot be a table: expected names of letters, digits and _, found '{}'",
                                  printable(field.name), printable(name)));
}

std::string table_name(const Field& field) {
  std::string name = field.group();
  require_plain(name, field);
  for (const Axis& axis : field.axes) {
    require_plain(axis.name, field);
    name += "." + axis.name;
  }
  return name;
}

template <class Value>
Cell cell_of(const Value& value) {
  if constexpr (std::is_integral_v<Value>)
    return static_cast<Index>(value);
  else
    return value;
}

/// An axis' values as cells of a file, each made once.
std::vector<std::string> axis_labels(const Axis& axis) {
  std::vector<std::string> labels;
  std::visit(
      [&](const auto& values) {
        for (const auto& value : values) labels.push_back(csv_cell(cell_of(value)));
      },
      axis.values);
  return labels;
}

Cell value_of(const Field& field, std::size_t row) {
  return std::visit(
      [&](const auto& values) -> Cell {
        if constexpr (std::is_same_v<typename std::decay_t<decltype(values)>::value_type, std::uint8_t>)
          if (values[row] < field.flag_meanings.size()) return field.flag_meanings[values[row]];
        return cell_of(values[row]);
      },
      field.values);
}

}  // namespace

Index FieldTable::rows() const {
  return fields.front()->size();
}

std::vector<FieldTable> field_tables(const Result& result) {
  std::vector<FieldTable> tables;
  for (const Field& field : result.fields) {
    field.check_shape();
    const std::string name = table_name(field);
    auto table = std::ranges::find(tables, name, &FieldTable::name);
    if (table == tables.end()) table = tables.insert(tables.end(), {name, {}});
    if (!table->fields.empty() && table->rows() != field.size())
      throw ShapeError(
          fmt::format("{}: its axes have other sizes than those of {}", field.name, table->fields.front()->name));
    table->fields.push_back(&field);
  }
  return tables;
}

void write_csv(const FieldTable& table, const std::function<void(std::string_view)>& write) {
  const std::vector<Axis>& axes = table.fields.front()->axes;
  std::vector<std::vector<std::string>> labels;
  std::vector<std::string> cells;
  for (const Axis& axis : axes) {
    labels.push_back(axis_labels(axis));
    cells.push_back(csv_cell(axis.name));
  }
  for (const Field* field : table.fields) cells.push_back(csv_cell(field->quantity()));
  std::string text = csv_line(cells);
  std::vector<std::size_t> place(axes.size(), 0);
  const auto rows = static_cast<std::size_t>(table.rows());
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < axes.size(); ++i) cells[i] = labels[i][place[i]];
    for (std::size_t i = 0; i < table.fields.size(); ++i)
      cells[axes.size() + i] = csv_cell(value_of(*table.fields[i], row));
    text += csv_line(cells);
    for (std::size_t i = axes.size(); i-- > 0;) {
      if (++place[i] < labels[i].size()) break;
      place[i] = 0;
    }
    if (text.size() < piece) continue;
    write(text);
    text.clear();
  }
  write(text);
}

DataTable column_table(const std::vector<FieldTable>& tables) {
  DataTable columns({"file", "column", "is", "unit", "long_name", "undefined"});
  for (const FieldTable& table : tables) {
    const std::string file = table.name + ".csv";
    for (const Axis& axis : table.fields.front()->axes)
      columns.add_row({file, axis.name, std::string("axis"), axis.unit, axis.long_name, std::string()});
    for (const Field* field : table.fields)
      columns.add_row({file, field->quantity(), std::string("value"), field->unit, field->long_name,
                       attribute_text(field->attributes, "undefined")});
  }
  return columns;
}

}  // namespace headwave
