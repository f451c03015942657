#include "text_documents.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../../core/errors/error.h"
#include "../files/input_text.h"
#include "../files/json_file.h"

namespace headwave {

Index usual_length(const PackingOptions& options) {
  constexpr Index usual_tokens = 512;
  return options.positions > 0 ? std::min(usual_tokens, options.positions) : usual_tokens;
}

namespace {

/// The ids of one document; only encoder-decoders have a target.
struct IdPair {
  Ids ids, target;
};

/// T, including special tokens.
/// @param tokens  number of tokens of the text
/// @param around  number of special tokens around each document
Index document_length(Index tokens, Index around, const PackingOptions& options) {
  if (options.length) return *options.length;
  const Index usual = usual_length(options);
  const bool is_one_document = tokens > 0 && tokens + around < usual && options.documents.value_or(1) == 1;
  return is_one_document ? tokens + around : usual;
}

/// Cuts a long list of ids into consecutive documents, as many and as long as the options say.
/// @param opens, closes  the ids put around each document; -1: none
/// @throws ShapeError if the length leaves no room between the special tokens; FormatError if there are too
///         few ids for the documents asked for
std::vector<IdPair> packed_ids(const Ids& tokens, std::int32_t opens, std::int32_t closes,
                               const PackingOptions& options, const std::string& name) {
  const auto count = static_cast<Index>(tokens.size());
  const Index around = (opens >= 0 ? 1 : 0) + (closes >= 0 ? 1 : 0);
  const Index length = document_length(count, around, options);
  const Index room = length - around;
  if (room < 1)
    throw ShapeError(fmt::format(
        "documents of {} tokens have no room beside the special tokens; expected at least {} tokens, or no special "
        "tokens",
        length, around + 1));
  const Index whole = count / room;
  const Index wanted = options.documents.value_or(std::clamp<Index>(whole, 1, usual_documents));
  if (whole < wanted)
    throw FormatError(fmt::format(
        "{}: has {} tokens, enough for {} documents of {}, but {} are requested; give more text, or request "
        "fewer or shorter documents",
        name, count, whole, length, wanted));
  std::vector<IdPair> documents;
  for (Index i = 0; i < wanted; ++i) {
    Ids ids;
    if (opens >= 0) ids.push_back(opens);
    ids.insert(ids.end(), tokens.begin() + i * room, tokens.begin() + (i + 1) * room);
    if (closes >= 0) ids.push_back(closes);
    documents.push_back({std::move(ids), {}});
  }
  return documents;
}

/// @throws FormatError naming the place if an entry is not a token id
Ids ids_of(const nlohmann::json& list, const std::string& name) {
  Ids ids;
  for (const nlohmann::json& value : list) {
    const std::int64_t id = value.is_number_integer() ? value.get<std::int64_t>() : -1;
    if (id < 0 || id > std::numeric_limits<std::int32_t>::max())
      throw FormatError(fmt::format("{}: entry {} is not a token id; expected whole numbers from 0", name, ids.size()));
    ids.push_back(static_cast<std::int32_t>(id));
  }
  return ids;
}

/// A list of ids or, if pairs are expected, an object with a source and a target.
IdPair pair_of(const nlohmann::json& entry, bool pairs, const std::string& name) {
  if (!pairs) {
    if (!entry.is_array())
      throw FormatError(
          fmt::format("{}: expected a list of lists of token ids, but some of its entries are not lists", name));
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

/// Parses a list of documents, or one list of ids (also in an object under "ids"), which is cut if it is long
/// or a length was asked for.
/// @throws FormatError if the text holds anything but token ids, and as packed_ids()
std::vector<IdPair> listed_ids(std::string_view text, const std::string& name, const PackingOptions& options) {
  const nlohmann::json whole = json_of_text(text, name);
  const nlohmann::json& list = whole.is_object() && whole.contains("ids") ? whole["ids"] : whole;
  if (!list.is_array()) throw FormatError(fmt::format("{}: expected a JSON list of token ids, or of such lists", name));
  if (list.empty() || !list.front().is_structured()) return packed_ids(ids_of(list, name), -1, -1, options, name);
  std::vector<IdPair> documents;
  for (const nlohmann::json& entry : list) documents.push_back(pair_of(entry, list.front().is_object(), name));
  return documents;
}

Index length_of(const IdPair& pair) {
  return static_cast<Index>(std::max(pair.ids.size(), pair.target.size()));
}

/// Sets a sequence's ids, their texts, and marks of the special ones.
/// @param tokenizer  null: only the ids
void set_tokens(TokenSequence& sequence, const Ids& ids, const Tokenizer* tokenizer) {
  sequence.ids = ids;
  if (tokenizer == nullptr) return;
  for (const std::int32_t id : ids) {
    const bool known = id >= 0 && id < tokenizer->vocabulary();
    sequence.tokens.push_back(known ? tokenizer->token_text(id) : std::to_string(id));
    sequence.special.push_back(tokenizer->is_special(id) ? 1 : 0);
  }
}

/// Documents whose ids are known.
class IdDocuments : public Source {
 public:
  /// @param name       the documents' names without their numbers
  /// @param tokenizer  for the text of ids; may be null
  IdDocuments(std::vector<IdPair> documents, std::string name, std::shared_ptr<const Tokenizer> tokenizer,
              Attributes provenance)
      : documents_(std::move(documents)),
        name_(std::move(name)),
        tokenizer_(std::move(tokenizer)),
        provenance_(std::move(provenance)) {}

  [[nodiscard]] Index count() const override { return static_cast<Index>(documents_.size()); }
  [[nodiscard]] Index length(Index i) const override { return length_of(documents_[static_cast<std::size_t>(i)]); }
  [[nodiscard]] Document document(Index i) const override {
    const IdPair& pair = documents_[static_cast<std::size_t>(i)];
    Document document;
    document.name = fmt::format("{}, document {}", name_, i);
    set_tokens(document, pair.ids, tokenizer_.get());
    set_tokens(document.target, pair.target, tokenizer_.get());
    return document;
  }
  [[nodiscard]] Attributes provenance() const override { return provenance_; }

 private:
  std::vector<IdPair> documents_;
  std::string name_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  Attributes provenance_;
};

/// Bytes of text that suffice for the documents, at 64 bytes per token.
std::size_t enough_bytes(const PackingOptions& options) {
  constexpr std::size_t least = std::size_t{4} << 20U;
  const auto tokens = static_cast<std::size_t>(options.documents.value_or(usual_documents)) *
                      static_cast<std::size_t>(options.length.value_or(usual_length(options)));
  return std::max(least, 64 * tokens);
}

/// The beginning of the names of documents.
std::string documents_name(const TextPlace& place) {
  return place.text ? input_name(place) : input_name(place.path.filename());
}

/// How many of `count` documents are read.
Index wanted_documents(Index count, const PackingOptions& options, const std::string& name) {
  const Index wanted = options.documents.value_or(std::clamp<Index>(count, 1, usual_documents));
  if (count < wanted)
    throw FormatError(fmt::format("{}: holds {} documents, but {} are requested", name, count, wanted),
                      give("documents", fmt::format("{} or fewer", count)));
  return wanted;
}

/// Refuses a document that the model cannot read, before the model runs on any.
void require_fits_model(const IdPair& pair, Index document, const PackingOptions& options, const std::string& name) {
  if (pair.ids.empty())
    throw FormatError(fmt::format("{}: document {} has no token ids; expected at least one in each", name, document));
  if (options.positions > 0 && length_of(pair) > options.positions)
    throw FormatError(
        fmt::format("{}: document {} has {} tokens, but the model has {} positions; expected shorter documents, or one "
                    "list of ids to be cut",
                    name, document, length_of(pair), options.positions),
        give("length", fmt::format("{} or fewer", options.positions), "to cut one list"));
  for (const Ids* ids : {&pair.ids, &pair.target})
    for (std::size_t i = 0; i < ids->size() && options.vocabulary > 0; ++i)
      if ((*ids)[i] >= options.vocabulary)
        throw FormatError(
            fmt::format("{}: document {}, token {} has the id {}, but the model knows the ids 0 to {}; was it "
                        "tokenized for another model?",
                        name, document, i, (*ids)[i], options.vocabulary - 1));
}

/// The provenance of an input, with `documents` and `length` (of the longest document).
Attributes provenance_of(const InputText& input, const std::vector<IdPair>& documents) {
  Index longest = 0;
  for (const IdPair& pair : documents) longest = std::max(longest, length_of(pair));
  Attributes provenance = input.provenance();
  provenance["documents"] = static_cast<std::int64_t>(documents.size());
  provenance["length"] = static_cast<std::int64_t>(longest);
  return provenance;
}

/// Notes the share of unknown tokens. Refuses a text of nearly only unknown tokens, unless that is allowed.
void note_unknown(Attributes& provenance, const std::string& prefix, const std::vector<IdPair>& documents,
                  Ids IdPair::*part, const Tokenizer& tokenizer, const InputText& text, const PackingOptions& options) {
  Ids all;
  for (const IdPair& document : documents) {
    const Ids& ids = document.*part;
    all.insert(all.end(), ids.begin() + (prefix.empty() ? 0 : 1), ids.end());  // a target begins with decoder_start
  }
  const std::optional<double> share = unknown_share(all, tokenizer);
  if (!share) return;
  if (*share >= nearly_all_unknown && !options.allow_unknown)
    throw FormatError(
        fmt::format(
            "{}: {:.0f} % of its tokens are unknown ({}), since the model's vocabulary cannot spell them; expected "
            "a text in the language and the spelling that the model was trained on",
            text.name(), 100 * *share, tokenizer.piece(tokenizer.special_tokens().unknown)),
        give("allow_unknown", "", "to take this one"));
  provenance[prefix + "unknown_share"] = *share;
}

/// Notes how often a text contains "<unk>", which some tokenised editions have in place of rare words, unless
/// the tokenizer reads it as one token.
void note_unk_strings(Attributes& provenance, std::string_view text, const Tokenizer& tokenizer) {
  constexpr std::string_view unk = "<unk>";
  std::int64_t count = 0;
  for (std::size_t at = text.find(unk); at != text.npos; at = text.find(unk, at + unk.size())) ++count;
  const auto is_unk = [&](std::int32_t id) { return tokenizer.piece(id) == unk; };
  if (count > 0 && std::ranges::none_of(tokenizer.encode(unk), is_unk)) provenance["unk_strings"] = count;
}

/// Removes padding, since documents go through the model one by one.
/// @returns how many ids were removed
Index remove_padding(std::vector<IdPair>& documents, const Endings& endings) {
  if (endings.pad < 0) return 0;
  Index removed = 0;
  for (IdPair& pair : documents)
    for (Ids* ids : {&pair.ids, &pair.target}) {
      const std::size_t with_padding = ids->size();
      // The id that a decoder starts with may equal that of padding, but is not padding.
      const std::size_t least = ids == &pair.target ? 1 : 0;
      while (ids->size() > least && ids->back() == endings.pad) ids->pop_back();
      if (endings.pad == endings.closes && ids->size() < with_padding) ids->push_back(endings.closes);
      removed += static_cast<Index>(with_padding - ids->size());
    }
  return removed;
}

std::vector<std::string_view> lines_in(const InputText& text) {
  std::vector<std::string_view> lines;
  each_line(text.text(), [&](std::string_view line) { lines.push_back(line); });
  return lines;
}

/// The ids of a text between the opening and closing token.
Ids ids_between(std::string_view text, const Tokenizer& tokenizer, const SpecialTokens& special) {
  Ids ids = tokenizer.encode(text);
  if (special.opens >= 0) ids.insert(ids.begin(), special.opens);
  if (special.closes >= 0) ids.push_back(special.closes);
  return ids;
}

/// Equation (1).
Ids read_by_decoder(Ids target, std::int32_t start) {
  target.insert(target.begin(), start);
  if (target.size() > 1) target.pop_back();
  return target;
}

}  // namespace

std::optional<double> unknown_share(const Ids& ids, const Tokenizer& tokenizer) {
  const std::int32_t unknown = tokenizer.special_tokens().unknown;
  const auto counts = [&](std::int32_t id) { return id == unknown || !tokenizer.is_special(id); };
  const auto tokens = std::ranges::count_if(ids, counts);
  if (tokens == 0 || unknown < 0) return {};
  return static_cast<double>(std::ranges::count(ids, unknown)) / static_cast<double>(tokens);
}

std::unique_ptr<Source> text_documents(const TextPlace& file, const std::shared_ptr<const Tokenizer>& tokenizer,
                                       const PackingOptions& options) {
  const InputText input(file, {.enough = enough_bytes(options)});
  const SpecialTokens special = options.special_tokens ? tokenizer->special_tokens() : SpecialTokens{};
  std::vector<IdPair> documents =
      packed_ids(tokenizer->encode(input.text()), special.opens, special.closes, options, input.name());
  Attributes provenance = provenance_of(input, documents);
  note_unknown(provenance, "", documents, &IdPair::ids, *tokenizer, input, options);
  note_unk_strings(provenance, input.text(), *tokenizer);
  provenance["source"] = std::string("text");
  provenance["tokenizer"] = tokenizer->kind();
  provenance["special_tokens"] = special_tokens_text(special, "document");
  return std::make_unique<IdDocuments>(std::move(documents), documents_name(file), tokenizer, std::move(provenance));
}

std::unique_ptr<Source> id_documents(const TextPlace& file, const std::shared_ptr<const Tokenizer>& tokenizer,
                                     const PackingOptions& options, const Endings& endings) {
  const InputText input(file, {.expected = "token ids as JSON"});
  std::vector<IdPair> documents = listed_ids(input.text(), input.name(), options);
  const Index wanted = wanted_documents(static_cast<Index>(documents.size()), options, input.name());
  documents.resize(static_cast<std::size_t>(wanted));
  const SpecialTokens special = tokenizer ? tokenizer->special_tokens() : SpecialTokens{};
  const Index padding = remove_padding(documents, special.pad < 0 ? endings : Endings{special.pad, special.closes});
  for (Index i = 0; i < wanted; ++i)
    require_fits_model(documents[static_cast<std::size_t>(i)], i, options, input.name());

  Attributes provenance = provenance_of(input, documents);
  provenance["source"] = std::string("token ids");
  provenance["special_tokens"] = std::string("as in the ids");
  if (padding > 0) provenance["padding_removed"] = static_cast<std::int64_t>(padding);
  return std::make_unique<IdDocuments>(std::move(documents), documents_name(file), tokenizer, std::move(provenance));
}

std::unique_ptr<Source> paired_texts(const TextPlace& text, const TextPlace& target,
                                     const std::shared_ptr<const Tokenizer>& tokenizer, std::int32_t decoder_start,
                                     const PackingOptions& options) {
  const InputText read(text), written(target);
  const std::vector<std::string_view> sources = lines_in(read), targets = lines_in(written);
  if (sources.size() != targets.size())
    throw FormatError(fmt::format("{}: has {} lines, but {} has {}; expected equal numbers of lines", written.name(),
                                  targets.size(), read.name(), sources.size()));
  std::vector<std::size_t> lines;
  for (std::size_t line = 0; line < sources.size(); ++line) {
    const auto is_blank = [](std::string_view line_text) {
      return line_text.find_first_not_of(" \t") == line_text.npos;
    };
    const bool no_source = is_blank(sources[line]), no_target = is_blank(targets[line]);
    if (no_source != no_target)
      throw FormatError(
          fmt::format("{}: line {} is blank, but not the line beside it in {}; remove both lines, or neither",
                      no_source ? read.name() : written.name(), line + 1, no_source ? written.name() : read.name()));
    if (!no_source) lines.push_back(line);
  }
  lines.resize(static_cast<std::size_t>(wanted_documents(static_cast<Index>(lines.size()), options, read.name())));

  std::vector<IdPair> documents;
  const SpecialTokens special = options.special_tokens ? tokenizer->special_tokens() : SpecialTokens{};
  for (const std::size_t line : lines) {
    Ids target_ids = ids_between(targets[line], *tokenizer, special);
    if (target_ids.empty())
      throw FormatError(fmt::format("{}: line {} has no tokens; expected at least one", written.name(), line + 1));
    documents.push_back(
        {ids_between(sources[line], *tokenizer, special), read_by_decoder(std::move(target_ids), decoder_start)});
    require_fits_model(documents.back(), std::ssize(documents) - 1, options, read.name());
  }
  Attributes provenance = provenance_of(read, documents);
  note_unknown(provenance, "", documents, &IdPair::ids, *tokenizer, read, options);
  note_unk_strings(provenance, read.text(), *tokenizer);
  note_unknown(provenance, "target_", documents, &IdPair::target, *tokenizer, written, options);
  for (const auto& [name, value] : written.provenance())
    if (name.starts_with("source_")) provenance["target_" + name.substr(7)] = value;
  provenance["source"] = std::string("two texts, line by line");
  provenance["tokenizer"] = tokenizer->kind();
  provenance["decoder_start"] = static_cast<std::int64_t>(decoder_start);
  provenance["special_tokens"] = special_tokens_text(special, "line");
  return std::make_unique<IdDocuments>(std::move(documents), documents_name(text), tokenizer, std::move(provenance));
}

}  // namespace headwave
