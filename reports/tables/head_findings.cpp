#include "head_findings.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "../../core/fields/field_reader.h"
#include "../../core/fields/measures.h"

namespace headwave {

namespace {

constexpr const char *cluster_field = "head_cluster/share", *planted_kind_field = "planted/kind",
                     *planted_offset_field = "planted/offset";

/// Writes what a Field has for heads, which may be of other layers than were measured, into their cells.
template <class Value>
void fill(std::vector<Cell>& cells, const HeadValues& values, const Field& field, const std::vector<Value>& found) {
  const FieldHeads known = field_heads(field);
  for (std::size_t head = 0; head < cells.size(); ++head)
    if (const std::size_t row = known.row_of(values.heads[head]); row < found.size()) cells[head] = found[row];
}

/// @returns nullptr if the Field is missing, or lacks the part
const Field* field_of(const Result& result, const Measure& measure) {
  const Field* field = *measure.field == '\0' ? nullptr : result.find(measure.field);
  if (field == nullptr || field->axes.empty()) return nullptr;
  if (field->axes.size() != 3 || std::string_view(field->axes.back().name) == "head") return field;
  return std::ranges::count(labels_of(*field, field->axes.back().name), measure.part) > 0 ? field : nullptr;
}

/// The score and the chance of every head's own kind.
void add_kind_scores(HeadValues& values, const Result& result) {
  for (const KindScore& one : kind_scores())
    for (const auto& [column, name] : {std::pair("kind_score", one.score), {"kind_chance", one.baseline}}) {
      const Field* field = result.find(name);
      if (field == nullptr) continue;
      std::vector<Cell> scores(values.heads.size(), not_defined);
      fill(scores, values, *field, head_doubles(result, name, ""));
      for (std::size_t head = 0; head < scores.size(); ++head)
        if (values.word(head, "kind") == one.kind) values.cells[column][head] = scores[head];
    }
}

/// The cluster that holds most of a head's documents, and their share; of equal ones the first.
void add_clusters(HeadValues& values, const Result& result) {
  const auto& shares = doubles_of(result, cluster_field, {"layer", "head", "cluster"});
  const auto clusters = whole_coordinates(result.at(cluster_field), "cluster");
  const FieldHeads known = field_heads(result.at(cluster_field));
  for (std::size_t head = 0; head < values.heads.size(); ++head)
    for (std::size_t c = 0, row = known.row_of(values.heads[head]); row < known.size() && c < clusters.size(); ++c)
      if (const double share = shares[row * clusters.size() + c];
          share > 0 && !(share <= values.number(head, "cluster_share"))) {
        values.cells["cluster"][head] = clusters[c];
        values.cells["cluster_share"][head] = share;
      }
}

void add_planted(HeadValues& values, const Result& result) {
  const std::size_t heads = values.heads.size();
  std::vector<Cell>&kinds = values.cells["planted_kind"], &offsets = values.cells["planted_offset"],
  &found = values.cells["planted_found"];
  kinds = found = std::vector<Cell>(heads, "");
  offsets = std::vector<Cell>(heads, not_defined);
  fill(kinds, values, result.at(planted_kind_field), strings_of(result, planted_kind_field, {"layer", "head"}));
  fill(offsets, values, result.at(planted_offset_field), doubles_of(result, planted_offset_field, {"layer", "head"}));
  for (std::size_t head = 0; head < heads; ++head) {
    if (values.word(head, "planted_kind").empty()) continue;
    const double planted = values.number(head, "planted_offset"), offset = values.number(head, "offset");
    const bool is_found = std::isnan(planted)  ? std::isnan(offset)
                          : std::isnan(offset) ? planted == 0 && values.word(head, "status") == "self"
                                               : std::abs(planted - offset) <= 0.5;
    found[head] = is_found ? "true" : "false";
  }
}

}  // namespace

double HeadValues::number(std::size_t head, std::string_view measure) const {
  const auto found = cells.find(measure);
  if (found == cells.end()) return not_defined;
  const Cell& cell = found->second[head];
  if (const auto* count = std::get_if<Index>(&cell)) return static_cast<double>(*count);
  const auto* number = std::get_if<double>(&cell);
  return number == nullptr ? not_defined : *number;
}

std::string HeadValues::word(std::size_t head, std::string_view measure) const {
  const auto found = cells.find(measure);
  const auto* word = found == cells.end() ? nullptr : std::get_if<std::string>(&found->second[head]);
  return word == nullptr ? std::string() : *word;
}

bool HeadValues::any(std::string_view measure) const {
  for (std::size_t head = 0; head < heads.size(); ++head)
    if (!std::isnan(number(head, measure)) || !word(head, measure).empty()) return true;
  return false;
}

HeadValues head_values(const Result& result) {
  HeadValues values;
  const Field* first = nullptr;
  for (const char* name : {"measured_offset/offset", "word_atlas/predicted_offset", "position_atlas/predicted_offset"})
    if (first == nullptr) first = result.find(name);
  if (first == nullptr) return values;
  const FieldHeads heads = field_heads(*first);
  for (std::size_t row = 0; row < heads.size(); ++row) {
    values.heads.push_back(heads[row]);
    values.cells["head"].emplace_back(head_name(heads[row].layer, heads[row].head));
    values.cells["layer"].emplace_back(heads[row].layer);
    values.cells["index"].emplace_back(heads[row].head);
  }
  for (const Measure& measure : measures()) {
    const Field* field = field_of(result, measure);
    std::vector<Cell>& cells = values.cells[*measure.name == '\0' ? measure.field : measure.name];
    if (cells.empty() || field != nullptr)
      cells.assign(values.heads.size(), measure.word ? Cell("") : Cell(not_defined));
    if (field != nullptr && measure.word)
      fill(cells, values, *field, head_meanings(result, measure.field, measure.part));
    else if (field != nullptr)
      fill(cells, values, *field, head_doubles(result, measure.field, measure.part));
  }
  for (const Field* field : asked_columns(result)) {
    std::vector<Cell>& cells = values.cells[field->name];
    cells.assign(values.heads.size(), not_defined);
    fill(cells, values, *field, doubles_of(result, field->name, {"layer", "head"}));
  }
  add_kind_scores(values, result);
  if (result.find(cluster_field) != nullptr) add_clusters(values, result);
  if (result.find(planted_kind_field) != nullptr) add_planted(values, result);
  return values;
}

std::vector<std::string> head_data_columns() {
  std::vector<std::string> names{"head", "layer", "index"};
  for (const Measure& measure : measures())
    if (*measure.name != '\0' && std::ranges::count(names, measure.name) == 0) names.emplace_back(measure.name);
  return names;
}

std::vector<const Field*> asked_columns(const Result& result) {
  std::vector<const Field*> asked;
  for (const Field& field : result.fields)
    if (!attribute_text(field.attributes, "column").empty()) asked.push_back(&field);
  return asked;
}

DataTable head_data(const Result& result, const HeadValues& values) {
  std::vector<std::string> names = head_data_columns();
  if (values.any("planted_kind")) names.insert(names.end(), {"planted_kind", "planted_offset", "planted_found"});
  for (const Field* field : asked_columns(result)) names.push_back(field->name);
  DataTable table(names);
  for (std::size_t head = 0; head < values.heads.size(); ++head) {
    std::vector<Cell> row;
    for (const std::string& name : names) row.push_back(values.cells.at(name)[head]);
    table.add_row(std::move(row));
  }
  return table;
}

std::vector<std::string> head_value_fields() {
  std::set<std::string> names{cluster_field, planted_kind_field, planted_offset_field};
  for (const KindScore& one : kind_scores()) names.insert({one.score, one.baseline});
  for (const Measure& measure : measures()) names.insert(measure.field);
  names.erase("");
  return {names.begin(), names.end()};
}

}  // namespace headwave
