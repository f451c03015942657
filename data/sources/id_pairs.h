#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../../core/model/source.h"
#include "../tokens/tokenizer.h"
#include "listed_ids.h"

namespace headwave {

/// Documents whose ids are known, and who knows their text; either tokenizer may be null.
struct IdPairs {
  std::vector<IdPair> documents;
  std::string name;  ///< what names of documents begin with
  std::shared_ptr<const Tokenizer> tokenizer, target_tokenizer;
};

/// Gives a sequence its ids, and what a tokenizer says of them: their text, and which are special.
/// @param tokenizer  null: nothing is said
void set_tokens(TokenSequence& sequence, const Ids& ids, const Tokenizer* tokenizer);

std::unique_ptr<Source> id_pairs(IdPairs pairs, Attributes provenance);

/// What messages and documents call a text.
std::string documents_name(const TextPlace& place);

/// How many of the documents that are there are read.
/// @throws FormatError if more were asked for than there are
Index wanted_documents(Index count, const PackingOptions& options, const std::string& name);

/// Said before the model is run on any of them.
/// @throws FormatError if there is no id, there are more than the model has positions, or one is outside its vocabulary
void require_readable(const IdPair& pair, Index document, const PackingOptions& options, const std::string& name);

/// `documents` and `length`, the longest's.
Attributes packing_provenance(const std::vector<IdPair>& documents);

}  // namespace headwave
