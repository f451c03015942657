#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vocabulary.h"

namespace headwave {

/// Spells words in the pieces of a vocabulary.
class TokenModel {
 public:
  explicit TokenModel(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}
  TokenModel(const TokenModel&) = delete;
  TokenModel& operator=(const TokenModel&) = delete;
  virtual ~TokenModel() = default;

  /// Appends the ids of a word to a list. May be called from several threads at once.
  /// @param word  well-formed UTF-8
  virtual void append_ids(std::string_view word, std::vector<std::int32_t>& ids) const = 0;

  [[nodiscard]] const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  Vocabulary vocabulary_;
};

struct WordPieceOptions {
  std::string unknown = "[UNK]";         ///< the token of a word that cannot be spelled
  std::string continuing_prefix = "##";  ///< how pieces inside a word begin
  std::size_t longest_word = 100;        ///< in characters; a longer word is unknown. 1 to 256
};

/// Spells words as BERT: the longest piece that the word begins with, then the longest that continues it, and
/// so on. A word of which a rest has no piece is one unknown token.
///
/// Source: Devlin et al. 2019, the released WordpieceTokenizer; Wu et al. 2016.
/// @param file  what messages call the file
/// @throws FormatError if the unknown token is not in the vocabulary, or the longest word out of range
std::unique_ptr<TokenModel> word_piece(Vocabulary vocabulary, const WordPieceOptions& options, const std::string& file);

/// Makes every word one token: its own, or the unknown one.
/// @throws FormatError if the unknown token is not in the vocabulary
std::unique_ptr<TokenModel> whole_words(Vocabulary vocabulary, const std::string& unknown, const std::string& file);

/// The id of the unknown token.
/// @throws FormatError if the vocabulary has none by that name
std::int32_t unknown_id(const Vocabulary& vocabulary, const std::string& unknown, const std::string& file);

}  // namespace headwave
