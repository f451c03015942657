#include "listed_ids.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../core/numbers/error.h"
#include "../files/json_file.h"

namespace headwave {

namespace {

/// A whole number that fits a token id, or an error that says where.
std::int32_t id_of(const nlohmann::json& value, const std::string& name, std::size_t place) {
  const bool whole = value.is_number_integer();
  const std::int64_t number = whole ? value.get<std::int64_t>() : -1;
  if (!whole || number < 0 || number > std::numeric_limits<std::int32_t>::max())
    throw FormatError(fmt::format("{}: entry {} is not a token id; expected whole numbers from 0", name, place));
  return static_cast<std::int32_t>(number);
}

Ids ids_of(const nlohmann::json& list, const std::string& name) {
  Ids ids;
  for (const auto& value : list) ids.push_back(id_of(value, name, ids.size()));
  return ids;
}

/// A list of ids; or, where pairs are expected, an object with a source and a target.
IdPair pair_of(const nlohmann::json& entry, bool pairs, const std::string& name) {
  if (!pairs) {
    if (!entry.is_array())
      throw FormatError(fmt::format("{}: expected a list of lists of ids, found both lists and others", name));
    return {ids_of(entry, name), {}};
  }
  const auto list = [&](const char* key) {
    if (!entry.is_object() || !entry.contains(key) || !entry[key].is_array() || entry[key].empty())
      throw FormatError(
          fmt::format("{}: expected objects with ids under 'source' and 'target' in every entry; '{}' is "
                      "missing or empty in one",
                      name, key));
    return ids_of(entry[key], name);
  };
  return {list("source"), list("target")};
}

/// One document per line, ids between blanks.
std::vector<Ids> ids_by_line(std::string_view text, const std::string& name) {
  std::vector<Ids> documents;
  std::size_t line_number = 1;
  for (std::size_t start = 0; start < text.size(); ++line_number) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    Ids ids;
    for (const char *at = text.data() + start, *stop = text.data() + end; at < stop;) {
      if (*at == ' ' || *at == '\t' || *at == ',' || *at == '\r') {
        ++at;
        continue;
      }
      std::int32_t id = -1;
      const auto [next, error] = std::from_chars(at, stop, id);
      if (error != std::errc() || id < 0)
        throw FormatError(
            fmt::format("{}: line {} holds something that is not a token id; expected whole numbers between spaces",
                        name, line_number));
      ids.push_back(id);
      at = next;
    }
    if (!ids.empty()) documents.push_back(std::move(ids));
    start = end + 1;
  }
  return documents;
}

}  // namespace

std::vector<IdPair> without_targets(std::vector<Ids> documents) {
  std::vector<IdPair> pairs;
  for (Ids& ids : documents) pairs.push_back({std::move(ids), {}});
  return pairs;
}

std::vector<IdPair> listed_ids(std::string_view text, const std::string& name, const PackingOptions& options) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos)
    throw FormatError(fmt::format("{}: the file is empty; expected token ids", name));
  if (text[first] != '[' && text[first] != '{') {
    std::vector<Ids> lines = ids_by_line(text, name);
    if (lines.size() == 1 && options.length) lines = packed_ids(lines.front(), -1, -1, options, name);
    return without_targets(std::move(lines));
  }
  nlohmann::json json = json_of_text(text, name);
  if (json.is_object()) {
    if (!json.contains("ids") || !json["ids"].is_array())
      throw FormatError(fmt::format("{}: expected a list of token ids under 'ids'", name));
    json = nlohmann::json(json["ids"]);
  }
  if (json.empty() || !json.front().is_structured())
    return without_targets(packed_ids(ids_of(json, name), -1, -1, options, name));
  std::vector<IdPair> documents;
  for (const auto& entry : json) documents.push_back(pair_of(entry, json.front().is_object(), name));
  return documents;
}

}  // namespace headwave
