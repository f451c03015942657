#include "text_documents.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "../../core/numbers/error.h"
#include "listed_ids.h"

namespace headwave {

namespace {

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

/// What names of documents begin with.
std::string documents_name(const TextPlace& place) {
  return place.text ? input_name(place) : input_name(place.path.filename());
}

void require_options(const PackingOptions& options) {
  if (options.documents.value_or(1) < 1 || options.length.value_or(1) < 1)
    throw ShapeError(fmt::format("{} documents of {} tokens were asked for; expected at least 1 of each",
                                 options.documents.value_or(1), options.length.value_or(1)));
}

/// How many bytes the documents can need: no vocabulary spells more than 64 a token on average.
std::size_t enough_bytes(const PackingOptions& options) {
  constexpr std::size_t least = std::size_t{4} << 20U;
  const auto tokens = static_cast<std::size_t>(options.documents.value_or(usual_documents)) *
                      static_cast<std::size_t>(options.length.value_or(usual_length(options)));
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

std::unique_ptr<Source> text_documents(const TextPlace& file, std::shared_ptr<const Tokenizer> tokenizer,
                                       const PackingOptions& options) {
  require_options(options);
  const InputText input(file, {.enough = enough_bytes(options), .encoding = options.encoding});
  const SpecialTokens special = options.special_tokens ? tokenizer->special_tokens() : SpecialTokens{};
  std::vector<IdPair> documents = without_targets(
      packed_ids(tokenizer->encode(input.text()), special.opens, special.closes, options, input.name()));
  Attributes provenance = packing_provenance(input, documents);
  provenance["source"] = std::string("text");
  provenance["tokenizer"] = tokenizer->kind();
  provenance["special_tokens"] =
      std::string(options.special_tokens ? "opening and closing token around every document" : "none");
  return std::make_unique<IdDocuments>(std::move(documents), documents_name(file), std::move(tokenizer),
                                       std::move(provenance));
}

std::unique_ptr<Source> id_documents(const TextPlace& file, std::shared_ptr<const Tokenizer> tokenizer,
                                     const PackingOptions& options) {
  require_options(options);
  const InputText input(file, {.expected = "token ids", .remedy = "write them as JSON, or one document a line"});
  std::vector<IdPair> documents = listed_ids(input.text(), input.name(), options);
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
  return std::make_unique<IdDocuments>(std::move(documents), documents_name(file), std::move(tokenizer),
                                       std::move(provenance));
}

}  // namespace headwave
