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

/// The default number of documents, if the text is long enough.
constexpr Index usual_documents = 100;

/// How a long text or list of ids becomes documents of equal length.
struct PackingOptions {
  /// Number of documents. It is an error if the text is too short for them. Unset: as many as the text gives,
  /// but at most usual_documents.
  std::optional<Index> documents;
  /// T, tokens per document including special tokens. Unset: usual_length(), or the length of a shorter
  /// input.
  std::optional<Index> length;
  bool special_tokens = true;  ///< whether the tokenizer's opening and closing token surround every document
  bool allow_unknown = false;  ///< whether to accept a text with a share of nearly_all_unknown or more unknown tokens
  Index positions = 0;         ///< longest document that the model can read, in tokens; 0: no limit
  Index vocabulary = 0;        ///< number of tokens that the model knows; ids must be below it; 0: no limit
};

/// The token ids of one document, or of a long text.
using Ids = std::vector<std::int32_t>;

/// The default T for a long text: 512, or the number of the model's positions if that is smaller.
Index usual_length(const PackingOptions& options);

/// Makes documents of a text: tokenizes it as a whole, and cuts the tokens into consecutive documents of
/// equal length. Nothing is padded, no token is used twice, and the rest at the end is dropped.
///
/// @param file  a file, "-" for standard input, or a text in memory (input_text.h)
/// @throws IoError if the file cannot be read; FormatError if it is not text, empty, too short for the
///         documents asked for, or has nearly only unknown tokens although this is not allowed; ShapeError if
///         the length leaves no room between the special tokens
std::unique_ptr<Source> text_documents(const TextPlace& file, const std::shared_ptr<const Tokenizer>& tokenizer,
                                       const PackingOptions& options = {});

/// Ids that may end documents; -1: unknown.
struct Endings {
  std::int32_t pad = -1, closes = -1;
};

/// Makes documents of token ids. A JSON list of ids (or an object with one under "ids") is cut like a text,
/// without adding special tokens. In a list of lists, each list is a document. For an encoder-decoder, the
/// list holds objects with ids under "source" and "target". Padding at the end of documents is removed. If
/// the id of padding also closes documents, as in GPT-2, the first id of the padding stays.
///
/// @param tokenizer  gives tokens as strings and tells which tokens are special; may be null
/// @param endings    used if the tokenizer is null or has no padding token
/// @throws as text_documents(); FormatError naming a document that is longer than the model's positions, or
///         holds an id outside its vocabulary
std::unique_ptr<Source> id_documents(const TextPlace& file, const std::shared_ptr<const Tokenizer>& tokenizer,
                                     const PackingOptions& options = {}, const Endings& endings = {});

/// Makes documents of two texts for an encoder-decoder, line by line: the encoder reads a line of the first
/// text, and the same line of the second text is the target. As in training, the decoder reads
///
///     decoder_start, y_1, ..., y_{n-1}   where y_1 .. y_n are the target's ids with the closing token           (1)
///
/// so that at each position it should predict the target's next id. Lines that are blank in both texts are
/// skipped. Nothing is cut or padded.
///
/// @param decoder_start  the id that the decoder reads before the target
/// @param options        `length` is not used, since lines have their own lengths
/// @throws IoError if a file cannot be read; FormatError if the texts differ in their number of lines, a line
///         is blank in only one of them, there are fewer lines than asked for, a line is longer than the
///         model's positions, or nearly all tokens are unknown although this is not allowed
std::unique_ptr<Source> paired_texts(const TextPlace& text, const TextPlace& target,
                                     const std::shared_ptr<const Tokenizer>& tokenizer, std::int32_t decoder_start,
                                     const PackingOptions& options = {});

/// From these shares of unknown tokens on, a text gets a warning (many_unknown) or is refused
/// (nearly_all_unknown).
constexpr double many_unknown = 0.2, nearly_all_unknown = 0.9;

/// The share of unknown tokens among the tokens that stand for text. [CLS], [SEP] and the like do not count.
/// @returns no value if the tokenizer has no unknown token, or no token stands for text
std::optional<double> unknown_share(const Ids& ids, const Tokenizer& tokenizer);

}  // namespace headwave
