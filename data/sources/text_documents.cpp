#include "text_documents.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../files/input_text.h"
#include "../files/json_file.h"

namespace headwave {

namespace {

using Ids = std::vector<std::int32_t>;

/// The ids of one document; a target beside them only for an encoder-decoder.
struct IdPair {
  Ids ids, target;
};

std::vector<IdPair> without_targets(std::vector<Ids> documents) {
  std::vector<IdPair> pairs;
  for (Ids& ids : documents) pairs.push_back({std::move(ids), {}});
  return pairs;
}

/// Lists of ids, each a document, and the tokenizer that knows their text.
class IdDocuments : public Source {
 public:
  IdDocuments(std::vector<IdPair> documents, std::string name, std::shared_ptr<const Tokenizer> tokenizer,
              Attributes provenance)
      : documents_(std::move(documents)),
        name_(std::move(name)),
        tokenizer_(std::move(tokenizer)),
        provenance_(std::move(provenance)) {}

  [[nodiscard]] Index count() const override { return static_cast<Index>(documents_.size()); }

  [[nodiscard]] Index length(Index i) const override {
    const IdPair& pair = documents_[static_cast<std::size_t>(i)];
    return static_cast<Index>(std::max(pair.ids.size(), pair.target.size()));
  }

  [[nodiscard]] Document document(Index i) const override {
    Document document;
    document.name = fmt::format("{}, document {}", name_, i);
    set_tokens(document, documents_[static_cast<std::size_t>(i)].ids);
    set_tokens(document.target, documents_[static_cast<std::size_t>(i)].target);
    return document;
  }

  [[nodiscard]] Attributes provenance() const override { return provenance_; }

 private:
  void set_tokens(TokenSequence& sequence, const Ids& ids) const {
    sequence.ids = ids;
    if (!tokenizer_) return;
    for (const std::int32_t id : ids) {
      const bool known = id >= 0 && id < tokenizer_->vocabulary();
      sequence.tokens.push_back(known ? tokenizer_->token_text(id) : std::to_string(id));
      sequence.special.push_back(tokenizer_->is_special(id) ? 1 : 0);
    }
  }

  std::vector<IdPair> documents_;
  std::string name_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  Attributes provenance_;
};

constexpr Index usual_length = 512;

void require_options(const PackingOptions& options) {
  if (options.documents.value_or(1) < 1 || options.length.value_or(1) < 1)
    throw ShapeError(fmt::format("{} documents of {} tokens were asked for; expected at least 1 of each",
                                 options.documents.value_or(1), options.length.value_or(1)));
}

/// T where none is asked for and there is enough.
Index longest_usual(const PackingOptions& options) {
  return options.positions > 0 ? std::min(usual_length, options.positions) : usual_length;
}

/// T, special tokens included.
/// @param tokens  how many there are
/// @param around  how many special tokens each document gets
Index document_length(Index tokens, Index around, const PackingOptions& options) {
  if (options.length) return *options.length;
  const Index usual = longest_usual(options);
  const bool is_one_document = tokens > 0 && tokens + around < usual && options.documents.value_or(1) == 1;
  return is_one_document ? tokens + around : usual;
}

/// Consecutive pieces of `tokens`, the opening and closing id around each where they are not -1.
std::vector<Ids> packed(const Ids& tokens, std::int32_t opens, std::int32_t closes, const PackingOptions& options,
                        const std::string& name) {
  const auto count = static_cast<Index>(tokens.size());
  const Index around = (opens >= 0 ? 1 : 0) + (closes >= 0 ? 1 : 0);
  const Index length = document_length(count, around, options);
  const Index room = length - around;
  if (room < 1)
    throw ShapeError(fmt::format(
        "a length of {} leaves no room between the special tokens; ask for at least 3, or for none of them", length));
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

/// How many bytes the documents can need: no vocabulary spells more than 64 a token on average.
std::size_t enough_bytes(const PackingOptions& options) {
  constexpr std::size_t least = std::size_t{4} << 20U;
  const auto tokens = static_cast<std::size_t>(options.documents.value_or(usual_documents)) *
                      static_cast<std::size_t>(options.length.value_or(longest_usual(options)));
  return std::max(least, 64 * tokens);
}

Index length_of(const IdPair& pair) {
  return static_cast<Index>(std::max(pair.ids.size(), pair.target.size()));
}

/// Of what is there as documents; `length` is the longest's.
Attributes packing_provenance(const InputText& input, const std::vector<IdPair>& documents) {
  Index longest = 0;
  for (const IdPair& pair : documents) longest = std::max(longest, length_of(pair));
  Attributes provenance = input.provenance();
  provenance["documents"] = static_cast<std::int64_t>(documents.size());
  provenance["length"] = static_cast<std::int64_t>(longest);
  return provenance;
}

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

/// Takes off the padding that a batch needed: documents go through the model one by one.
/// @returns how many ids that were
Index remove_padding(std::vector<IdPair>& documents, std::int32_t pad) {
  Index removed = 0;
  for (IdPair& pair : documents)
    for (Ids* ids : {&pair.ids, &pair.target})
      // Where a decoder starts with the padding's id, that one is no padding.
      for (; pad >= 0 && ids->size() > (ids == &pair.target ? 1U : 0U) && ids->back() == pad; ++removed)
        ids->pop_back();
  return removed;
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

/// Documents by document, where they are told apart; else one list, cut where it is long or a length was asked for.
std::vector<IdPair> listed_documents(std::string_view text, const std::string& name, const PackingOptions& options) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos)
    throw FormatError(fmt::format("{}: the file is empty; expected token ids", name));
  if (text[first] != '[' && text[first] != '{') {
    std::vector<Ids> lines = ids_by_line(text, name);
    if (lines.size() == 1 && options.length) lines = packed(lines.front(), -1, -1, options, name);
    return without_targets(std::move(lines));
  }
  nlohmann::json json = json_of_text(text, name);
  if (json.is_object()) {
    if (!json.contains("ids") || !json["ids"].is_array())
      throw FormatError(fmt::format("{}: expected a list of token ids under 'ids'", name));
    json = nlohmann::json(json["ids"]);
  }
  if (json.empty() || !json.front().is_structured())
    return without_targets(packed(ids_of(json, name), -1, -1, options, name));
  std::vector<IdPair> documents;
  for (const auto& entry : json) documents.push_back(pair_of(entry, json.front().is_object(), name));
  return documents;
}

/// Said before the model is run on any of them.
void require_readable(const IdPair& pair, Index document, const PackingOptions& options, const std::string& name) {
  if (pair.ids.empty())
    throw FormatError(fmt::format("{}: document {} has no ids; expected at least one in each", name, document));
  if (options.positions > 0 && length_of(pair) > options.positions)
    throw FormatError(
        fmt::format("{}: document {} has {} tokens, but the model has {} positions; give shorter "
                    "documents, or one list of ids to be cut by --length",
                    name, document, length_of(pair), options.positions));
  for (const Ids* ids : {&pair.ids, &pair.target})
    for (std::size_t i = 0; i < ids->size() && options.vocabulary > 0; ++i)
      if ((*ids)[i] >= options.vocabulary)
        throw FormatError(
            fmt::format("{}: document {}, token {} is {}, but the model knows the ids 0 to {}; was it "
                        "tokenized for another model?",
                        name, document, i, (*ids)[i], options.vocabulary - 1));
}

}  // namespace

std::unique_ptr<Source> text_documents(const std::filesystem::path& file, std::shared_ptr<const Tokenizer> tokenizer,
                                       const PackingOptions& options) {
  require_options(options);
  const InputText input(file, {.enough = enough_bytes(options), .encoding = options.encoding});
  const SpecialTokens special = options.special_tokens ? tokenizer->special_tokens() : SpecialTokens{};
  std::vector<IdPair> documents =
      without_targets(packed(tokenizer->encode(input.text()), special.opens, special.closes, options, input.name()));
  Attributes provenance = packing_provenance(input, documents);
  provenance["source"] = std::string("text");
  provenance["tokenizer"] = tokenizer->kind();
  provenance["special_tokens"] =
      std::string(options.special_tokens ? "opening and closing token around every document" : "none");
  return std::make_unique<IdDocuments>(std::move(documents), input_name(file.filename()), std::move(tokenizer),
                                       std::move(provenance));
}

std::unique_ptr<Source> id_documents(const std::filesystem::path& file, std::shared_ptr<const Tokenizer> tokenizer,
                                     const PackingOptions& options) {
  require_options(options);
  const InputText input(file, {.expected = "token ids", .remedy = "write them as JSON, or one document a line"});
  std::vector<IdPair> documents = listed_documents(input.text(), input.name(), options);
  const auto count = static_cast<Index>(documents.size());
  const Index wanted = options.documents.value_or(std::clamp<Index>(count, 1, usual_documents));
  if (count < wanted)
    throw FormatError(fmt::format("{}: holds {} documents, {} were asked for; say --documents {} or fewer",
                                  input.name(), count, wanted, count));
  documents.resize(static_cast<std::size_t>(wanted));
  const Index padding = remove_padding(documents, tokenizer ? tokenizer->special_tokens().pad : -1);
  for (Index i = 0; i < wanted; ++i) require_readable(documents[static_cast<std::size_t>(i)], i, options, input.name());

  Attributes provenance = packing_provenance(input, documents);
  provenance["source"] = std::string("token ids");
  provenance["special_tokens"] = std::string("as in the ids");
  if (padding > 0) provenance["padding_removed"] = static_cast<std::int64_t>(padding);
  return std::make_unique<IdDocuments>(std::move(documents), input_name(file.filename()), std::move(tokenizer),
                                       std::move(provenance));
}

}  // namespace headwave
