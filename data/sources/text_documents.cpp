#include "text_documents.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "id_pairs.h"
#include "listed_ids.h"
#include "unknown_tokens.h"

namespace headwave {

namespace {

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

/// What was read, and what came of it.
Attributes provenance_of(const InputText& input, const std::vector<IdPair>& documents) {
  Attributes provenance = packing_provenance(documents);
  provenance.insert(input.provenance().begin(), input.provenance().end());
  return provenance;
}

/// Takes off the padding that a batch needed: documents go through the model one by one.
/// @returns how many ids that were
Index remove_padding(std::vector<IdPair>& documents, const Endings& endings) {
  if (endings.pad < 0) return 0;
  Index removed = 0;
  for (IdPair& pair : documents)
    for (Ids* ids : {&pair.ids, &pair.target}) {
      const std::size_t with_padding = ids->size();
      // Where a decoder starts with the padding's id, that one is no padding.
      const std::size_t least = ids == &pair.target ? 1 : 0;
      while (ids->size() > least && ids->back() == endings.pad) ids->pop_back();
      if (endings.pad == endings.closes && ids->size() < with_padding) ids->push_back(endings.closes);
      removed += static_cast<Index>(with_padding - ids->size());
    }
  return removed;
}

}  // namespace

std::unique_ptr<Source> text_documents(const TextPlace& file, std::shared_ptr<const Tokenizer> tokenizer,
                                       const PackingOptions& options) {
  require_options(options);
  const InputText input(file, {.enough = enough_bytes(options), .encoding = options.encoding});
  const SpecialTokens special = options.special_tokens ? tokenizer->special_tokens() : SpecialTokens{};
  std::vector<IdPair> documents = without_targets(
      packed_ids(tokenizer->encode(input.text()), special.opens, special.closes, options, input.name()));
  UnknownTokens unknown(*tokenizer);
  for (const IdPair& document : documents) unknown.count(document.ids);
  unknown.require_known(input.name(), options);
  Attributes provenance = provenance_of(input, documents);
  provenance["source"] = std::string("text");
  if (const auto share = unknown.share()) provenance["unknown_share"] = *share;
  provenance["tokenizer"] = tokenizer->kind();
  provenance["special_tokens"] = special_tokens_text(special, "document");
  return id_pairs({std::move(documents), documents_name(file), tokenizer, std::move(tokenizer)}, std::move(provenance));
}

std::unique_ptr<Source> id_documents(const TextPlace& file, std::shared_ptr<const Tokenizer> tokenizer,
                                     const PackingOptions& options, const Endings& endings) {
  require_options(options);
  const InputText input(file, {.expected = "token ids", .remedy = "write them as JSON, or one document a line"});
  std::vector<IdPair> documents = listed_ids(input.text(), input.name(), options);
  const Index wanted = wanted_documents(static_cast<Index>(documents.size()), options, input.name());
  documents.resize(static_cast<std::size_t>(wanted));
  const SpecialTokens special = tokenizer ? tokenizer->special_tokens() : SpecialTokens{};
  const Index padding = remove_padding(documents, special.pad < 0 ? endings : Endings{special.pad, special.closes});
  for (Index i = 0; i < wanted; ++i) require_readable(documents[static_cast<std::size_t>(i)], i, options, input.name());

  Attributes provenance = provenance_of(input, documents);
  provenance["source"] = std::string("token ids");
  provenance["special_tokens"] = std::string("as in the ids");
  if (padding > 0) provenance["padding_removed"] = static_cast<std::int64_t>(padding);
  return id_pairs({std::move(documents), documents_name(file), tokenizer, std::move(tokenizer)}, std::move(provenance));
}

}  // namespace headwave
