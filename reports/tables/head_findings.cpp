#include "head_findings.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "../../core/fields/field_reader.h"

namespace headwave {

namespace {

constexpr const char *cluster_field = "head_cluster/share", *planted_kind_field = "planted/kind",
                     *planted_offset_field = "planted/offset", *raised_field = "head_writes/raised";

std::vector<Cell> cells_of(const HeadValues& values, const Result& result, std::string_view field,
                           const char* part = "", bool words = false) {
  const auto cells = [](const auto& found) { return std::vector<Cell>(found.begin(), found.end()); };
  return words ? cells(words_of_heads(result, field, part, values.heads))
               : cells(numbers_of_heads(result, field, part, values.heads));
}

/// @returns nullptr if the Field is missing, or lacks the part
const Field* field_of(const Result& result, const Measure& measure) {
  const Field* field = *measure.field == '\0' ? nullptr : result.find(measure.field);
  if (field == nullptr || field->axes.empty()) return nullptr;
  if (field->axes.size() != 3 || std::string_view(field->axes.back().name) == "head") return field;
  return std::ranges::count(labels_of(*field, field->axes.back().name), measure.part) > 0 ? field : nullptr;
}

/// Adds the score of every head's own kind, and the score by chance.
void add_kind_scores(HeadValues& values, const Result& result) {
  for (const KindScore& one : kind_scores())
    for (const auto& [column, name] : {std::pair("kind_score", one.score), {"kind_chance", one.baseline}}) {
      if (result.find(name) == nullptr) continue;
      const std::vector<Cell> scores = cells_of(values, result, name);
      for (std::size_t head = 0; head < scores.size(); ++head)
        if (values.word(head, "kind") == one.kind) values.cells[column][head] = scores[head];
    }
}

/// Adds the cluster that contains most of a head's documents, and their share; ties go to the first.
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

/// Adds the words that a head raises, separated by spaces.
void add_raised(HeadValues& values, const Result& result) {
  const auto& words = strings_of(result, raised_field, {"layer", "head", "written_rank"});
  const FieldHeads known = field_heads(result.at(raised_field));
  const std::size_t ranks = words.size() / known.size();
  for (std::size_t head = 0; head < values.heads.size(); ++head) {
    std::string all;
    for (std::size_t rank = 0, row = known.row_of(values.heads[head]); row < known.size() && rank < ranks; ++rank)
      if (const std::string& word = words[row * ranks + rank]; !word.empty()) all += (all.empty() ? "" : " ") + word;
    values.cells["raised"][head] = all;
  }
}

void add_planted(HeadValues& values, const Result& result) {
  values.cells["planted_kind"] = cells_of(values, result, planted_kind_field, "", true);
  values.cells["planted_offset"] = cells_of(values, result, planted_offset_field);
  std::vector<Cell>& found = values.cells["planted_found"] = std::vector<Cell>(values.heads.size(), "");
  for (std::size_t head = 0; head < values.heads.size(); ++head) {
    if (values.word(head, "planted_kind").empty()) continue;
    const double planted = values.number(head, "planted_offset"), offset = values.number(head, "offset");
    const bool is_found = std::isnan(planted)  ? std::isnan(offset)
                          : std::isnan(offset) ? planted == 0 && values.says(head, said::at_own_token)
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
  for (const char* name : {measured_offset_field, word_offset_field, weights_offset_field})
    if (first == nullptr) first = result.find(name);
  if (first == nullptr) return values;
  values.heads = heads_of(field_heads(*first));
  for (const HeadName& one : values.heads) {
    values.cells["head"].emplace_back(head_name(one.layer, one.head));
    values.cells["layer"].emplace_back(one.layer);
    values.cells["index"].emplace_back(one.head);
  }
  for (const Measure& measure : measures()) {
    const Field* field = field_of(result, measure);
    std::vector<Cell>& cells = values.cells[*measure.name == '\0' ? measure.field : measure.name];
    if (cells.empty() || field != nullptr)
      cells.assign(values.heads.size(), measure.word ? Cell("") : Cell(not_defined));
    if (field != nullptr) cells = cells_of(values, result, measure.field, measure.part, measure.word);
  }
  for (const Field* field : asked_columns(result)) values.cells[field->name] = cells_of(values, result, field->name);
  add_kind_scores(values, result);
  if (result.find(cluster_field) != nullptr) add_clusters(values, result);
  if (result.find(raised_field) != nullptr) add_raised(values, result);
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
  DataTable table;
  for (const std::string& name : names)
    table.push_back({name, values.heads.empty() ? std::vector<Cell>() : values.cells.at(name)});
  return table;
}

std::vector<std::string> head_value_fields() {
  std::set<std::string> names{cluster_field, planted_kind_field, planted_offset_field, raised_field};
  for (const KindScore& one : kind_scores()) names.insert({one.score, one.baseline});
  for (const Measure& measure : measures()) names.insert(measure.field);
  names.erase("");
  return {names.begin(), names.end()};
}

}  // namespace headwave
