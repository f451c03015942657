#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/attention/document.h"
#include "../../core/model/source.h"
#include "../../core/numbers/matrix.h"
#include "../files/input_text.h"
#include "../tokens/tokenizer.h"

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
  Index positions = 0;         ///< the longest document that the model can read, in tokens; 0: any
  Index vocabulary = 0;        ///< the model's number of tokens, which ids must stay below; 0: any
};

/// The token ids of one document, or of a long text.
using Ids = std::vector<std::int32_t>;

/// The default T for a long text: 512, or the number of the model's positions if that is smaller.
Index usual_length(const PackingOptions& options);

/// Makes documents of a text: it is tokenized as one long text, and cut into consecutive pieces of the length
/// asked for. Nothing is padded, no token is used twice, and the rest at the end is not used.
///
/// @param file  a file, "-" for standard input, or a text in memory; see input_text.h
/// @throws IoError if the file cannot be read; FormatError if it is no text, empty, too short for the
///         documents asked for, or nearly all of its tokens are unknown and that is not allowed; ShapeError
///         if the length leaves no room between the special tokens
std::unique_ptr<Source> text_documents(const TextPlace& file, const std::shared_ptr<const Tokenizer>& tokenizer,
                                       const PackingOptions& options = {});

/// Ids that may end documents; -1: unknown.
struct Endings {
  std::int32_t pad = -1, closes = -1;
};

/// Makes documents of token ids: a JSON list of ids (or an object with one under "ids"), cut like a text but with no
/// special tokens put around; or a list of lists, each of them a document. For an encoder-decoder a list of objects
/// with ids under "source" and "target". Padding at the end of a document is removed. Where the id that pads also
/// closes documents, as of GPT-2, the first one stays.
///
/// @param tokenizer  for the tokens' text in figures and for which of them are special; may be null
/// @param endings    which id is padding, where no tokenizer says it
/// @throws Error as text_documents(); FormatError naming the document that is longer than the model's
///         positions, or holds an id outside its vocabulary
std::unique_ptr<Source> id_documents(const TextPlace& file, const std::shared_ptr<const Tokenizer>& tokenizer,
                                     const PackingOptions& options = {}, const Endings& endings = {});

/// Makes documents of two texts for an encoder-decoder, line by line: the encoder reads a line of the one,
/// and the line beside it is the target. As in training the decoder reads
///
///     decoder_start, y_1, ..., y_{n-1}   where y_1 .. y_n are the target's ids, the closing token among them           (1)
///
/// so that at each of its positions it should predict the next id of the target. Lines that are blank in both
/// texts are skipped. Nothing is cut or padded.
///
/// @param decoder_start  the id that the decoder reads before the target
/// @param options        the length is not used: lines have their own
/// @throws IoError if a file cannot be read; FormatError if the texts differ in their number of lines, a line
///         is blank in one alone, there are fewer than are asked for, or one is longer than the model's
///         positions
std::unique_ptr<Source> paired_texts(const TextPlace& text, const TextPlace& target,
                                     const std::shared_ptr<const Tokenizer>& tokenizer, std::int32_t decoder_start,
                                     const PackingOptions& options = {});

/// Shares of unknown tokens: from the first on a text gets a warning, from the second on it is refused.
constexpr double many_unknown = 0.2, nearly_all_unknown = 0.9;

/// The share of unknown tokens among those that stand for text: [CLS], [SEP] and the like do not count.
/// @returns nothing where the tokenizer can spell every text, or there is no such token
std::optional<double> unknown_share(const Ids& ids, const Tokenizer& tokenizer);

}  // namespace headwave
