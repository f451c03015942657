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

constexpr std::size_t largest_tokenizer_file = std::size_t{64} << 20U;  ///< bytes; larger files are refused

/// Ids of special tokens. -1: the tokenizer has no such token.
struct SpecialTokens {
  std::int32_t opens = -1;   ///< before every document: [CLS], <s>
  std::int32_t closes = -1;  ///< after every document: [SEP], </s>
  std::int32_t pad = -1;
  std::int32_t unknown = -1;  ///< for text that the vocabulary cannot spell
  std::int32_t mask = -1;
};

/// "opening and closing token around every document", "opening token before every line", "none".
/// @param what  what they are put around
std::string special_tokens_text(const SpecialTokens& special, const std::string& what);

/// Turns text into the token ids that a model was trained on. One tokenizer may be used from several threads
/// at once.
class Tokenizer {
 public:
  Tokenizer() = default;
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;
  virtual ~Tokenizer() = default;

  /// The token ids of a text, without special tokens around it. Special and added tokens in the text
  /// ("a[MASK]b") are found by their names. Nothing is truncated or padded, whatever the files say. The ids
  /// are those of Hugging Face's `tokenizers` with add_special_tokens off; they can differ in characters
  /// newer than Unicode 14.
  /// @param utf8_text  at most 1 GiB; each ill-formed byte sequence is read as one U+FFFD, as by Rust's
  ///                   from_utf8_lossy
  /// @throws ShapeError if the text is longer
  [[nodiscard]] virtual std::vector<std::int32_t> encode(std::string_view utf8_text) const = 0;

  /// A token as people should see it: " the", "##ing"; bytes that are not a character as "<0xE3>".
  /// @throws ShapeError if id is not in 0 .. vocabulary() - 1
  [[nodiscard]] virtual std::string token_text(std::int32_t id) const = 0;

  /// The vocabulary's own spelling of a token, "\u0120the" for " the"; empty where no token has the id.
  /// @throws ShapeError if id is not in 0 .. vocabulary() - 1
  [[nodiscard]] virtual std::string piece(std::int32_t id) const = 0;

  /// One more than the largest id: the number of rows that a table of word vectors needs.
  [[nodiscard]] virtual Index vocabulary() const = 0;

  /// Whether a token is declared special: [CLS], <pad>, also [UNK]; false for ids outside the vocabulary.
  [[nodiscard]] virtual bool is_special(std::int32_t id) const = 0;

  [[nodiscard]] virtual SpecialTokens special_tokens() const = 0;

  /// "WordPiece (vocab.txt)", "byte-level BPE (tokenizer.json)"
  [[nodiscard]] virtual std::string kind() const = 0;

  /// The files that it was read from, for provenance.
  [[nodiscard]] virtual std::vector<std::filesystem::path> files() const = 0;
};

/// The purpose for which a tokenizer is opened.
enum class TokenizerUse {
  text,   ///< to turn texts into ids
  names,  ///< to name ids: what opens and closes documents is not read
};

/// Whether a model's folder holds a tokenizer of some kind, which open_tokenizer() may refuse.
bool has_tokenizer(const std::filesystem::path& model_directory);

/// Opens the tokenizer in a model's folder, the first of these that is there: `tokenizer.json`; `vocab.txt` (WordPiece,
/// as BERT), with `tokenizer_config.json` and `added_tokens.json` beside it where they are.
///
/// A step of tokenizer.json that is not known here is refused by name: omitting it would change ids.
///
/// Source: Devlin et al. 2019 (WordPiece); Sennrich, Haddow and Birch 2016, Radford et al. 2019 (BPE over
/// bytes); Kudo 2018 (Unigram).
/// @throws IoError if the folder or a file cannot be read; FormatError if none of these files is there, or
///         one is broken
std::unique_ptr<Tokenizer> open_tokenizer(const std::filesystem::path& model_directory,
                                          TokenizerUse use = TokenizerUse::text);

}  // namespace headwave
