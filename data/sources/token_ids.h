#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/numbers/matrix.h"

namespace headwave {

/// The default number of documents, if a text is long enough.
constexpr Index usual_documents = 100;

/// How a long text or list of ids becomes documents of equal length.
struct PackingOptions {
  /// How many: fewer than the text would give is fine, more is an error. Not given: as many as it gives, at
  /// most usual_documents.
  std::optional<Index> documents;
  /// T, tokens per document, special tokens included. Not given: 512, or `positions` where they are fewer,
  /// and a shorter input is one document.
  std::optional<Index> length;
  bool special_tokens = true;  ///< put the tokenizer's opening and closing token around every document
  bool allow_unknown = false;  ///< take a text whose tokens are nearly all unknown, see UnknownTokens
  std::string encoding = {};   ///< of a text; empty: UTF-8, and nothing else is taken (see input_text.h)
  Index positions = 0;         ///< the longest document that the model can read, in tokens; 0: any
  Index vocabulary = 0;        ///< the model's number of tokens, which ids must stay below; 0: any
};

/// The token ids of one document, or of a long text.
using Ids = std::vector<std::int32_t>;

/// The default T for a long text: 512, or the number of the model's positions if that is smaller.
Index usual_length(const PackingOptions& options);

/// Consecutive pieces of a long list of ids, as many and as long as the options say.
/// @param opens, closes  the ids put around each document; -1: none
/// @param name           what messages call the file
/// @throws ShapeError if the length leaves no room between the special tokens; FormatError if the ids are too
///         few for the documents asked for
std::vector<Ids> packed_ids(const Ids& tokens, std::int32_t opens, std::int32_t closes, const PackingOptions& options,
                            const std::string& name);

/// The ids of one document; a target beside them only for an encoder-decoder.
struct IdPair {
  Ids ids, target;
};

/// Documents that have no targets.
std::vector<IdPair> without_targets(std::vector<Ids> documents);

/// Token ids that are ready, as id_documents() describes them: document by document where they are told
/// apart; else one list, cut where it is long or a length was asked for. No more documents are kept than are
/// wanted; the rest is looked at all the same.
/// @param name  what messages call the text
/// @throws FormatError if the text is blank, or holds anything but token ids; as packed_ids()
std::vector<IdPair> listed_ids(std::string_view text, const std::string& name, const PackingOptions& options);

}  // namespace headwave
