#include "token_ids.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../core/errors/error.h"
#include "../files/json_file.h"

namespace headwave {

namespace {

constexpr Index usual_tokens = 512;

/// T, special tokens included.
/// @param tokens  of the text
/// @param around  special tokens of each document
Index document_length(Index tokens, Index around, const PackingOptions& options) {
  if (options.length) return *options.length;
  const Index usual = usual_length(options);
  const bool is_one_document = tokens > 0 && tokens + around < usual && options.documents.value_or(1) == 1;
  return is_one_document ? tokens + around : usual;
}

/// A token id.
/// @throws FormatError naming the place if it is none
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

/// Keeps the documents that are wanted, and counts all.
class WantedDocuments {
 public:
  explicit WantedDocuments(const PackingOptions& options)
      : wanted_(static_cast<std::size_t>(options.documents.value_or(usual_documents))) {}
  void add(IdPair document) {
    ++count_;
    if (documents_.size() < wanted_) documents_.push_back(std::move(document));
  }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::vector<IdPair> take() { return std::move(documents_); }

 private:
  std::size_t wanted_, count_ = 0;
  std::vector<IdPair> documents_;
};

/// The ids of a line, separated by blanks.
Ids ids_of_line(std::string_view line, const std::string& name, std::size_t number) {
  Ids ids;
  for (const char *at = line.data(), *stop = line.data() + line.size(); at < stop;) {
    if (*at == ' ' || *at == '\t' || *at == ',' || *at == '\r') {
      ++at;
      continue;
    }
    std::int32_t id = -1;
    const auto [next, error] = std::from_chars(at, stop, id);
    if (error != std::errc() || id < 0)
      throw FormatError(fmt::format(
          "{}: line {} holds something that is not a token id; expected whole numbers between spaces", name, number));
    ids.push_back(id);
    at = next;
  }
  return ids;
}

/// One document per line; a single one is cut if a length is given.
std::vector<IdPair> ids_by_line(std::string_view text, const std::string& name, const PackingOptions& options) {
  WantedDocuments documents(options);
  std::size_t line = 1;
  for (std::size_t start = 0; start < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    Ids ids = ids_of_line(text.substr(start, end - start), name, line);
    if (!ids.empty()) documents.add({std::move(ids), {}});
    start = end + 1;
  }
  const bool is_one_list = documents.count() == 1 && options.length;
  std::vector<IdPair> found = documents.take();
  return is_one_list ? without_targets(packed_ids(found.front().ids, -1, -1, options, name)) : found;
}

/// A list of ids or of documents, or an object with such a list under "ids".
std::vector<IdPair> ids_of_json(std::string_view text, bool is_object, const std::string& name,
                                const PackingOptions& options) {
  constexpr std::size_t longest_document = std::size_t{1} << 22U;
  Ids ids;
  WantedDocuments documents(options);
  bool pairs = false;
  const auto take = [&](const std::string& /*key*/, const nlohmann::json& entry) {
    if (documents.count() == 0 && (!ids.empty() || !entry.is_structured())) {
      ids.push_back(id_of(entry, name, ids.size()));
      return;
    }
    if (documents.count() == 0) pairs = entry.is_object();
    documents.add(pair_of(entry, pairs, name));
  };
  const std::vector<std::string> place = is_object ? std::vector<std::string>{"ids"} : std::vector<std::string>{};
  const nlohmann::json rest = json_of_text(text, name, {.most_values = longest_document, .takers = {{place, take}}});
  if (is_object && (!rest.contains("ids") || !rest["ids"].is_array()))
    throw FormatError(fmt::format("{}: expected a list of token ids under 'ids'", name));
  return documents.count() == 0 ? without_targets(packed_ids(ids, -1, -1, options, name)) : documents.take();
}

}  // namespace

Index usual_length(const PackingOptions& options) {
  return options.positions > 0 ? std::min(usual_tokens, options.positions) : usual_tokens;
}

std::vector<Ids> packed_ids(const Ids& tokens, std::int32_t opens, std::int32_t closes, const PackingOptions& options,
                            const std::string& name) {
  const auto count = static_cast<Index>(tokens.size());
  const Index around = (opens >= 0 ? 1 : 0) + (closes >= 0 ? 1 : 0);
  const Index length = document_length(count, around, options);
  const Index room = length - around;
  if (room < 1)
    throw ShapeError(
        fmt::format("a length of {} leaves no room beside the special tokens; ask for at least {}, or for none of them",
                    length, around + 1));
  const Index whole = count / room;
  const Index wanted = options.documents.value_or(std::clamp<Index>(whole, 1, usual_documents));
  if (whole < wanted && !options.documents)
    throw FormatError(
        fmt::format("{}: {} tokens, not enough for one document of {}; give more text, or ask for shorter documents",
                    name, count, length));
  if (whole < wanted)
    throw FormatError(
        fmt::format("{}: {} tokens, enough for {} documents of {}; {} were asked for: give more text, or ask for "
                    "fewer or shorter documents",
                    name, count, whole, length, wanted));
  std::vector<Ids> documents;
  for (Index i = 0; i < wanted; ++i) {
    Ids ids;
    if (opens >= 0) ids.push_back(opens);
    ids.insert(ids.end(), tokens.begin() + i * room, tokens.begin() + (i + 1) * room);
    if (closes >= 0) ids.push_back(closes);
    documents.push_back(std::move(ids));
  }
  return documents;
}

std::vector<IdPair> without_targets(std::vector<Ids> documents) {
  std::vector<IdPair> pairs;
  for (Ids& ids : documents) pairs.push_back({std::move(ids), {}});
  return pairs;
}

std::vector<IdPair> listed_ids(std::string_view text, const std::string& name, const PackingOptions& options) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos)
    throw FormatError(fmt::format("{}: the file is empty; expected token ids", name));
  const bool is_object = text[first] == '{';
  return is_object || text[first] == '[' ? ids_of_json(text, is_object, name, options)
                                         : ids_by_line(text, name, options);
}

}  // namespace headwave
