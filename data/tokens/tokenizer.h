#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/numbers/matrix.h"

namespace headwave {

constexpr std::size_t largest_tokenizer_file = std::size_t{64} << 20U;  ///< bytes; larger files are not read

/// Ids of the tokens that are not text. -1: the tokenizer has no such token.
struct SpecialTokens {
  std::int32_t opens = -1;   ///< stands before every document: [CLS], <s>
  std::int32_t closes = -1;  ///< stands after every document: [SEP], </s>
  std::int32_t pad = -1;
  std::int32_t unknown = -1;  ///< stands for text that the vocabulary cannot spell
  std::int32_t mask = -1;
};

/// "opening and closing token around every document", "opening token before every line", "none".
/// @param what  that they are put around
std::string special_tokens_text(const SpecialTokens& special, const std::string& what);

/// What turns text into the token ids a model was trained on. Nothing changes after construction: one tokenizer may be
/// used from several threads at once.
class Tokenizer {
 public:
  Tokenizer() = default;
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;
  virtual ~Tokenizer() = default;

  /// Token ids of a text, no special tokens put around it. Special and added tokens that stand in the text by name
  /// ("a[MASK]b") are found as such. Nothing is truncated or padded, whatever the files say. The ids are those of
  /// Hugging Face's `tokenizers` with add_special_tokens off; they can differ in characters that entered Unicode after
  /// version 14.
  /// @param utf8_text  at most 1 GiB; each ill-formed byte sequence is read as one U+FFFD (as Rust's from_utf8_lossy
  /// does)
  /// @throws ShapeError if the text is longer
  [[nodiscard]] virtual std::vector<std::int32_t> encode(std::string_view utf8_text) const = 0;

  /// The text a person should see for a token: " the", "##ing"; bytes that are no character alone as "<0xE3>".
  /// @throws ShapeError if id is not in 0 .. vocabulary() - 1
  [[nodiscard]] virtual std::string token_text(std::int32_t id) const = 0;

  /// The vocabulary's own spelling of a token, "\u0120the" for " the"; empty where an id belongs to no token.
  /// @throws ShapeError if id is not in 0 .. vocabulary() - 1
  [[nodiscard]] virtual std::string piece(std::int32_t id) const = 0;

  /// One more than the largest id: how many rows a table of word vectors needs.
  [[nodiscard]] virtual Index vocabulary() const = 0;

  /// Whether a token is declared special: [CLS], <pad>, also [UNK]; false for ids outside the vocabulary.
  [[nodiscard]] virtual bool is_special(std::int32_t id) const = 0;

  [[nodiscard]] virtual SpecialTokens special_tokens() const = 0;

  /// For people: "WordPiece (tokenizer.json)", "byte-level BPE (encoder.json, vocab.bpe)".
  [[nodiscard]] virtual std::string kind() const = 0;

  /// The files it was read from, for provenance.
  [[nodiscard]] virtual std::vector<std::filesystem::path> files() const = 0;
};

/// What a tokenizer is needed for.
enum class TokenizerUse {
  text,   ///< to turn a text into ids
  names,  ///< to name ids that are ready: how documents are opened and closed is not read
};

/// The tokenizer that lies in a model's folder: `tokenizer.json`; or else `vocab.txt` (WordPiece, as BERT); or else
/// `vocab.json` with `merges.txt`, or `encoder.json` with `vocab.bpe` (byte-level BPE, as GPT-2 and RoBERTa); or
/// `spiece.model`, `tokenizer.model` or `spm.model` (SentencePiece, as T5, Llama 2 and DeBERTa); or `source.spm` with `vocab.json` (Marian). Beside all but the first, `tokenizer_config.json` and `added_tokens.json` are heeded where they exist; a Japanese BERT spells
/// the words between blanks.
///
/// A step that tokenizer.json asks for and that is not known here is an error by name: left out, it would change ids.
///
/// Source: Devlin et al. 2019 (WordPiece); Sennrich, Haddow and Birch 2016, Radford et al. 2019 (BPE over bytes); Kudo 2018,
/// Kudo and Richardson 2018 (SentencePiece).
/// @throws IoError if the folder or a file cannot be read; FormatError if there is none of these files, or one is
/// broken
std::unique_ptr<Tokenizer> open_tokenizer(const std::filesystem::path& model_directory,
                                          TokenizerUse use = TokenizerUse::text);

/// The tokenizer of what an encoder-decoder writes: Marian's of `target.spm`; else open_tokenizer()'s.
/// @throws Error as open_tokenizer()
std::unique_ptr<Tokenizer> open_target_tokenizer(const std::filesystem::path& model_directory);

/// The text a person should see for a word that a model predicts: the token's, or "<30522>" where the model has rows for
/// more words than the tokenizer knows.
/// @param id  >= 0
std::string word_text(const Tokenizer& tokenizer, Index id);

}  // namespace headwave
