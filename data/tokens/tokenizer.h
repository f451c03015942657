#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "../../core/numbers/matrix.h"
#include "normalizer.h"
#include "token_model.h"
#include "word_splitter.h"

namespace headwave {

constexpr std::size_t largest_tokenizer_file = std::size_t{64} << 20U;  ///< bytes; larger files are refused

/// Ids of special tokens. -1: the tokenizer does not have the token.
struct SpecialTokens {
  std::int32_t opens = -1;   ///< token before every document: [CLS], <s>
  std::int32_t closes = -1;  ///< token after every document: [SEP], </s>
  std::int32_t pad = -1;
  std::int32_t unknown = -1;  ///< token for text that the vocabulary cannot spell
  std::int32_t mask = -1;
};

/// Says how documents are surrounded, such as "opening and closing token around every document" or "none".
/// @param what  what the tokens surround: "document"
std::string special_tokens_text(const SpecialTokens& special, const std::string& what);

/// A token that is found in a text by its name, before the text is split into words: [MASK], <s>.
struct AddedToken {
  std::string content;  ///< the token's name, at most 1024 bytes
  std::int64_t id = 0;
  bool special = false;      ///< whether the token does not stand for text
  bool single_word = false;  ///< whether it is found only between characters that are not word characters
  bool lstrip = false;       ///< whether it includes the white space before it
  bool rstrip = false;       ///< whether it includes the white space after it
  bool normalized = false;   ///< search the normalised text for the normalised name; false: neither is normalised
};

/// A part of a text: an added token, or the text between added tokens.
struct TextSegment {
  std::string_view text;
  std::int32_t id = -1;  ///< -1: not an added token
};

/// Finds added tokens in a text: the leftmost first, and of tokens that begin at the same place the longest.
class AddedTokenFinder {
 public:
  /// @param tokens      if two tokens have the same normalised name the first counts
  /// @param normalizer  applied to the names; may be empty
  /// @param file        what messages call the file
  /// @throws FormatError if a normalised name is empty or longer than 1024 bytes
  AddedTokenFinder(std::vector<AddedToken> tokens, const Normalizer& normalizer, const std::string& file);

  AddedTokenFinder(const AddedTokenFinder&) = delete;
  AddedTokenFinder& operator=(const AddedTokenFinder&) = delete;
  ~AddedTokenFinder() = default;

  /// The parts of a text in order, without empty parts.
  [[nodiscard]] std::vector<TextSegment> segments(std::string_view text) const;

 private:
  std::vector<std::string> names_;  // normalised
  std::vector<AddedToken> tokens_;
  PiecePrefixes prefixes_;  // looks into the names
};

/// The parts of a tokenizer, in the order in which a text passes through them.
struct TokenPipeline {
  std::vector<AddedToken> added;      ///< found by name, before or after normalisation
  Normalizer normalizer;              ///< changes the text before it is split; empty: no change
  WordSplitter splitter;              ///< splits the text into words; empty: the whole text is one word
  std::unique_ptr<TokenModel> model;  ///< spells the words
  std::function<std::string(std::string_view)> readable;  ///< makes a piece readable; empty: leave it as it is
  SpecialTokens special;
  std::string kind;
  std::vector<std::filesystem::path> files;
};

/// Turns text into the token ids that a model was trained on. Several threads may use one tokenizer at once.
class Tokenizer {
 public:
  /// @param parts  must contain a model
  /// @param file   what messages call the file
  /// @throws FormatError if an added token has the id or name of another token, or an id that differs from
  ///         the vocabulary's
  Tokenizer(TokenPipeline parts, const std::string& file);
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;
  ~Tokenizer() = default;

  /// The token ids of a text, without special tokens around it. Special and added tokens in the text
  /// ("a[MASK]b") are found by their names. Nothing is truncated or padded, whatever the files say. The ids
  /// equal those of Hugging Face's `tokenizers` with add_special_tokens off, except perhaps for characters
  /// newer than Unicode 14.
  /// @param utf8_text  each ill-formed sequence is read as U+FFFD (valid_utf8())
  /// @throws ShapeError if the text is longer than 1 GiB
  [[nodiscard]] std::vector<std::int32_t> encode(std::string_view utf8_text) const;

  /// A token as people should see it: " the", "##ing"; bytes that do not form a character as "<0xE3>".
  /// @throws ShapeError if id is not in 0 .. vocabulary() - 1
  [[nodiscard]] std::string token_text(std::int32_t id) const;

  /// The vocabulary's own spelling of a token, "\u0120the" for " the"; empty if no token has the id.
  /// @throws ShapeError if id is not in 0 .. vocabulary() - 1
  [[nodiscard]] std::string piece(std::int32_t id) const;

  /// One more than the largest id: the number of rows that a table of word vectors needs.
  [[nodiscard]] Index vocabulary() const { return size_; }

  /// Whether a token is declared special: [CLS], <pad>, also [UNK]; false for ids outside the vocabulary.
  [[nodiscard]] bool is_special(std::int32_t id) const {
    return id >= 0 && id < size_ && special_[static_cast<std::size_t>(id)] != 0;
  }

  [[nodiscard]] SpecialTokens special_tokens() const { return parts_.special; }

  /// Type and file: "WordPiece (vocab.txt)", "byte-level BPE (tokenizer.json)".
  [[nodiscard]] std::string kind() const { return parts_.kind; }

  /// The files from which the tokenizer was read, for provenance.
  [[nodiscard]] std::vector<std::filesystem::path> files() const { return parts_.files; }

 private:
  TokenPipeline parts_;
  AddedTokenFinder before_, after_;  // of names to find before and after normalisation
  Index size_;
  std::vector<std::uint8_t> special_;
  std::unordered_map<std::int32_t, std::string> added_;
};

/// What a tokenizer is opened for.
enum class TokenizerUse {
  text,   ///< turning texts into ids
  names,  ///< naming ids; the opening and closing tokens are not read
};

/// Whether a model's folder holds any tokenizer, even one that open_tokenizer() refuses.
bool has_tokenizer(const std::filesystem::path& model_directory);

/// Opens the tokenizer in a model's folder: `tokenizer.json` or else `vocab.txt` (WordPiece as in BERT), with
/// `tokenizer_config.json` and `added_tokens.json` beside it if they exist. An unknown step of tokenizer.json
/// is refused by name, since omitting the step would change ids.
///
/// Source: Devlin et al. 2019 (WordPiece); Sennrich, Haddow and Birch 2016, Radford et al. 2019 (BPE over
/// bytes); Kudo 2018 (Unigram).
/// @throws IoError if the folder or a file cannot be read; FormatError if neither tokenizer.json nor
///         vocab.txt exists, or a file is broken
std::unique_ptr<Tokenizer> open_tokenizer(const std::filesystem::path& model_directory,
                                          TokenizerUse use = TokenizerUse::text);

}  // namespace headwave
