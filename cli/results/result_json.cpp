#include "result_json.h"

#include <cmath>

#include <nlohmann/json.hpp>

#include "../../data/hdf5/hdf5_file.h"
#include "../../data/results/result_file.h"
#include "../../reports/tables/head_findings.h"
#include "../../reports/tables/head_table.h"
#include "../terminal/terminal.h"
#include "result_path.h"

namespace headwave::cli {

namespace {

using nlohmann::ordered_json;

/// Version of the output of --json, docs/inspect-json.md. Within a version keys may be added, but none
/// removed or changed. 2: heads are numbers, not texts of a table.
constexpr int json_version = 2;

ordered_json json_of(const Attribute& attribute) {
  return std::visit([](const auto& value) -> ordered_json { return value; }, attribute);
}

ordered_json json_of(const Attributes& attributes) {
  ordered_json object = ordered_json::object();
  for (const auto& [name, value] : attributes) object[name] = json_of(value);
  return object;
}

/// JSON has no NaN: undefined numbers and missing texts are null.
ordered_json json_of(const Cell& cell) {
  if (const auto* number = std::get_if<double>(&cell))
    return std::isnan(*number) ? ordered_json() : ordered_json(*number);
  if (const auto* count = std::get_if<Index>(&cell)) return *count;
  const auto& text = std::get<std::string>(cell);
  return text.empty() ? ordered_json() : ordered_json(text);
}

ordered_json heads_json(const Result& result) {
  ordered_json heads = ordered_json::array();
  const HeadValues values = head_values(result);
  const DataTable table = head_data(result, values);
  for (std::size_t row = 0; row < values.heads.size(); ++row) {
    ordered_json head = ordered_json::object();
    for (const auto& [name, cells] : table)
      if (!name.starts_with("planted_")) head[name] = json_of(cells[row]);
    if (const std::string kind = values.word(row, "planted_kind"); !kind.empty())
      head["planted"] = {{"kind", kind},
                         {"offset", json_of(Cell(values.number(row, "planted_offset")))},
                         {"found", values.word(row, "planted_found") == "true"}};
    heads.push_back(std::move(head));
  }
  return heads;
}

ordered_json json_of(const Listing& listing) {
  ordered_json entries = ordered_json::array();
  for (const ListingEntry& entry : listing.entries)
    entries.push_back({{"name", entry.name},
                       {"kind", entry.kind},
                       {"dtype", entry.dtype},
                       {"shape", entry.shape},
                       {"unit", entry.unit},
                       {"storage", entry.storage},
                       {"attributes", json_of(entry.attributes)}});
  ordered_json json{{"version", json_version}, {"path", listing.path.string()},
                    {"kind", listing.kind},    {"facts", json_of(listing.facts)},
                    {"entries", entries},      {"notes", listing.notes}};
  if (is_result(listing)) json["heads"] = heads_json(read_result(*listing.hdf5, fields_of_heads(listing)));
  return json;
}

std::string printed(const ordered_json& json) {
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string listing_json(const Listing& listing) {
  return printed(json_of(listing));
}

std::string folder_json(const std::filesystem::path& folder) {
  const auto files = result_files(folder);
  if (files.size() == 1) return listing_json(listing_of(files.begin()->second));
  ordered_json list = ordered_json::array();
  for (const auto& [kind, file] : files) list.push_back(json_of(listing_of(file)));
  return printed(list);
}

std::vector<std::string> fields_of_heads(const Listing& listing) {
  std::vector<std::string> names = head_table_fields();
  for (const ListingEntry& entry : listing.entries)
    if (entry.attributes.contains("column")) names.push_back(entry.name.substr(1));  // without the first /
  return names;
}

std::string attribute_json(const Attribute& attribute) {
  return json_of(attribute).dump();
}

bool is_result(const Listing& listing) {
  return listing.kind == "headwave result";
}

}  // namespace headwave::cli
