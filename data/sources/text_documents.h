#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "../../core/model/source.h"
#include "../files/input_text.h"
#include "../tokens/tokenizer.h"

namespace headwave {

/// Documents that are made where no number of them is asked for, and a text gives as many.
constexpr Index usual_documents = 100;

/// How a long text or list of ids becomes documents of equal length.
struct PackingOptions {
  /// How many: fewer than the text would give is fine, more is an error. Not given: as many as it gives, at most
  /// usual_documents.
  std::optional<Index> documents;
  /// T, tokens per document, special tokens included. Not given: 512, or `positions` where they are fewer, and what is
  /// shorter than that is one document of its own length.
  std::optional<Index> length;
  bool special_tokens = true;  ///< put the tokenizer's opening and closing token around every document
  bool allow_unknown = false;  ///< take a text whose tokens are nearly all unknown, see unknown_tokens.h
  std::string encoding = {};   ///< of a text; empty: UTF-8, and nothing else is taken (see input_text.h)
  Index positions = 0;         ///< the longest document that the model can read, in tokens; 0: any
  Index vocabulary = 0;        ///< the model's number of tokens, which ids must stay below; 0: any
};

/// A text as documents: tokenized as one long text, cut into consecutive pieces of the asked length. Nothing is padded
/// and no token is used twice; what is left over at the end is not used.
///
/// @param file  a file, "-" for standard input, or a text in memory; see input_text.h
/// @throws IoError if the file cannot be read; FormatError if it is no text, empty or too short for the documents asked
///         for, with the number that it would give, or as require_known(); ShapeError if the length leaves no room between
///         the special tokens
std::unique_ptr<Source> text_documents(const TextPlace& file, std::shared_ptr<const Tokenizer> tokenizer,
                                       const PackingOptions& options = {});

/// The ids that stand at the end of documents; -1: none is known.
struct Endings {
  std::int32_t pad = -1, closes = -1;
};

/// Token ids that are ready: a JSON list of ids (or an object with one under "ids"), cut like a text but with nothing
/// put around; or a list of lists, each of them a document as it stands. Plain text with one document per line, ids
/// between spaces, is read too (a file of one line is cut if a length is given). For an encoder-decoder a list of objects
/// with ids under "source" and "target". Padding at the end of a document is taken off: documents go through a model one by
/// one, so that it could only disturb. Where the id that pads also closes documents, as of GPT-2, the first one stays.
///
/// @param tokenizer  for the tokens' text in figures and for which of them are special; may be null
/// @param endings    which id is padding, where no tokenizer says it
/// @throws as text_documents, and FormatError naming the document that is longer than the model's positions, or holds
///         an id outside its vocabulary
std::unique_ptr<Source> id_documents(const TextPlace& file, std::shared_ptr<const Tokenizer> tokenizer,
                                     const PackingOptions& options = {}, const Endings& endings = {});

}  // namespace headwave
