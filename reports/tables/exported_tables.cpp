#include "exported_tables.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/errors/nearest_name.h"
#include "../../core/fields/field_reader.h"
#include "../../data/files/printable.h"
#include "../../data/files/replaced_file.h"
#include "head_findings.h"

namespace headwave {

namespace {

/// A result may come from a file that anybody wrote, and names become names of files.
std::string table_name(const Field& field) {
  std::string name;
  const auto add = [&](const std::string& part) {
    const bool plain = !part.empty() && std::ranges::all_of(part, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    });
    if (!plain)
      throw FormatError(fmt::format("{}: cannot be a table: expected names of letters, digits and _, found '{}'",
                                    printable(field.name), printable(part)));
    name += (name.empty() ? "" : ".") + part;
  };
  add(field.group());
  for (const Axis& axis : field.axes) add(axis.name);
  return name;
}

/// An axis' values as cells of a file, each made once.
std::vector<std::string> axis_labels(const Axis& axis) {
  std::vector<std::string> labels;
  std::visit(
      [&](const auto& values) {
        for (const auto& value : values) labels.push_back(csv_cell(Cell(value)));
      },
      axis.values);
  return labels;
}

Cell value_of(const Field& field, std::size_t row) {
  return std::visit(
      [&](const auto& values) -> Cell {
        if constexpr (std::is_same_v<typename std::decay_t<decltype(values)>::value_type, std::uint8_t>)
          if (values[row] < field.flag_meanings.size()) return field.flag_meanings[values[row]];
        return values[row];
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
  constexpr std::size_t piece = 1 << 16;
  std::vector<std::vector<std::string>> labels;
  std::vector<std::string> cells;
  for (const Axis& axis : table.fields.front()->axes) {
    labels.push_back(axis_labels(axis));
    cells.push_back(csv_cell(axis.name));
  }
  for (const Field* field : table.fields) cells.push_back(csv_cell(field->quantity()));
  std::string text = csv_line(cells);
  for (std::size_t row = 0; row < static_cast<std::size_t>(table.rows()); ++row) {
    std::size_t place = row;
    for (std::size_t i = labels.size(); i-- > 0; place /= labels[i].size())
      cells[i] = labels[i][place % labels[i].size()];
    for (std::size_t i = 0; i < table.fields.size(); ++i)
      cells[labels.size() + i] = csv_cell(value_of(*table.fields[i], row));
    text += csv_line(cells);
    if (text.size() < piece) continue;
    write(text);
    text.clear();
  }
  write(text);
}

namespace {

constexpr Index most_beside_heads = 8;  // entries of an axis beside layer and head that become columns

/// The entries of the axis that a Field has beside layer and head: one, empty, if there is none; no entry if the axis is
/// long, or the Field is not of heads.
std::vector<std::string> beside_heads(const Field& field) {
  if (!has_axis(field, "layer") || !has_axis(field, "head") || field.axes.size() > 3) return {};
  for (const Axis& axis : field.axes)
    if (axis.name != "layer" && axis.name != "head")
      return axis.size() > most_beside_heads ? std::vector<std::string>() : entries_of(field, axis.name);
  return {""};
}

}  // namespace

DataTable head_rows(const Result& result) {
  const HeadValues found = head_values(result);
  if (found.heads.empty()) return DataTable({});
  const DataTable values = head_data(result, found);
  std::vector<std::string> names = values.columns();
  std::vector<std::vector<Cell>> rows = values.rows();
  const auto add = [&](const std::string& name, const Field& field, const std::string& entry) {
    names.push_back(name);
    const std::vector<double> numbers = numbers_of_heads(result, field.name, entry, found.heads);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].emplace_back(numbers[i]);
  };
  for (const Field& field : result.fields) {
    const std::string begin = field.quantity() == "estimate" ? field.group() + "/" : field.name + "_";
    const Field *lower = result.find(begin + "lower"), *upper = result.find(begin + "upper");
    if (lower == nullptr || upper == nullptr) continue;
    for (const std::string& entry : beside_heads(field)) {
      const std::string name = entry.empty()                      ? field.name
                               : field.name == account_part_field ? "by_" + entry
                                                                  : field.name + "." + entry;
      if (std::ranges::find(names, name) == names.end()) add(name, field, entry);
      add(name + "_low", *lower, entry);
      add(name + "_high", *upper, entry);
    }
  }
  DataTable table(names);
  for (std::vector<Cell>& row : rows) table.add_row(std::move(row));
  return table;
}

ExportedTables::ExportedTables(const Result& result, const std::vector<std::string>& groups, std::optional<Index> most,
                               const std::string& called)
    : tables_(field_tables(result)) {
  std::vector<std::string> known;
  for (const Field& field : result.fields) known.push_back(field.group());
  for (const std::string& group : groups)
    if (std::ranges::find(known, group) == known.end())
      throw FormatError(fmt::format("{}: it has no '{}'{}", called, printable(group), did_you_mean(group, known)));
  if (groups.empty())
    heads_ = head_rows(result);
  else
    std::erase_if(tables_, [&](const FieldTable& table) {
      return std::ranges::find(groups, table.fields.front()->group()) == groups.end();
    });
  for (const FieldTable& table : tables_)
    if (most && table.rows() > *most) left_out_.push_back(table.name);
  std::erase_if(tables_, [&](const FieldTable& table) { return most && table.rows() > *most; });
}

std::vector<std::filesystem::path> ExportedTables::files() const {
  std::vector<std::filesystem::path> files{columns_file};
  if (!heads_.columns().empty()) files.emplace_back("heads.csv");
  for (const FieldTable& table : tables_) files.emplace_back(table.name + ".csv");
  return files;
}

void ExportedTables::write(const std::filesystem::path& folder) const {
  DataTable columns({"file", "column", "is", "unit", "long_name", "undefined"});
  std::vector<std::unique_ptr<ReplacedFile>> files;
  for (const std::filesystem::path& name : this->files())
    files.push_back(std::make_unique<ReplacedFile>(folder / name));
  if (!heads_.columns().empty()) files[1]->write(comma_separated(heads_));
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    ReplacedFile& file = *files[files.size() - tables_.size() + i];
    const std::vector<const Field*>& fields = tables_[i].fields;
    write_csv(tables_[i], [&](std::string_view text) { file.write(text); });
    const std::string name = tables_[i].name + ".csv";
    for (const Axis& axis : fields.front()->axes)
      columns.add_row({name, axis.name, "axis", axis.unit, axis.long_name, ""});
    for (const Field* field : fields)
      columns.add_row({name, field->quantity(), "value", field->unit, field->long_name,
                       attribute_text(field->attributes, "undefined")});
  }
  files.front()->write(comma_separated(columns));
  commit_all(files);
}

}  // namespace headwave
