#include "id_pairs.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "../../core/errors/error.h"

namespace headwave {

namespace {

Index length_of(const IdPair& pair) {
  return static_cast<Index>(std::max(pair.ids.size(), pair.target.size()));
}

/// Lists of ids, each a document, and the tokenizer that knows their text.
class IdDocuments : public Source {
 public:
  IdDocuments(IdPairs pairs, Attributes provenance) : pairs_(std::move(pairs)), provenance_(std::move(provenance)) {}

  [[nodiscard]] Index count() const override { return static_cast<Index>(pairs_.documents.size()); }

  [[nodiscard]] Index length(Index i) const override {
    return length_of(pairs_.documents[static_cast<std::size_t>(i)]);
  }

  [[nodiscard]] Document document(Index i) const override {
    Document document;
    document.name = fmt::format("{}, document {}", pairs_.name, i);
    const IdPair& pair = pairs_.documents[static_cast<std::size_t>(i)];
    set_tokens(document, pair.ids, pairs_.tokenizer.get());
    set_tokens(document.target, pair.target, pairs_.target_tokenizer.get());
    return document;
  }

  [[nodiscard]] Attributes provenance() const override { return provenance_; }

 private:
  IdPairs pairs_;
  Attributes provenance_;
};

}  // namespace

void set_tokens(TokenSequence& sequence, const Ids& ids, const Tokenizer* tokenizer) {
  sequence.ids = ids;
  if (tokenizer == nullptr) return;
  for (const std::int32_t id : ids) {
    const bool known = id >= 0 && id < tokenizer->vocabulary();
    sequence.tokens.push_back(known ? tokenizer->token_text(id) : std::to_string(id));
    sequence.special.push_back(tokenizer->is_special(id) ? 1 : 0);
  }
}

std::unique_ptr<Source> id_pairs(IdPairs pairs, Attributes provenance) {
  return std::make_unique<IdDocuments>(std::move(pairs), std::move(provenance));
}

std::string documents_name(const TextPlace& place) {
  return place.text ? input_name(place) : input_name(place.path.filename());
}

Index wanted_documents(Index count, const PackingOptions& options, const std::string& name) {
  const Index wanted = options.documents.value_or(std::clamp<Index>(count, 1, usual_documents));
  if (count < wanted)
    throw FormatError(fmt::format("{}: holds {} documents, {} were asked for", name, count, wanted),
                      give("documents", fmt::format("{} or fewer", count)));
  return wanted;
}

void require_readable(const IdPair& pair, Index document, const PackingOptions& options, const std::string& name) {
  if (pair.ids.empty())
    throw FormatError(fmt::format("{}: document {} has no ids; expected at least one in each", name, document));
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
            fmt::format("{}: document {}, token {} is {}, but the model knows the ids 0 to {}; was it "
                        "tokenized for another model?",
                        name, document, i, (*ids)[i], options.vocabulary - 1));
}

Attributes packing_provenance(const std::vector<IdPair>& documents) {
  Index longest = 0;
  for (const IdPair& pair : documents) longest = std::max(longest, length_of(pair));
  Attributes provenance;
  provenance["documents"] = static_cast<std::int64_t>(documents.size());
  provenance["length"] = static_cast<std::int64_t>(longest);
  return provenance;
}

}  // namespace headwave
