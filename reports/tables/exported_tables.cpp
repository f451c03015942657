#include "exported_tables.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/errors/nearest_name.h"
#include "../../core/fields/field_reader.h"
#include "../../data/files/printable.h"
#include "../../data/files/replaced_file.h"
#include "head_findings.h"

namespace headwave {

namespace {
constexpr Index most_beside_heads = 8;  ///< entries of an axis beside layer and head that become columns
}  // namespace

void keep_groups(Result& result, const std::vector<std::string>& groups, const std::string& called) {
  if (groups.empty()) return;
  std::vector<std::string> known;
  for (const Field& field : result.fields)
    if (std::ranges::find(known, field.group()) == known.end()) known.push_back(field.group());
  for (const std::string& group : groups)
    if (std::ranges::find(known, group) == known.end())
      throw FormatError(fmt::format("{}: it has no '{}'{}", called, printable(group), did_you_mean(group, known)));
  std::erase_if(result.fields,
                [&](const Field& field) { return std::ranges::find(groups, field.group()) == groups.end(); });
}

std::vector<std::string> remove_long_tables(std::vector<FieldTable>& tables, Index most) {
  std::vector<std::string> names;
  for (const FieldTable& table : tables)
    if (table.rows() > most) names.push_back(table.name);
  std::erase_if(tables, [&](const FieldTable& table) { return table.rows() > most; });
  return names;
}

namespace {

/// The axis of a Field beside layer and head: its place; the number of axes if there is none. Nothing if there are more.
std::optional<std::size_t> axis_beside_heads(const Field& field) {
  if (!has_axis(field, "layer") || !has_axis(field, "head") || field.axes.size() > 3) return std::nullopt;
  const auto beside = [](const Axis& axis) { return axis.name != "layer" && axis.name != "head"; };
  const auto at = static_cast<std::size_t>(std::ranges::find_if(field.axes, beside) - field.axes.begin());
  const bool short_axis = at == field.axes.size() || field.axes[at].size() <= most_beside_heads;
  return short_axis ? std::optional(at) : std::nullopt;
}

/// The numbers of the heads at one place of the axis beside them, by rows of field_heads().
std::vector<double> numbers_at(const Field& field, std::size_t axis, std::size_t place) {
  std::vector<double> all = as_doubles(field);
  if (axis == field.axes.size()) return all;
  const auto size = static_cast<std::size_t>(field.axes[axis].size());
  std::size_t inner = 1;
  for (std::size_t a = axis + 1; a < field.axes.size(); ++a) inner *= static_cast<std::size_t>(field.axes[a].size());
  std::vector<double> numbers;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i / inner % size == place) numbers.push_back(all[i]);
  return numbers;
}

/// What a number is called in the table of heads: "by_position", "rotary_wave/agreement", "head_account/overlap.self".
std::string column_name(const Field& field, std::size_t axis, std::size_t place) {
  if (axis == field.axes.size()) return field.name;
  const std::string part =
      std::visit([&](const auto& values) { return fmt::format("{}", values[place]); }, field.axes[axis].values);
  return field.name == "head_account/part" ? "by_" + part : fmt::format("{}.{}", field.name, part);
}

}  // namespace

DataTable head_rows(const Result& result) {
  const HeadValues found = head_values(result);
  const std::vector<HeadName>& heads = found.heads;
  if (heads.empty()) return DataTable({});
  const DataTable values = head_data(result, found);
  std::vector<std::string> names = values.columns();
  std::vector<std::vector<Cell>> rows = values.rows();
  const auto add = [&](const std::string& name, const Field& field, const std::vector<double>& numbers) {
    names.push_back(name);
    const FieldHeads known = field_heads(field);
    for (std::size_t i = 0; i < heads.size(); ++i) {
      const std::size_t row = known.row_of(heads[i]);
      rows[i].emplace_back(row < numbers.size() ? numbers[row] : std::nan(""));
    }
  };
  for (const Field& field : result.fields) {
    const std::string begin = field.quantity() == "estimate" ? field.group() + "/" : field.name + "_";
    const Field *lower = result.find(begin + "lower"), *upper = result.find(begin + "upper");
    const auto axis = axis_beside_heads(field);
    if (lower == nullptr || upper == nullptr || !axis || lower->size() != field.size() || upper->size() != field.size())
      continue;
    const std::size_t places = *axis == field.axes.size() ? 1 : static_cast<std::size_t>(field.axes[*axis].size());
    for (std::size_t place = 0; place < places; ++place) {
      const std::string name = column_name(field, *axis, place);
      if (std::ranges::find(names, name) == names.end()) add(name, field, numbers_at(field, *axis, place));
      add(name + "_low", field, numbers_at(*lower, *axis, place));
      add(name + "_high", field, numbers_at(*upper, *axis, place));
    }
  }
  DataTable table(names);
  for (std::vector<Cell>& row : rows) table.add_row(std::move(row));
  return table;
}

std::vector<std::filesystem::path> table_files(const std::vector<FieldTable>& tables, const DataTable& heads) {
  std::vector<std::filesystem::path> files{columns_file};
  if (!heads.columns().empty()) files.emplace_back(heads_file);
  for (const FieldTable& table : tables) files.emplace_back(table.name + ".csv");
  return files;
}

void write_tables(const std::vector<FieldTable>& tables, const DataTable& heads, const std::filesystem::path& folder,
                  const std::function<void()>& before_named) {
  std::vector<std::unique_ptr<ReplacedFile>> files;
  const auto next_file = [&](const std::string& name) -> ReplacedFile& {
    return *files.emplace_back(std::make_unique<ReplacedFile>(folder / name));
  };
  for (const FieldTable& table : tables) {
    ReplacedFile& file = next_file(table.name + ".csv");
    write_csv(table, [&](std::string_view text) { file.write(text); });
  }
  if (!heads.columns().empty()) next_file(heads_file).write(comma_separated(heads));
  next_file(columns_file).write(comma_separated(column_table(tables)));
  if (before_named) before_named();
  commit_all(files);
}

}  // namespace headwave
