#include "exported_tables.h"

#include <algorithm>
#include <memory>
#include <string_view>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/errors/nearest_name.h"
#include "../../data/files/printable.h"
#include "../../data/files/replaced_file.h"

namespace headwave {

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

std::vector<std::filesystem::path> table_files(const std::vector<FieldTable>& tables) {
  std::vector<std::filesystem::path> files{columns_file};
  for (const FieldTable& table : tables) files.emplace_back(table.name + ".csv");
  return files;
}

void write_tables(const std::vector<FieldTable>& tables, const std::filesystem::path& folder,
                  const std::function<void()>& before_named) {
  std::vector<std::unique_ptr<ReplacedFile>> files;
  const auto next_file = [&](const std::string& name) -> ReplacedFile& {
    return *files.emplace_back(std::make_unique<ReplacedFile>(folder / name));
  };
  for (const FieldTable& table : tables) {
    ReplacedFile& file = next_file(table.name + ".csv");
    write_csv(table, [&](std::string_view text) { file.write(text); });
  }
  next_file(columns_file).write(comma_separated(column_table(tables)));
  if (before_named) before_named();
  commit_all(files);
}

}  // namespace headwave
