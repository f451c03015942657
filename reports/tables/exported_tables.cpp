#include "exported_tables.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <memory>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../../core/errors/nearest_name.h"
#include "../../core/fields/field_reader.h"
#include "../../core/fields/measures.h"
#include "../../data/files/printable.h"
#include "../../data/files/replaced_file.h"
#include "head_findings.h"
#include "run_sentence.h"

namespace headwave {

namespace {

/// Group and axes as a file's name. Odd characters are replaced: anybody may have written the result.
std::string table_name(const Field& field) {
  std::string name = field.group();
  for (const Axis& axis : field.axes) name += "." + axis.name;
  const auto is_strange = [](unsigned char c) { return c >= 0x80 || (std::isalnum(c) == 0 && c != '_' && c != '.'); };
  std::ranges::replace_if(name, is_strange, '_');
  return name;
}

Cell value_of(const Axis& axis, std::size_t place) {
  return std::visit([&](const auto& values) -> Cell { return values[place]; }, axis.values);
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
      throw ShapeError(fmt::format("{}: its axes differ in size from those of {}, which belong to the same table",
                                   field.name, table->fields.front()->name));
    table->fields.push_back(&field);
  }
  return tables;
}

void write_csv(const FieldTable& table, const std::function<void(std::string_view)>& write) {
  constexpr std::size_t piece = 1 << 16;
  const std::vector<Axis>& axes = table.fields.front()->axes;
  std::vector<std::string> cells;
  for (const Axis& axis : axes) cells.push_back(csv_cell(axis.name));
  for (const Field* field : table.fields) cells.push_back(csv_cell(field->quantity()));
  std::string text = csv_line(cells);
  for (std::size_t row = 0; row < static_cast<std::size_t>(table.rows()); ++row) {
    std::size_t place = row;
    for (std::size_t i = axes.size(); i-- > 0; place /= static_cast<std::size_t>(axes[i].size()))
      cells[i] = csv_cell(value_of(axes[i], place % static_cast<std::size_t>(axes[i].size())));
    for (std::size_t i = 0; i < table.fields.size(); ++i)
      cells[axes.size() + i] = csv_cell(value_of(*table.fields[i], row));
    text += csv_line(cells);
    if (text.size() < piece) continue;
    write(text);
    text.clear();
  }
  write(text);
}

namespace {

/// "org/name" and the commit of a model in the Hub's cache, models--org--name/snapshots/COMMIT. Otherwise the
/// name of its folder, and the recorded commit or the digest of its first file of weights.
std::pair<std::string, std::string> model_and_revision(const Attributes& provenance) {
  constexpr std::string_view cached = "models--";
  const std::filesystem::path path = attribute_text(provenance, "model");
  for (std::filesystem::path place = path; place.has_relative_path(); place = place.parent_path())
    if (std::string name = place.parent_path().parent_path().filename().string();
        place.parent_path().filename() == "snapshots" && name.starts_with(cached)) {
      name.erase(0, cached.size());
      if (const std::size_t owner = name.find("--"); owner != std::string::npos) name.replace(owner, 2, "/");
      return {name, place.filename().string()};
    }
  std::string revision = attribute_text(provenance, "model_revision");
  for (const auto& [digests, called] : {std::pair("model_weights_digest", "weights:"), {"model_sha256", "sha256:"}})
    for (std::istringstream lines(attribute_text(provenance, digests)); revision.empty() && lines;) {
      std::string digest, file;
      lines >> digest;
      std::getline(lines >> std::ws, file);
      if (!digest.empty() && !file.ends_with(".json")) revision = called + digest;
    }
  const bool named = provenance.contains("watched") && path.is_relative();  // named as transformers loads it: org/name
  return {named ? path.string() : model_name(provenance), revision};
}

/// The first cells of every row: what the numbers are about, and what computed them.
std::vector<std::pair<const char*, Cell>> origin_cells(const Attributes& provenance) {
  const auto count = [&](const char* name) {
    const double number = attribute_number(provenance, name, not_defined);
    return std::isnan(number) ? Cell(not_defined) : Cell(static_cast<Index>(number));
  };
  const auto word = [&](const char* name) { return attribute_text(provenance, name); };
  const auto [model, revision] = model_and_revision(provenance);
  const std::string file = word("source_file"), digests = word("source_sha256");
  const bool one_file = digests.find('\n') == std::string::npos;
  return {{"model", model},
          {"revision", revision},
          {"attention", word("attention")},
          {"documents", count("documents")},
          {"length", count("length")},
          {"corpus", file.empty() ? word("source") : std::filesystem::path(file).filename().string()},
          {"corpus_sha256", one_file ? digests.substr(0, digests.find(' ')) : std::string()},
          {"headwave", word("version")},
          {"commit", word("commit")}};
}

/// The numbers of another Field for the same heads, NaN if there are none.
std::vector<Cell> cells_of(const Result& result, const HeadValues& found, const std::string& name, const char* part) {
  const std::vector<double> numbers = numbers_of_heads(result, name, part, found.heads);
  return std::vector<Cell>(numbers.begin(), numbers.end());
}

}  // namespace

DataTable head_rows(const Result& result) {
  const HeadValues found = head_values(result);
  DataTable table;
  if (found.heads.empty()) return table;
  const auto column = [&](const std::string& name) { return std::ranges::find(table, name, &DataColumn::name); };
  const auto put = [&](const std::string& name, std::vector<Cell> cells) {
    if (column(name) == table.end()) table.push_back({name, {}});
    column(name)->cells = std::move(cells);
  };
  for (const auto& [name, cell] : origin_cells(result.provenance))
    put(name, std::vector<Cell>(found.heads.size(), cell));
  for (const char* name : {"head", "layer", "index"}) put(name, found.cells.at(name));
  for (const Measure& measure : measures()) {
    const std::string key = *measure.name == '\0' ? measure.field : measure.name;
    std::string name = key;
    std::ranges::replace(name, '/', '_');
    // If several Fields give one measure, the last that the result contains counts.
    if (column(name) != table.end() && result.find(measure.field) == nullptr) continue;
    put(name, found.cells.at(key));
    const auto put_end = [&](const char* suffix, const char* which) {
      put(name + suffix, cells_of(result, found, found.any(key) ? measure.end(which) : "", measure.part));
    };
    if (measure.interval) put_end("_low", "lower");
    if (measure.interval) put_end("_high", "upper");
    if (measure.p_value) {
      const std::string group(measure.field, std::string_view(measure.field).find('/'));
      put(name + "_p", cells_of(result, found, group + "/p_value", ""));
    }
  }
  for (const Field* field : asked_columns(result)) put(field->name, found.cells.at(field->name));
  return table;
}

ExportedTables::ExportedTables(const Result& result, const std::vector<std::string>& groups, std::optional<Index> most,
                               const std::string& called)
    : tables_(field_tables(result)) {
  std::vector<std::string> known;
  for (const Field& field : result.fields) known.push_back(field.group());
  for (const std::string& group : groups)
    if (std::ranges::find(known, group) == known.end())
      throw FormatError(
          fmt::format("{}: there is no group '{}'{}", called, printable(group), did_you_mean(group, known)));
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
  if (!heads_.empty()) files.emplace_back("heads.csv");
  for (const FieldTable& table : tables_) files.emplace_back(table.name + ".csv");
  return files;
}

void ExportedTables::write(const std::filesystem::path& folder) const {
  DataTable columns{{"file", {}}, {"column", {}}, {"is", {}}, {"unit", {}}, {"long_name", {}}, {"undefined", {}}};
  const auto add_row = [&](const std::array<std::string, 6>& cells) {
    for (std::size_t c = 0; c < cells.size(); ++c) columns[c].cells.emplace_back(cells[c]);
  };
  std::vector<std::unique_ptr<ReplacedFile>> files;
  for (const std::filesystem::path& name : this->files())
    files.push_back(std::make_unique<ReplacedFile>(folder / name));
  if (!heads_.empty()) files[1]->write(comma_separated(heads_));
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    ReplacedFile& file = *files[files.size() - tables_.size() + i];
    const std::vector<const Field*>& fields = tables_[i].fields;
    write_csv(tables_[i], [&](std::string_view text) { file.write(text); });
    const std::string name = tables_[i].name + ".csv";
    for (const Axis& axis : fields.front()->axes) add_row({name, axis.name, "axis", axis.unit, axis.long_name, ""});
    for (const Field* field : fields)
      add_row({name, field->quantity(), "value", field->unit, field->long_name,
               attribute_text(field->attributes, "undefined")});
  }
  files.front()->write(comma_separated(columns));
  commit_all(files);
}

}  // namespace headwave
