#include "token_model.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../../core/errors/error.h"
#include "../files/printable.h"
#include "../files/unicode_text.h"

namespace headwave {

namespace {

// Spelling can take cubic time in the length of a word.
constexpr std::size_t longest_word_allowed = 256;

class WordPiece final : public TokenModel {
 public:
  WordPiece(Vocabulary entries, const WordPieceOptions& options, const std::string& file)
      : TokenModel(std::move(entries)),
        unknown_(unknown_id(vocabulary(), options.unknown, file)),
        longest_word_(options.longest_word) {
    for (std::int32_t id = 0; id < vocabulary().size(); ++id) {
      const std::string_view piece = vocabulary().piece(id);
      longest_piece_ = std::max(longest_piece_, piece.size());
      // Of a piece that occurs twice the id that the vocabulary finds counts.
      if (piece.starts_with(options.continuing_prefix) && vocabulary().id(piece) == id)
        continuing_.emplace(piece.substr(options.continuing_prefix.size()), id);
    }
  }

  void append_ids(std::string_view word, std::vector<std::int32_t>& ids) const override {
    const std::size_t before = ids.size();
    if (!is_too_long(word) && spell(word, ids)) return;
    ids.resize(before);
    ids.push_back(unknown_);
  }

 private:
  [[nodiscard]] bool is_too_long(std::string_view word) const {
    std::size_t characters = 0;
    for (const char c : word) characters += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
    return characters > longest_word_;
  }

  [[nodiscard]] bool spell(std::string_view word, std::vector<std::int32_t>& ids) const {
    for (std::size_t begin = 0; begin < word.size();) {
      std::size_t length = std::min(word.size() - begin, longest_piece_);
      std::int32_t id = -1;
      for (; length > 0 && id < 0; --length) id = find(word.substr(begin, length), begin == 0);
      if (id < 0) return false;
      ids.push_back(id);
      begin += length + 1;  // the loop stepped once more
    }
    return true;
  }

  [[nodiscard]] std::int32_t find(std::string_view piece, bool begins_word) const {
    if (begins_word) return vocabulary().id(piece);
    const auto found = continuing_.find(piece);
    return found == continuing_.end() ? -1 : found->second;
  }

  std::int32_t unknown_;
  std::size_t longest_word_;
  std::size_t longest_piece_ = 0;                                  // bytes
  std::unordered_map<std::string_view, std::int32_t> continuing_;  // without the prefix; looks into the vocabulary
};

class WholeWords final : public TokenModel {
 public:
  WholeWords(Vocabulary entries, const std::string& unknown, const std::string& file)
      : TokenModel(std::move(entries)), unknown_(unknown_id(vocabulary(), unknown, file)) {}

  void append_ids(std::string_view word, std::vector<std::int32_t>& ids) const override {
    const std::int32_t id = vocabulary().id(word);
    ids.push_back(id >= 0 ? id : unknown_);
  }

 private:
  std::int32_t unknown_;
};

}  // namespace

std::int32_t unknown_id(const Vocabulary& vocabulary, const std::string& unknown, const std::string& file) {
  const std::int32_t id = vocabulary.id(unknown);
  if (id < 0)
    throw FormatError(
        fmt::format("{}: the unknown token '{}' is not in the vocabulary: add it, or name the one that is", file,
                    printable(unknown)));
  return id;
}

std::unique_ptr<TokenModel> word_piece(Vocabulary vocabulary, const WordPieceOptions& options,
                                       const std::string& file) {
  if (options.longest_word < 1 || options.longest_word > longest_word_allowed)
    throw FormatError(fmt::format("{}: words of up to {} characters are to be spelled, expected 1 to {}", file,
                                  options.longest_word, longest_word_allowed));
  return std::make_unique<WordPiece>(std::move(vocabulary), options, file);
}

std::unique_ptr<TokenModel> whole_words(Vocabulary vocabulary, const std::string& unknown, const std::string& file) {
  return std::make_unique<WholeWords>(std::move(vocabulary), unknown, file);
}

}  // namespace headwave
