#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../../core/numbers/matrix.h"

namespace headwave {

/// One entry of a vocabulary file.
struct VocabularyEntry {
  std::string piece;
  std::int64_t id = 0;
};

/// One more than the largest id allowed for a number of entries. Files may skip a few ids. A file that skips
/// most ids is broken, and must not make us allocate memory for the missing ids.
Index largest_vocabulary(std::size_t entries);

/// Pieces of text and their ids, in both directions.
class Vocabulary {
 public:
  /// @param entries  in any order; if a piece occurs twice its last entry counts, as in BERT's own reader
  /// @param file     what messages call the file
  /// @throws FormatError if there are no entries, or an id is negative, repeated, or too large for the number
  ///         of entries
  Vocabulary(std::vector<VocabularyEntry> entries, const std::string& file);
  Vocabulary(Vocabulary&&) = default;
  Vocabulary& operator=(Vocabulary&&) = default;
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;
  ~Vocabulary() = default;

  /// The id of a piece; -1 if the vocabulary does not have the piece.
  [[nodiscard]] std::int32_t id(std::string_view piece) const {
    const auto found = ids_.find(piece);
    return found == ids_.end() ? -1 : found->second;
  }
  /// The piece of an id in 0 .. size() - 1; empty if no piece has the id.
  [[nodiscard]] const std::string& piece(std::int32_t id) const { return pieces_[static_cast<std::size_t>(id)]; }
  /// Whether a piece has this id.
  [[nodiscard]] bool has(std::int64_t id) const {
    return id >= 0 && id < size() && given_[static_cast<std::size_t>(id)] != 0;
  }
  /// One more than the largest id.
  [[nodiscard]] Index size() const { return static_cast<Index>(pieces_.size()); }

 private:
  std::vector<std::string> pieces_;
  std::vector<std::uint8_t> given_;
  std::unordered_map<std::string_view, std::int32_t> ids_;  // looks into pieces_, which never changes
};

/// A sorted list of pieces, which finds the pieces that a text begins with.
class PiecePrefixes {
 public:
  struct Piece {
    std::string_view text;  ///< not empty; must outlive the PiecePrefixes
    std::int32_t id = 0;
  };

  /// @param pieces  if two pieces have the same text only the first is found
  explicit PiecePrefixes(std::vector<Piece> pieces);

  /// Calls `seen(length, id)` for every piece that a text begins with, the shortest first.
  /// @param text  not empty
  template <class Seen>
  void of(std::string_view text, Seen seen) const {
    Range range = begins_[static_cast<unsigned char>(text.front())];
    for (std::size_t depth = 1; range.begin < range.end; ++depth) {
      if (const Piece& shortest = pieces_[range.begin]; shortest.text.size() == depth) {
        seen(depth, shortest.id);
        ++range.begin;
      }
      if (depth == text.size() || range.begin == range.end) return;
      range = narrowed(range, depth, static_cast<unsigned char>(text[depth]));
    }
  }

 private:
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  // The pieces of a range that have this byte at `depth`. All are longer than `depth` and equal before it.
  [[nodiscard]] Range narrowed(Range range, std::size_t depth, std::size_t byte) const;

  std::vector<Piece> pieces_;
  std::array<Range, 256> begins_{};
};

/// Spells words in the pieces of a vocabulary.
class TokenModel {
 public:
  explicit TokenModel(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}
  TokenModel(const TokenModel&) = delete;
  TokenModel& operator=(const TokenModel&) = delete;
  virtual ~TokenModel() = default;

  /// Appends the ids of a word to a list. Several threads may call it at once.
  /// @param word  well-formed UTF-8
  virtual void append_ids(std::string_view word, std::vector<std::int32_t>& ids) const = 0;

  [[nodiscard]] const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  Vocabulary vocabulary_;
};

/// WordPiece: takes the longest piece that the word begins with, then the longest that continues it, and so
/// on. Pieces inside a word begin with ##. A word that cannot be spelled to its end, or has more than 100
/// characters, becomes one unknown token.
///
/// Source: Devlin et al. 2019, the released WordpieceTokenizer; Wu et al. 2016.
/// @param unknown  the token of a word that cannot be spelled
/// @param file     what messages call the file
/// @throws FormatError if the unknown token is not in the vocabulary
std::unique_ptr<TokenModel> word_piece(Vocabulary vocabulary, const std::string& unknown, const std::string& file);

/// Makes every word one token: the piece that equals the word, or else the unknown token.
/// @throws FormatError if the unknown token is not in the vocabulary
std::unique_ptr<TokenModel> whole_words(Vocabulary vocabulary, const std::string& unknown, const std::string& file);

/// The id of the unknown token.
/// @throws FormatError if the vocabulary does not have it
std::int32_t unknown_id(const Vocabulary& vocabulary, const std::string& unknown, const std::string& file);

struct BytePairOptions {
  std::string unknown;             ///< token for characters that have no token; empty: skip such characters
  bool fuse_unknown = false;       ///< whether adjacent unknown characters become one token
  bool byte_fallback = false;      ///< whether to spell such a character by tokens of its bytes, "<0xE3>", if all exist
  bool whole_words_first = false;  ///< whether a word that is a token stays whole, without merges
  std::string word_suffix;         ///< suffix of pieces at the end of a word
};

/// The two pieces that a merge joins.
using Merge = std::pair<std::string, std::string>;

/// Byte-pair encoding: splits a word into characters, then repeatedly joins the neighbours with the earliest
/// merge, the leftmost first, until no merge applies. If a merge is listed twice its later place counts. O(n
/// log n) in the length of a word.
///
/// Source: Sennrich, Haddow and Birch 2016, algorithm 1.
/// @param merges  in order of priority
/// @param file    what messages call the file
/// @throws FormatError if a part or the result of a merge, or the unknown token, is not in the vocabulary
std::unique_ptr<TokenModel> byte_pair_encoding(Vocabulary vocabulary, const std::vector<Merge>& merges,
                                               const BytePairOptions& options, const std::string& file);

struct UnigramOptions {
  std::vector<double> scores;  ///< log probability of each id
  std::int32_t unknown = -1;   ///< the token for a character that no piece spells
  bool byte_fallback = false;  ///< whether to spell such a character by tokens of its bytes, "<0xE3>", if all exist
};

/// Unigram: spells a word in the pieces with the largest sum of scores. If spellings have equal sums, the
/// spelling with the longest last piece wins.
///
///     best(end) = max over pieces that end there of best(end - length) + score                            (1)
///
/// An unknown character scores 10 less than the least likely piece. Adjacent unknown characters together
/// become one piece if the vocabulary has this piece, else the tokens of their bytes, else one unknown token,
/// as in Hugging Face's `tokenizers`. O(n m) for a word of n bytes and a longest piece of m bytes.
///
/// Source: Kudo 2018, section 3.1.
/// @param file  what messages call the file
/// @throws FormatError if the unknown token is not in the vocabulary
std::unique_ptr<TokenModel> unigram(Vocabulary vocabulary, UnigramOptions options, const std::string& file);

}  // namespace headwave
